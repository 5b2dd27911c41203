// Spectral densities and kernels of unknown shape, scanned on logarithmic grids: their support, and whether they are
// valid.
#pragma once

#include <functional>
#include <limits>
#include <vector>

namespace bathline {

struct SpectralDensity {
  std::function<double(double)> value;  ///< J(w), N/m, for w > 0
  std::vector<double> kinks = {};       ///< known frequencies where it is not smooth, rad/s, rising
  double highest = std::numeric_limits<double>::infinity();  ///< the density is 0 above, rad/s
  double noise = 0.0;  ///< error of J/w, kg/s; negative values within it count as 0
  /// The kernel gamma(t) in N/m from which the density was computed; empty if the density was given.
  std::function<double(double)> kernel = {};
};

struct BathAccuracy {
  double tolerance;  ///< integral of the error of the kernel until the horizon, over that of its absolute values
  double horizon;    ///< s
};

/// J(w), not negative. Throws UnsuitableFunction for negative values beyond `noise`.
double checked_value(const SpectralDensity& density, double w);
/// (2/pi) J(w)/w, the weight of cos(w t) in the kernel.
double checked_weight(const SpectralDensity& density, double w);
/// 0, those of `kinks` between it and `end`, in rising order, and `end`.
std::vector<double> breakpoints_until(double end, std::vector<double> kinks);
/// J(w)/w at 0, kg/s, which may be 0 or infinite; `highest` is where the density ends.
double damping_of(const SpectralDensity& density, double highest);

/// J on a logarithmic grid.
class DensityScan {
 public:
  /// Throws UnsuitableFunction if the density is 0 or has no kernel.
  explicit DensityScan(const SpectralDensity& density);

  double peak_frequency() const { return w_[index_of_peak()]; }
  /// Estimate of gamma(0).
  double value() const { return sum_from(0); }
  /// Estimate of a lower bound of the integral of |gamma|: the integral of gamma^2 divided by gamma(0).
  double norm(double horizon) const;
  /// The frequency above which the integral of the kernel is at most `fraction`.
  double highest(double horizon, double fraction) const;
  /// Bound of the integral of the kernel of the density above `w`: with m the integral of (2/pi) J/w above `w` and
  /// g = (2/pi) J/w at `w`, decreasing above, this kernel is at most m and at most 2 g/t.
  double truncation_error_above(double w, double horizon) const;

 private:
  std::size_t index_of_peak() const;
  double peak() const { return j_[index_of_peak()]; }
  double sum_from(std::size_t begin) const;

  std::vector<double> w_, j_;
};

/// A kernel on a logarithmic grid of time.
struct KernelScan {
  /// Evaluates times until `longest`; throws UnsuitableFunction if the kernel is 0 or does not decay. If `longest` is
  /// finite, slow decay is allowed.
  KernelScan(const std::function<double(double)>& kernel, double tolerance,
             double longest = std::numeric_limits<double>::infinity());

  double norm = 0.0;     ///< integral of its absolute values until `longest`
  double end;            ///< time after which it is negligible, or `longest`
  double damping = 0.0;  ///< estimate of its integral over all times, kg/s; infinite if it has none
};

}  // namespace bathline
