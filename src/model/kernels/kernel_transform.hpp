// A kernel at any time and its Laplace transform at any frequency, from a density or from the kernel itself.
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
  std::vector<double> singular = {};  ///< frequencies around which samples are clustered: edges and kinks of a density
  std::vector<double> further = {};   ///< further frequencies of samples
  double highest = 0.0;               ///< the transform is negligible above, rad/s
  double truncation_error = 0.0;      ///< integral of the part of the kernel above that, kg/s
  double damping = 0.0;               ///< J(w)/w at 0, kg/s, which may be 0 or infinite
};

/// The transform of a density. Throws UnsuitableFunction, as the next one.
KernelTransform transform_kernel(const SpectralDensity& density, const BathAccuracy& accuracy);
/// The transform of a decaying kernel; `kinks` as in SpectralDensity, in s.
KernelTransform transform_kernel(const std::function<double(double)>& kernel, const std::vector<double>& kinks,
                                 const BathAccuracy& accuracy);

/// Samples of the transform at Re s = shift, clustered at its singular frequencies down to a quarter of the shift.
std::vector<TransformSample> samples_of(const KernelTransform& kernel, double shift);

}  // namespace bathline
