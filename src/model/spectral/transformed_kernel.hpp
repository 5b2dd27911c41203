// A kernel with its transform, from a density or from the kernel itself, at any time and any frequency.
#pragma once

#include <complex>
#include <functional>
#include <vector>

#include "model/spectral/density.hpp"
#include "model/spectral/rational_fit.hpp"

namespace bathline {

struct TransformedKernel {
  std::function<double(double)> value;                                  ///< gamma(t), N/m
  std::function<std::complex<double>(std::complex<double>)> transform;  ///< integral gamma exp(-s t) dt, kg/s
  std::vector<double> singular = {};  ///< frequencies that samples crowd around: edges and kinks of a density
  std::vector<double> further = {};   ///< frequencies at which samples are taken besides
  double highest = 0.0;               ///< nothing counts beyond, rad/s
  double lost = 0.0;                  ///< integral of what the kernel has above that, kg/s
  double damping = 0.0;               ///< J(w)/w at 0, kg/s, which may be 0 or infinite
};

/// Throw UnsuitableFunction.
TransformedKernel transformed(const SpectralDensity& density, const BathDemand& demand);
/// Of a kernel that dies down; `kinks` as in SpectralDensity, in s.
TransformedKernel transformed(const std::function<double(double)>& kernel, const std::vector<double>& kinks,
                              const BathDemand& demand);

/// The transform at Re s = shift, ever closer to where it is singular until a quarter of the shift.
std::vector<TransformSample> samples_of(const TransformedKernel& kernel, double shift);

}  // namespace bathline
