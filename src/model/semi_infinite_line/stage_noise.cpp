// The bilinear map s = 2 (z - 1)/(z + 1) maps the kernel in continuous time to one over steps, whose spectral factor is
// computed, and the filter back: 1/(s - s_j) = (z_j + 1)/4 + (z_j + 1)^2/4 /(z - z_j).
// Tested by tests/model/semi_infinite_line/stage_noise_test.cpp.
#include "model/semi_infinite_line/stage_noise.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "model/semi_infinite_line/keyed_cache.hpp"
#include "model/semi_infinite_line/spectral_factor.hpp"

namespace bathline {

namespace {

using Complex = std::complex<double>;
constexpr Complex i(0.0, 1.0);

/// Accurate close to 0. For x close to -1, exponentials that decay within a step, the result is bounded.
Complex log1p(Complex x) {
  constexpr double fastest = 1e-300;
  if (std::norm(x) > 0.25) return std::log(std::max(std::abs(1.0 + x), fastest)) + i * std::arg(1.0 + x);
  return 0.5 * std::log1p(2.0 * x.real() + std::norm(x)) + i * std::arg(1.0 + x);
}

/// z_j = (2 + s_j)/(2 - s_j) of s_j = 2 i + offset, which is i for offset 0.
ExponentialTerm to_discrete(const ExponentialTerm& term) {
  const Complex relative_offset = term.offset / (2.0 + 2.0 * i);
  return {0.5 * std::numbers::pi, log1p(relative_offset) - log1p(-i * relative_offset), 0.0};
}

}  // namespace

ContinuousFilter make_continuous_filter(const BesselKernel& kernel) {
  DiscreteKernel covariances{{kernel.damper}, {}};
  for (const ExponentialTerm& term : kernel.exponential_terms) {
    ExponentialTerm discrete = to_discrete(term);
    const Complex z_plus_1 = std::exp(discrete.exponent()) + 1.0;
    covariances.first[0] += 0.25 * (term.weight * z_plus_1).real();
    discrete.weight = 0.25 * term.weight * z_plus_1 * z_plus_1;
    covariances.exponential_terms.push_back(discrete);
  }
  covariances.first[0] *= 2.0;
  const SpectralFactor factor = spectral_factor(covariances, 0.5 * std::numbers::pi);
  ContinuousFilter filter{factor.filter.first[0],
                          kernel.exponential_terms,
                          factor.error,
                          StationaryNoiseState(factor.filter.exponential_terms),
                          {}};
  for (std::size_t j = 0; j < filter.exponential_terms.size(); ++j) {
    const ExponentialTerm& discrete = factor.filter.exponential_terms[j];
    const Complex z_plus_1 = std::exp(discrete.exponent()) + 1.0;
    filter.feedthrough -= (discrete.weight / z_plus_1).real();
    filter.exponential_terms[j].weight = 4.0 * discrete.weight / (z_plus_1 * z_plus_1);
    // The midpoint rule with steps of 1 and the line in continuous time have the same stationary covariances.
    filter.start_scale.push_back(0.5 * z_plus_1);
  }
  return filter;
}

std::shared_ptr<const ContinuousParts> continuous_parts(double tolerance, double horizon, double run, bool is_warm) {
  static KeyedCache<std::array<double, 4>, ContinuousParts> cache;
  return cache.get_or_make({tolerance, horizon, run, is_warm ? 1.0 : 0.0}, [&] {
    ContinuousParts parts{make_bessel_kernel(tolerance, horizon, run), nullptr};
    if (is_warm) parts.noise = std::make_shared<const ContinuousFilter>(make_continuous_filter(parts.kernel));
    return parts;
  });
}

bool keeps_quadratic_invariants(const PartitionedRungeKutta& scheme) {
  constexpr double round_off = 1e-13;
  const Eigen::MatrixXd weighted = scheme.b.asDiagonal() * scheme.a;
  return scheme.a.isApprox(scheme.a_hat, round_off) &&
         (weighted + weighted.transpose()).isApprox(scheme.b * scheme.b.transpose(), round_off);
}

StageNoise::StageNoise(std::shared_ptr<const ContinuousFilter> filter, const PartitionedRungeKutta& scheme,
                       double courant, double strength)
    : filter_(std::move(filter)),
      modes_(make_runge_kutta_modes(filter_->exponential_terms, scheme, courant, courant, std::sqrt(strength))) {
  modes_.feedthrough += std::sqrt(strength) * filter_->feedthrough *
                        Eigen::MatrixXd::Identity(modes_.feedthrough.rows(), modes_.feedthrough.cols());
  for (const double weight : scheme.b) scale_.push_back(1.0 / std::sqrt(courant * weight));
}

void StageNoise::start(std::span<const double> numbers, ConvolutionState& state) const {
  for (std::size_t j = 0; j < filter_->exponential_terms.size(); ++j) {
    const Complex value = filter_->start_scale[j] * filter_->start.value(j, numbers);
    state.real[j] = value.real();
    state.imaginary[j] = value.imag();
  }
  for (std::size_t output = 0; output < state.next_outputs.size(); ++output) {
    state.next_outputs[output] = modes_.modes->read(state.real.data(), state.imaginary.data(), output);
  }
}

void StageNoise::forces(const ConvolutionState& state, std::span<const double> numbers,
                        std::span<double> forces) const {
  for (std::size_t stage = 0; stage < forces.size(); ++stage) {
    forces[stage] = state.next_outputs[stage];
    for (std::size_t other = 0; other < forces.size(); ++other) {
      forces[stage] += modes_.feedthrough(static_cast<Eigen::Index>(stage), static_cast<Eigen::Index>(other)) *
                       scale_[other] * numbers[other];
    }
  }
}

void StageNoise::commit(ConvolutionState& state, std::span<const double> numbers) const {
  std::vector<double> inputs(scale_);
  for (std::size_t stage = 0; stage < inputs.size(); ++stage) inputs[stage] *= numbers[stage];
  modes_.modes->advance(state.real.data(), state.imaginary.data(), inputs, state.next_outputs);
}

}  // namespace bathline
