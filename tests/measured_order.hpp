// The order measured by errors at decreasing steps.
#pragma once

#include <cmath>
#include <functional>

namespace bathline {

/// Order by the finest pair of steps whose errors are clear of round-off, which grows with their number, and of the
/// tolerance of Newton's method; NaN where there is none. `error` takes the number of steps.
inline double measured_order(const std::function<double(int steps)>& error, int claimed) {
  const double floor = claimed > 4 ? 4e-13 : 3e-11;
  double coarse = 0.0, order = std::nan("");
  int coarse_steps = 0;
  for (const int steps : {4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 64, 128, 256, 512, 1024, 2048}) {
    if (steps < (claimed <= 4 ? 16 : claimed <= 8 ? 8 : 4)) continue;
    const double fine = error(steps);
    if (fine < floor) break;
    if (coarse_steps > 0) order = std::log(coarse / fine) / std::log(static_cast<double>(steps) / coarse_steps);
    coarse = fine;
    coarse_steps = steps;
  }
  return order;
}

/// At high order few step sizes are left, on which the next term of the error is visible: 5 % allowed.
inline double order_tolerance(int claimed) { return claimed > 6 ? 0.05 * claimed : 0.1; }

}  // namespace bathline
