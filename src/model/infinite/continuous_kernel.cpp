// The midpoint rule's exponentials in continuous time.
#include "model/infinite/continuous_kernel.hpp"

#include <cmath>
#include <numbers>

namespace bathline {

std::vector<Decay> compressed_bessel_kernel(const KernelDemand& demand) {
  using Complex = std::complex<double>;
  constexpr Complex i(0.0, 1.0);
  std::vector<Decay> decays;
  for (const auto& [x, weight] : cut_nodes(1.0 / std::numbers::sqrt2, 1, demand)) {
    const Complex above = i * std::exp(-x) + 1.0;  // z + 1
    const double cut = std::sqrt(-std::expm1(-2.0 * x));
    const Complex total =
        8.0 * std::numbers::sqrt2 / std::numbers::pi * cut * weight * std::exp(-x) / std::pow(above, 3);
    if (std::abs(total) > 0.0) decays.push_back({2.0, 2.0 * (1.0 + i) * std::expm1(-x) / above, total});
  }
  return decays;
}

}  // namespace bathline
