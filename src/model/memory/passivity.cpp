// The real part of k/(r + i w) is k r/(r^2 + w^2): below its rate, an exponential is a damper k/r.
// Tested by tests/model/memory_test.cpp.
#include "model/memory/passivity.hpp"

#include <algorithm>
#include <cmath>

namespace bathline {

Passivity passivity_of(const std::vector<PronyTerm>& modes, double damping) {
  double fastest = 0.0;
  std::vector<double> frequencies = {0.0};
  for (const PronyTerm& mode : modes) {
    fastest = std::max(fastest, std::hypot(mode.r, mode.w));
    for (double distance = 1e-2; distance < 1e2; distance *= 1.1) {
      frequencies.push_back(mode.w + distance * mode.r);
      frequencies.push_back(std::abs(mode.w - distance * mode.r));
    }
  }
  for (double w = 1e-3 * fastest; w < 1e3 * fastest; w *= 1.02) frequencies.push_back(w);
  std::sort(frequencies.begin(), frequencies.end());
  Passivity result;
  result.damper.r = 4.0 * fastest;
  double before = 0.0, all = 0.0, below = 0.0;
  for (const double w : frequencies) {
    const double of_modes = resistance_at(modes, w), resistance = damping + of_modes;
    all += std::abs(of_modes) * (w - before);
    below += std::max(0.0, -resistance) * (w - before);
    before = w;
    if (resistance < result.lowest) {
      result.lowest = resistance;
      result.frequency = w;
    }
    result.damper.k = std::max(result.damper.k, -resistance * (result.damper.r + w * (w / result.damper.r)));
  }
  result.negative = all > 0.0 ? below / all : 0.0;
  return result;
}

}  // namespace bathline
