// Spectral densities of heat baths.
#include "model/discrete_spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace bathline {

namespace {

using std::numbers::pi;

/// Evenly spaced frequencies at the midpoints of their intervals, with the stiffnesses 2 D dw/pi `shape`.
template <class Shape>
DiscreteSpectrum even_spectrum(std::int64_t size, double damping, double highest, Shape shape) {
  const double spacing = highest / static_cast<double>(size);
  const double stiffness = 2.0 * damping * spacing / pi;
  return {.size = size,
          .oscillator =
              [=](std::int64_t j) {
                const double frequency = (static_cast<double>(j) + 0.5) * spacing;
                return BathOscillator{frequency, stiffness * shape(frequency)};
              },
          .damping = damping,
          .recurrence = 2.0 * pi / spacing,
          .kernel_limit = {}};
}

}  // namespace

DiscreteSpectrum ohmic_spectrum(std::int64_t size, double damping, double highest) {
  DiscreteSpectrum spectrum = even_spectrum(size, damping, highest, [](double) { return 1.0; });
  spectrum.kernel_limit = [=](double t) {
    return 2.0 * damping / pi * (t == 0.0 ? highest : std::sin(highest * t) / t);
  };
  return spectrum;
}

DiscreteSpectrum drude_spectrum(std::int64_t size, double damping, double highest, double cutoff) {
  DiscreteSpectrum spectrum =
      even_spectrum(size, damping, highest, [=](double w) { return cutoff * cutoff / (cutoff * cutoff + w * w); });
  spectrum.kernel_limit = [=](double t) { return damping * cutoff * std::exp(-cutoff * t); };
  return spectrum;
}

DiscreteSpectrum power_spectrum(std::int64_t size, double damping, double highest, double exponent, double reference) {
  return even_spectrum(size, damping, highest, [=](double w) { return std::pow(w / reference, exponent - 1.0); });
}

DiscreteSpectrum table_spectrum(std::vector<BathOscillator> oscillators) {
  double stiffness = 0.0;
  double gap = oscillators.front().frequency;
  for (std::size_t j = 0; j < oscillators.size(); ++j) {
    stiffness += oscillators[j].stiffness;
    if (j > 0) gap = std::max(gap, oscillators[j].frequency - oscillators[j - 1].frequency);
  }
  const double highest = oscillators.back().frequency;
  return {.size = static_cast<std::int64_t>(oscillators.size()),
          .oscillator = [all = std::move(oscillators)](std::int64_t j) { return all[static_cast<std::size_t>(j)]; },
          .damping = 0.5 * pi * stiffness / highest,
          .recurrence = 2.0 * pi / gap,
          .kernel_limit = {}};
}

}  // namespace bathline
