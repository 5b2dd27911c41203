// The measured error of an approximate kernel.
#pragma once

#include <functional>

namespace bathline {

struct KernelError {
  double norm = 0.0;   ///< integral of the absolute values of the exact kernel, kg/s
  double error = 0.0;  ///< integral of the error, by its maxima on intervals, divided by `norm`
  double worst = 0.0;  ///< time of the largest error, s
};

/// From 0 until `horizon`, on intervals of doubling length that begin with 0.25/`highest`; `samples` times in each.
KernelError measure_kernel_error(const std::function<double(double)>& exact,
                                 const std::function<double(double)>& approximate, double highest, double horizon,
                                 int samples = 24);

}  // namespace bathline
