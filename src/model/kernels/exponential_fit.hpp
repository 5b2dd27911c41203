// Approximation of a kernel by few exponentials, until a horizon and to a tolerance.
//
// The exponents are the decaying poles of a rational fit to the transform of the kernel on a line next to the imaginary
// axis, and the weights are a least-squares fit there. The error is measured afterwards, in time.
// Source: nakatsukasa2018 for the fit, costa2021 for its poles with least squares.
#pragma once

#include <functional>
#include <vector>

#include "model/memory/prony_memory.hpp"
#include "model/kernels/adaptive_quadrature.hpp"
#include "model/kernels/kernel_transform.hpp"

namespace bathline {

struct ExponentialSum {
  std::vector<PronyTerm> modes;
  std::function<double(double)> kernel;  ///< the kernel that they represent, N/m
  double damping = 0.0;                  ///< as in KernelTransform
  int exponentials = 0;                  ///< number without the damper; a complex one counts once

  // Integrals until the horizon, divided by `norm`.
  double norm = 0.0;              ///< integral of the kernel's absolute values, kg/s
  double measured = 0.0;          ///< error of the kernel, with damper, by its maxima on intervals
  double truncation_error = 0.0;  ///< part above the highest frequency of the samples
  double lowest = 0.0;  ///< the most negative real part of the transform on the imaginary axis without damper, or 0
  double damper = 0.0;  ///< the smallest one that makes none negative; 0 if its error exceeds the tolerance
  double error() const { return measured + truncation_error; }
};

/// Thrown where a kernel is not a sum of few exponentials; the message contains no advice.
class TooManyExponentials : public UnsuitableFunction {
 public:
  using UnsuitableFunction::UnsuitableFunction;
};

/// Throws TooManyExponentials, and UnsuitableFunction if the kernel is not that of a passive environment.
ExponentialSum fit_exponentials(const KernelTransform& kernel, const BathAccuracy& accuracy);

}  // namespace bathline
