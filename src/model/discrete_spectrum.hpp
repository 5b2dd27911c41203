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

/// Oscillators in rising frequency, by formula, so that 10^8 of them need no table.
struct DiscreteSpectrum {
  std::int64_t size = 0;
  std::function<BathOscillator(std::int64_t)> oscillator;
  double damping = 0.0;     ///< the D that it stands for, kg/s
  double recurrence = 0.0;  ///< when its discreteness shows, s
  /// The memory kernel in the limit of infinitely many oscillators, N/m; empty where no formula is known.
  std::function<double(double)> kernel_limit;
};

/// Evenly spaced frequencies (j - 1/2) dw up to `highest`, and stiffnesses 2 D dw/pi times a shape:
/// farshi2018, eq. (36), with the powers of omega of the consistent Hamiltonian.
/// strictly Ohmic: 1, so gamma(t) -> 2 D delta(t).
DiscreteSpectrum ohmic_spectrum(std::int64_t size, double damping, double highest);
/// wc^2 / (wc^2 + w^2), so gamma(t) -> D wc exp(-wc t).
DiscreteSpectrum drude_spectrum(std::int64_t size, double damping, double highest, double cutoff);
/// (w / reference)^(exponent - 1): sub-Ohmic below 1, super-Ohmic above.
DiscreteSpectrum power_spectrum(std::int64_t size, double damping, double highest, double exponent, double reference);
/// As given; the oscillators must be in rising frequency. Stands for D = pi/2 (sum of stiffnesses) / (highest
/// frequency), the mean of what its parts would be as an Ohmic bath.
DiscreteSpectrum table_spectrum(std::vector<BathOscillator> oscillators);

}  // namespace bathline
