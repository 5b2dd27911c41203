// In the long run y_j = sum_n z_j^n e_{-n}, whose covariances 1/(1 - z_j z_k) no Cholesky factorisation survives. The
// functions that Kautz made orthonormal, two real ones for each pair of poles, are a triangular factor in closed form.
// Source: Kautz, Trans. IRE CT-1 (1954) 29.
// Tested by tests/model/semi_infinite_line/line_noise_test.cpp.
#include "model/semi_infinite_line/stationary_noise_state.hpp"

#include <cmath>

namespace bathline {

namespace {

using Complex = std::complex<double>;
constexpr Complex i(0.0, 1.0);

/// The two functions of a pair of poles, but for the all-passes of the pairs before it.
struct Pair {
  explicit Pair(const ExponentialTerm& decay) {
    const Complex beta = std::exp(decay.exponent());
    const double gap = -std::expm1(2.0 * decay.offset.real()), square = 1.0 + std::norm(beta);
    across = 2.0 * beta.real() / square;
    second = std::sqrt(-std::expm1(4.0 * decay.offset.real()));
    first = second * std::hypot(gap, 2.0 * beta.imag()) / square;
  }
  double across, first, second;
};

std::vector<Complex> start_of(const std::vector<ExponentialTerm>& exponential_terms, const std::vector<Pair>& pairs,
                              std::size_t j) {
  const ExponentialTerm& mine = exponential_terms[j];
  const Complex z = std::exp(mine.exponent());
  std::vector<Complex> row;
  Complex passed = 1.0;
  for (std::size_t k = 0; k <= j; ++k) {
    const ExponentialTerm& other = exponential_terms[k];
    const Complex pole = std::exp(other.exponent()), mirrored = std::conj(other.offset);
    const double apart = mine.angle - other.angle, together = mine.angle + other.angle;
    const Complex denominator =
        expm1(mine.offset + other.offset + i * together) * expm1(mine.offset + mirrored + i * apart);
    row.push_back(passed * pairs[k].first * z / denominator);
    row.push_back(passed * pairs[k].second * (1.0 - pairs[k].across * z) / denominator);
    passed *= std::norm(pole) * expm1(mine.offset - other.offset + i * apart) *
              expm1(mine.offset - mirrored + i * together) / denominator;
  }
  return row;
}

}  // namespace

StationaryNoiseState::StationaryNoiseState(const std::vector<ExponentialTerm>& exponential_terms) {
  const std::vector<Pair> pairs(exponential_terms.begin(), exponential_terms.end());
  for (std::size_t j = 0; j < exponential_terms.size(); ++j) rows_.push_back(start_of(exponential_terms, pairs, j));
}

Complex StationaryNoiseState::value(std::size_t j, std::span<const double> numbers) const {
  Complex sum = 0.0;
  for (std::size_t k = 0; k < rows_[j].size(); ++k) sum += rows_[j][k] * numbers[k];
  return sum;
}

}  // namespace bathline
