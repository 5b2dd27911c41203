// Spectral densities and kernels of unknown shape, looked at on logarithmic grids: where they lie, whatever the units,
// and whether they are any.
#pragma once

#include <functional>
#include <limits>
#include <vector>

namespace bathline {

struct SpectralDensity {
  std::function<double(double)> value;  ///< J(w), N/m, for w > 0
  std::vector<double> kinks = {};       ///< where it is not smooth, as far as that is known, rad/s, rising
  double highest = std::numeric_limits<double>::infinity();  ///< nothing counts beyond, rad/s
  double noise = 0.0;                                        ///< J/w is known up to this, kg/s: so much below 0 is 0
  /// That it was made of, N/m by s; empty where it was given itself.
  std::function<double(double)> kernel = {};
};

struct BathAccuracy {
  double tolerance;  ///< integral of the kernel's error until then, over that of the kernel's absolute values
  double horizon;    ///< s
};

/// J, where it is none below 0 but for its noise. Throws UnsuitableFunction.
double checked_value(const SpectralDensity& density, double w);
/// (2/pi) J(w)/w, whose cosines add up to the kernel.
double checked_weight(const SpectralDensity& density, double w);
/// 0, those of `kinks` between it and `end`, in rising order, and `end`.
std::vector<double> breakpoints_until(double end, std::vector<double> kinks);
/// J(w)/w at 0, kg/s, which may be 0 or infinite; `highest` is where the density ends.
double damping_of(const SpectralDensity& density, double highest);

/// J on a logarithmic grid.
class DensityScan {
 public:
  /// Throws UnsuitableFunction where the density is 0, or has no kernel.
  explicit DensityScan(const SpectralDensity& density);

  double place_of_peak() const { return w_[index_of_peak()]; }
  /// gamma(0), roughly.
  double value() const { return sum_from(0); }
  /// A lower bound of the integral of the kernel's absolute values, roughly: that of its square over gamma(0).
  double norm(double horizon) const;
  /// Where so little lies above that the integral of its kernel is at most `share`.
  double highest(double horizon, double share) const;
  /// With m the integral of J/w above and g = (2/pi) J/w there, which falls from there on, that kernel is at most m,
  /// and 2 g/t.
  double truncation_error_above(double w, double horizon) const;

 private:
  std::size_t index_of_peak() const;
  double peak() const { return j_[index_of_peak()]; }
  double sum_from(std::size_t begin) const;

  std::vector<double> w_, j_;
};

/// A kernel on a logarithmic grid of time.
struct KernelScan {
  /// Looks at times until `longest`; throws UnsuitableFunction where the kernel is 0, or does not die down, which it
  /// has to do until then unless that is a time.
  KernelScan(const std::function<double(double)>& kernel, double tolerance,
             double longest = std::numeric_limits<double>::infinity());

  double norm = 0.0;     ///< integral of its absolute values
  double end;            ///< what is later does not matter, or lies beyond `longest`
  double damping = 0.0;  ///< its integral over all times, kg/s, roughly; infinite where it has none
};

}  // namespace bathline
