// Tested by tests/model/memory/coloured_noise_test.cpp and coloured_noise_memory_test.cpp.
#include "model/memory/coloured_noise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "model/kernels/adaptive_quadrature.hpp"
#include "model/semi_infinite_line/stage_noise.hpp"
#include "model/lumped/stepper.hpp"

namespace bathline {

namespace {

using std::numbers::pi;

/// Round-off of the resistance of modes and a damper at w, kg/s.
double roundoff_at(const std::vector<PronyTerm>& modes, double damping, double w) {
  constexpr double safety_factor = 16.0;
  double parts = damping;
  for (const auto& [k, r, frequency, b] : modes) {
    const PronyTerm halves[] = {{k, r, frequency, 0.0}, {0.0, r, frequency, b}};
    for (const PronyTerm& half : halves) parts += std::abs(resistance_at(std::span(&half, 1), w));
  }
  return safety_factor * std::numeric_limits<double>::epsilon() * parts;
}

/// The covariances gamma(n h).
DiscreteKernel sampled_kernel(const std::vector<PronyTerm>& modes, double h) {
  DiscreteKernel kernel{{kernel_at(modes, 0.0)}, {}};
  for (const PronyTerm& mode : modes) {
    const double turn = std::remainder(mode.w * h, 2.0 * pi);
    const std::complex<double> weight(mode.k, turn < 0.0 ? mode.b : -mode.b);
    ExponentialTerm term{std::abs(turn), -mode.r * h, 0.0};
    term.weight = weight * std::exp(term.exponent());
    kernel.exponential_terms.push_back(term);
  }
  return kernel;
}

}  // namespace

bool supports_coloured_noise(const Scheme& scheme) {
  if (const auto* stages = std::get_if<PartitionedRungeKutta>(&scheme)) return keeps_quadratic_invariants(*stages);
  const auto* steps = std::get_if<ExplicitScheme>(&scheme);
  return steps != nullptr && steps->b.empty() && is_symmetric(*steps);
}

std::shared_ptr<const NoiseFilter> make_memory_filter(const std::vector<PronyTerm>& modes, double damping) {
  double fastest = 0.0, largest = 0.0;
  const auto resistance = [&](double w) { return damping + resistance_at(modes, w); };
  for (const PronyTerm& mode : modes) {
    fastest = std::max(fastest, std::hypot(mode.r, mode.w));
    for (const double w : {0.0, mode.w, mode.w - mode.r, mode.w + mode.r}) largest = std::max(largest, resistance(w));
  }
  // In units of the fastest mode.
  std::vector<ExponentialTerm> terms;
  for (const PronyTerm& mode : modes) terms.push_back({mode.w / fastest, -mode.r / fastest, {mode.k, -mode.b}});
  const auto spectrum = [&](double angle, double distance) {
    const double w =
        2.0 * fastest * (angle == pi ? 1.0 / std::tan(-0.5 * distance) : std::tan(0.5 * (angle + distance)));
    // Negative values below this fraction of the largest value are errors without effect.
    constexpr double negligible = 1e-13;
    const double value = resistance(w);
    if (value < -negligible * largest) {
      throw UnsuitableFunction(fmt::format(
          "the sum of the modes is not passive and has no noise: the real part of its transform is {:.4g} kg/s at w = "
          "{:.4g}",
          value, w));
    }
    return SpectralValue{2.0 * fastest * value, 2.0 * fastest * roundoff_at(modes, damping, w)};
  };
  NoiseFilter filter = make_continuous_filter(terms, damping * fastest, spectrum);
  filter.time_unit = 1.0 / fastest;
  return std::make_shared<const NoiseFilter>(std::move(filter));
}

std::shared_ptr<const LineNoise> make_memory_noise(const std::vector<PronyTerm>& modes,
                                                   std::shared_ptr<const NoiseFilter> filter, const Scheme& scheme,
                                                   double h, double temperature) {
  if (const auto* stages = std::get_if<PartitionedRungeKutta>(&scheme))
    return std::make_shared<const StageNoise>(std::move(filter), *stages, h, temperature);
  return std::make_shared<const DiscreteNoise>(
      std::make_shared<const NoiseFilter>(make_noise_filter(sampled_kernel(modes, h))), temperature);
}

}  // namespace bathline
