// How far one kernel is from another, measured and not assumed.
#pragma once

#include <functional>

namespace bathline {

struct KernelError {
  double norm = 0.0;   ///< integral of the exact kernel's absolute values, kg/s
  double error = 0.0;  ///< integral of the distance's, by its largest values on parts of the time, over `norm`
  double worst = 0.0;  ///< when the distance is largest, s
};

/// From 0 until `horizon`, on parts that double from one to the next, the first a quarter of 1/`highest`; `samples`
/// times on each.
KernelError measure_kernel_error(const std::function<double(double)>& exact, const std::function<double(double)>& found,
                                 double highest, double horizon, int samples = 24);

}  // namespace bathline
