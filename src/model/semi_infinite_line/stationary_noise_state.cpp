// The stationary state is y_j = sum_n z_j^n e_{-n}, whose covariances 1/(1 - z_j z_k) are too ill-conditioned for a
// Cholesky factorisation. The orthonormal Kautz functions, two real ones for each pair of poles, give a triangular
// factor in closed form.
// Source: Kautz, Trans. IRE CT-1 (1954) 29.
// Tested by tests/model/semi_infinite_line/line_noise_test.cpp.
#include "model/semi_infinite_line/stationary_noise_state.hpp"

#include <cmath>

namespace bathline {

namespace {

using Complex = std::complex<double>;
constexpr Complex i(0.0, 1.0);

/// The two functions of a pair of poles, without the all-pass factors of the pairs before it.
struct Pair {
  explicit Pair(const ExponentialTerm& term) {
    const Complex beta = std::exp(term.exponent());
    const double gap = -std::expm1(2.0 * term.offset.real()), square = 1.0 + std::norm(beta);
    across = 2.0 * beta.real() / square;
    second = std::sqrt(-std::expm1(4.0 * term.offset.real()));
    first = second * std::hypot(gap, 2.0 * beta.imag()) / square;
  }
  double across, first, second;
};

std::vector<Complex> factor_row(const std::vector<ExponentialTerm>& exponential_terms, const std::vector<Pair>& pairs,
                                std::size_t j) {
  const ExponentialTerm& term = exponential_terms[j];
  const Complex z = std::exp(term.exponent());
  std::vector<Complex> row;
  Complex all_pass = 1.0;
  for (std::size_t k = 0; k <= j; ++k) {
    const ExponentialTerm& other = exponential_terms[k];
    const Complex pole = std::exp(other.exponent()), mirrored = std::conj(other.offset);
    const double difference = term.angle - other.angle, sum = term.angle + other.angle;
    const Complex denominator =
        expm1(term.offset + other.offset + i * sum) * expm1(term.offset + mirrored + i * difference);
    row.push_back(all_pass * pairs[k].first * z / denominator);
    row.push_back(all_pass * pairs[k].second * (1.0 - pairs[k].across * z) / denominator);
    all_pass *= std::norm(pole) * expm1(term.offset - other.offset + i * difference) *
                expm1(term.offset - mirrored + i * sum) / denominator;
  }
  return row;
}

}  // namespace

StationaryNoiseState::StationaryNoiseState(const std::vector<ExponentialTerm>& exponential_terms) {
  const std::vector<Pair> pairs(exponential_terms.begin(), exponential_terms.end());
  for (std::size_t j = 0; j < exponential_terms.size(); ++j) rows_.push_back(factor_row(exponential_terms, pairs, j));
}

Complex StationaryNoiseState::value(std::size_t j, std::span<const double> numbers) const {
  Complex sum = 0.0;
  for (std::size_t k = 0; k < rows_[j].size(); ++k) sum += rows_[j][k] * numbers[k];
  return sum;
}

}  // namespace bathline
