// Few decaying oscillations in the place of a kernel, until a time and to a tolerance.
//
// The poles of a rational fit to the kernel's transform on a line next to the imaginary axis are the exponentials, as
// far as they decay, and their weights the least squares there. What that is worth is measured afterwards, in time.
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
  std::function<double(double)> kernel;  ///< that they stand for, N/m
  double damping = 0.0;                  ///< as in KernelTransform
  int exponentials = 0;                  ///< complex ones count once; without the damper

  // Integrals until the time that was asked for, over `norm`.
  double norm = 0.0;  ///< integral of the kernel's absolute values, kg/s
  double measured =
      0.0;  ///< of the distance from the kernel, damper included, by its largest values on parts of the time
  double truncation_error = 0.0;  ///< of what lies above the highest frequency that was looked at
  double lowest =
      0.0;  ///< the most negative real part of the sum's transform on the imaginary axis before the damper, or 0
  double damper = 0.0;  ///< that leaves none below 0, the least; 0 where it would cost more than the tolerance
  double error() const { return measured + truncation_error; }
};

/// Why a kernel that may be another environment's is none of few exponentials, without advice.
class TooManyExponentials : public UnsuitableFunction {
 public:
  using UnsuitableFunction::UnsuitableFunction;
};

/// Throws TooManyExponentials, and UnsuitableFunction where the kernel is that of no passive environment.
ExponentialSum fit_exponentials(const KernelTransform& kernel, const BathAccuracy& accuracy);

}  // namespace bathline
