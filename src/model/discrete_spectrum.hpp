// The oscillators of a heat bath: frequencies and stiffnesses.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace bathline {

struct BathOscillator {
  double frequency = 0.0;  ///< rad/s
  double stiffness = 0.0;  ///< of its spring to the head, N/m
};

/// Oscillators in order of rising frequency, by formula, so that 10^8 of them need no table.
struct DiscreteSpectrum {
  std::int64_t size = 0;
  std::function<BathOscillator(std::int64_t)> oscillator;
  double damping = 0.0;     ///< the damping constant D that it represents, kg/s
  double recurrence = 0.0;  ///< recurrence time of the discrete spectrum, s
  /// The memory kernel in the limit of infinitely many oscillators, N/m; empty where no formula is known.
  std::function<double(double)> kernel_limit;
};

/// Evenly spaced frequencies (j - 1/2) dw up to `highest`, and stiffnesses 2 D dw/pi times a shape:
/// farshi2018, eq. (36), with the powers of omega of the consistent Hamiltonian.
/// The strictly Ohmic shape is 1, so gamma(t) -> 2 D delta(t).
DiscreteSpectrum ohmic_spectrum(std::int64_t size, double damping, double highest);
/// The shape wc^2 / (wc^2 + w^2), so gamma(t) -> D wc exp(-wc t).
DiscreteSpectrum drude_spectrum(std::int64_t size, double damping, double highest, double cutoff);
/// The shape (w / reference)^(exponent - 1): sub-Ohmic for exponents below 1, super-Ohmic above.
DiscreteSpectrum power_spectrum(std::int64_t size, double damping, double highest, double exponent, double reference);
/// The given oscillators, which must be in order of rising frequency. It represents D = pi/2 (sum of stiffnesses) /
/// (highest frequency), the mean over its frequencies of the D that an Ohmic bath would have.
DiscreteSpectrum table_spectrum(std::vector<BathOscillator> oscillators);

}  // namespace bathline
