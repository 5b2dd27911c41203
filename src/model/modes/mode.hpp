// A mode: what linear environments of one head consist of.
//
//   y' = (-r + i w) y + x',   force on the head -sum over modes of k e,   e = Re y + q Im y,   q = b/k
//
// with the head at x, so that the kernel of a mode is exp(-r t) (k cos(w t) + b sin(w t)). It is a spring of stiffness
// k and stretch e to a site at w = x - e, which follows, with f = k e,
//
//   w' = p/m + mobility f,   p' = f - dashpot p/m
//
// where the mass m is k/(w^2 (1 + q^2)), mobility k is r - q w and dashpot/m is r + q w. Without decay it is an
// oscillator with the frequency w. A mode with w = 0 has an infinite mass.
// Source: farshi2018, eq. (36) for the kernel; the form is ours.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>

namespace bathline {

/// k and b in N/m, r in 1/s, w in rad/s. b = 0 if w = 0, and k is not 0.
struct Mode {
  double k = 0.0, r = 0.0, w = 0.0, b = 0.0;

  double inverse_mass() const { return w * w * (1.0 + b / k * (b / k)) / k; }
  /// mobility k, and dashpot/m, 1/s.
  double mobility_rate() const { return w == 0.0 ? r : r - b / k * w; }
  double dashpot_rate() const { return w == 0.0 ? 0.0 : r + b / k * w; }
};

/// Modes by formula, so that 10^8 of them need no table.
struct ModeTable {
  std::int64_t size = 0;
  std::function<Mode(std::int64_t)> mode;
};

}  // namespace bathline
