// The midpoint rule's exponentials in continuous time.
#include "model/semi_infinite_line/continuous_kernel.hpp"

#include <cmath>
#include <numbers>

namespace bathline {

std::vector<ExponentialTerm> compressed_bessel_kernel(const KernelAccuracy& accuracy) {
  using Complex = std::complex<double>;
  constexpr Complex i(0.0, 1.0);
  std::vector<ExponentialTerm> exponential_terms;
  for (const auto& [x, weight] : branch_cut_quadrature(1.0 / std::numbers::sqrt2, 1, accuracy)) {
    const Complex above = i * std::exp(-x) + 1.0;  // z + 1
    const double cut = std::sqrt(-std::expm1(-2.0 * x));
    const Complex total =
        8.0 * std::numbers::sqrt2 / std::numbers::pi * cut * weight * std::exp(-x) / std::pow(above, 3);
    if (std::abs(total) > 0.0) exponential_terms.push_back({2.0, 2.0 * (1.0 + i) * std::expm1(-x) / above, total});
  }
  return exponential_terms;
}

}  // namespace bathline
