// Noise of semi-infinite lines under kernels over steps.
// Tested by tests/model/semi_infinite_line/line_noise_test.cpp.
#include "model/semi_infinite_line/line_noise.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "model/semi_infinite_line/keyed_cache.hpp"
#include "model/semi_infinite_line/spectral_factor.hpp"

namespace bathline {

NoiseFilter make_noise_filter(const DiscreteLine& line, const LineKernel& kernel) {
  SpectralFactor factor = spectral_factor(force_covariances(line, kernel.on_stage), line.angle);
  return {factor.filter, factor.error, StationaryNoiseState(factor.filter.exponential_terms)};
}

// The strength is negated, as a convolution returns minus the kernel's sum.
DiscreteNoise::DiscreteNoise(std::shared_ptr<const NoiseFilter> filter, double strength)
    : filter_(std::move(filter)),
      convolution_({.on_stage = filter_->kernel, .between_steps = {}, .certificate = {}}, -std::sqrt(strength)) {}

void DiscreteNoise::start(std::span<const double> numbers, ConvolutionState& state) const {
  const std::span<double> last_inputs = convolution_.last_inputs(state);
  std::copy_n(numbers.begin(), last_inputs.size(), last_inputs.begin());
  for (std::size_t j = 0; j < filter_->kernel.exponential_terms.size(); ++j) {
    const std::complex<double> value = filter_->start.value(j, numbers.subspan(last_inputs.size()));
    state.real[j] = value.real();
    state.imaginary[j] = value.imag();
  }
  convolution_.rebuild_pending(state);
}

std::shared_ptr<const LineParts> line_parts(const DiscreteLine& line, double tolerance, double horizon, double run,
                                            bool is_warm) {
  static KeyedCache<std::array<double, 6>, LineParts> cache;
  return cache.get_or_make({line.courant, line.gamma, tolerance, horizon, run, is_warm ? 1.0 : 0.0}, [&] {
    LineParts parts{make_line_kernel(line, tolerance, horizon, run), nullptr};
    if (is_warm) parts.noise = std::make_shared<const NoiseFilter>(make_noise_filter(line, parts.kernel));
    return parts;
  });
}

}  // namespace bathline
