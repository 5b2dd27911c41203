// Where the filter of a line's noise starts.
//
// In the long run y_j = sum_n z_j^n e_{-n}, whose covariances 1/(1 - z_j z_k) no Cholesky factorisation survives. The
// functions that Kautz made orthonormal, two real ones for each pair of poles, are a triangular factor in closed form.
// Source: Kautz, Trans. IRE CT-1 (1954) 29.
// Tested by tests/model/infinite/line_noise_test.cpp.
#include "model/infinite/line_noise.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "model/infinite/latest.hpp"
#include "model/infinite/spectral_factor.hpp"

namespace bathline {

namespace {

using Complex = std::complex<double>;
constexpr Complex i(0.0, 1.0);

/// The two functions of a pair of poles, but for the all-passes of the pairs before it.
struct Pair {
  explicit Pair(const Decay& decay) {
    const Complex beta = std::exp(decay.exponent());
    const double gap = -std::expm1(2.0 * decay.offset.real()), square = 1.0 + std::norm(beta);
    across = 2.0 * beta.real() / square;
    second = std::sqrt(-std::expm1(4.0 * decay.offset.real()));
    first = second * std::hypot(gap, 2.0 * beta.imag()) / square;
  }
  double across, first, second;
};

std::vector<Complex> start_of(const std::vector<Decay>& decays, const std::vector<Pair>& pairs, std::size_t j) {
  const Decay& mine = decays[j];
  const Complex z = std::exp(mine.exponent());
  std::vector<Complex> row;
  Complex passed = 1.0;
  for (std::size_t k = 0; k <= j; ++k) {
    const Decay& other = decays[k];
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

NoiseFilter make_noise_filter(const SteppedLine& line, const LineKernel& kernel) {
  SpectralFactor factor = spectral_factor(force_covariances(line, kernel.on_stage), line.angle);
  const std::vector<Decay>& decays = factor.filter.decays;
  const std::vector<Pair> pairs(decays.begin(), decays.end());
  NoiseFilter filter{factor.filter, factor.error, {}};
  for (std::size_t j = 0; j < decays.size(); ++j) filter.start.push_back(start_of(decays, pairs, j));
  return filter;
}

// A memory pushes back, and noise does not.
LineNoise::LineNoise(std::shared_ptr<const NoiseFilter> filter, double strength)
    : filter_(std::move(filter)),
      memory_({.on_stage = filter_->kernel, .between_steps = {}, .certificate = {}}, -std::sqrt(strength)) {}

void LineNoise::start(std::span<const double> numbers, MemoryState& state) const {
  const std::size_t recent = shape().recent;
  std::copy_n(numbers.begin(), recent, state.recent.begin());
  for (std::size_t j = 0; j < filter_->start.size(); ++j) {
    Complex sum = 0.0;
    for (std::size_t k = 0; k < filter_->start[j].size(); ++k) sum += filter_->start[j][k] * numbers[recent + k];
    state.real[j] = sum.real();
    state.imaginary[j] = sum.imag();
  }
  memory_.recall(state);
}

std::shared_ptr<const LineParts> line_parts(const SteppedLine& line, double tolerance, double horizon, double run,
                                            bool is_warm) {
  static Latest<std::array<double, 6>, LineParts> made;
  return made.of({line.courant, line.gamma, tolerance, horizon, run, is_warm ? 1.0 : 0.0}, [&] {
    LineParts parts{make_line_kernel(line, tolerance, horizon, run), nullptr};
    if (is_warm) parts.noise = std::make_shared<const NoiseFilter>(make_noise_filter(line, parts.kernel));
    return parts;
  });
}

}  // namespace bathline
