// A kernel with its transform, from a density or from the kernel itself, at any time and any frequency.
#pragma once

#include <complex>
#include <functional>
#include <vector>

#include "model/kernels/spectral_density.hpp"
#include "model/kernels/aaa_fit.hpp"

namespace bathline {

struct KernelTransform {
  std::function<double(double)> value;                                  ///< gamma(t), N/m
  std::function<std::complex<double>(std::complex<double>)> transform;  ///< integral gamma exp(-s t) dt, kg/s
  std::vector<double> singular = {};  ///< frequencies that samples crowd around: edges and kinks of a density
  std::vector<double> further = {};   ///< frequencies at which samples are taken besides
  double highest = 0.0;               ///< nothing counts beyond, rad/s
  double truncation_error = 0.0;      ///< integral of what the kernel has above that, kg/s
  double damping = 0.0;               ///< J(w)/w at 0, kg/s, which may be 0 or infinite
};

/// Throw UnsuitableFunction.
KernelTransform transform_kernel(const SpectralDensity& density, const BathAccuracy& accuracy);
/// Of a kernel that dies down; `kinks` as in SpectralDensity, in s.
KernelTransform transform_kernel(const std::function<double(double)>& kernel, const std::vector<double>& kinks,
                                 const BathAccuracy& accuracy);

/// The transform at Re s = shift, ever closer to where it is singular until a quarter of the shift.
std::vector<TransformSample> samples_of(const KernelTransform& kernel, double shift);

}  // namespace bathline
