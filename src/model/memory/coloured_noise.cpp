// Tested by tests/model/memory/coloured_noise_memory_test.cpp.
#include "model/memory/coloured_noise.hpp"

#include <algorithm>
#include <cmath>

#include "model/semi_infinite_line/stage_noise.hpp"
#include "model/lumped/stepper.hpp"
#include "model/memory/minimum_phase_factor.hpp"

namespace bathline {

namespace {

using Complex = std::complex<double>;

/// The midpoint rule with a step of 1 multiplies exp(s t) by z = (2 + s)/(2 - s); log z is accurate for slow and fast
/// decays.
ExponentialTerm midpoint_term(Complex s) {
  constexpr double fastest = -690.0;
  const double real = 0.5 * std::log1p(std::max(-1.0, 8.0 * s.real() / std::norm(2.0 - s)));
  return {0.0, {std::max(fastest, real), std::arg((2.0 + s) / (2.0 - s))}, 0.0};
}

ContinuousFilter continuous_filter(const std::vector<PronyTerm>& modes, double damping) {
  MinimumPhaseFactor factor = minimum_phase_factor(modes, damping);
  double fastest = 0.0;
  for (const PronyTerm& mode : factor.modes) fastest = std::max(fastest, std::hypot(mode.r, mode.w));
  ContinuousFilter filter{.feedthrough = std::sqrt(2.0 * damping),
                          .exponential_terms = {},
                          .error = factor.error,
                          .start = {},
                          .start_scale = {}};
  std::vector<ExponentialTerm> discrete_terms;
  for (std::size_t j = 0; j < factor.modes.size(); ++j) {
    const Complex s(-factor.modes[j].r, factor.modes[j].w);
    filter.exponential_terms.push_back({0.0, s, factor.rho[j]});
    discrete_terms.push_back(midpoint_term(s / fastest));
    // The midpoint rule with steps of 1/fastest has the stationary covariances of continuous time.
    filter.start_scale.push_back(2.0 / (2.0 - s / fastest) / std::sqrt(fastest));
  }
  filter.start = StationaryNoiseState(discrete_terms);
  return filter;
}

NoiseFilter sampled_filter(const std::vector<PronyTerm>& modes, double h) {
  std::vector<PronyTerm> mapped;
  for (const PronyTerm& mode : modes) {
    const Complex sigma = 2.0 * std::tanh(0.5 * h * Complex(-mode.r, mode.w));
    const bool is_mirrored = sigma.imag() < 0.0;
    mapped.push_back({mode.k, -sigma.real(), std::abs(sigma.imag()), is_mirrored ? -mode.b : mode.b});
  }
  const MinimumPhaseFactor factor = minimum_phase_factor(mapped);
  DiscreteKernel kernel{{0.0}, {}};
  for (std::size_t j = 0; j < factor.modes.size(); ++j) {
    const Complex sigma(-factor.modes[j].r, factor.modes[j].w);
    ExponentialTerm decay = midpoint_term(sigma);
    const Complex z = (2.0 + sigma) / (2.0 - sigma), first = factor.rho[j] * 2.0 / (2.0 - sigma);
    kernel.first.front() += first.real();
    decay.weight = first * z;
    kernel.exponential_terms.push_back(decay);
  }
  StationaryNoiseState start(kernel.exponential_terms);
  return {std::move(kernel), factor.error, std::move(start)};
}

}  // namespace

bool supports_coloured_noise(const Scheme& scheme) {
  if (const auto* stages = std::get_if<PartitionedRungeKutta>(&scheme)) return keeps_quadratic_invariants(*stages);
  const auto* steps = std::get_if<ExplicitScheme>(&scheme);
  return steps != nullptr && steps->b.empty() && is_symmetric(*steps);
}

std::shared_ptr<const LineNoise> make_memory_noise(const std::vector<PronyTerm>& modes, const Scheme& scheme, double h,
                                                   double temperature, double damping) {
  if (const auto* stages = std::get_if<PartitionedRungeKutta>(&scheme)) {
    return std::make_shared<const StageNoise>(
        std::make_shared<const ContinuousFilter>(continuous_filter(modes, damping)), *stages, h, temperature);
  }
  return std::make_shared<const DiscreteNoise>(std::make_shared<const NoiseFilter>(sampled_filter(modes, h)),
                                               temperature);
}

}  // namespace bathline
