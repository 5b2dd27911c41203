// The real part of k/(r + i w) is k r/(r^2 + w^2): below its rate, an exponential is a damper k/r.
// Tested by tests/model/memory_test.cpp.
#include "model/memory/passivity.hpp"

#include <algorithm>
#include <cmath>

namespace bathline {

Passivity passivity_of(const std::vector<PronyTerm>& modes) {
  double fastest = 0.0;
  std::vector<double> places = {0.0};
  for (const PronyTerm& mode : modes) {
    fastest = std::max(fastest, std::hypot(mode.r, mode.w));
    for (double distance = 1e-2; distance < 1e2; distance *= 1.1) {
      places.push_back(mode.w + distance * mode.r);
      places.push_back(std::abs(mode.w - distance * mode.r));
    }
  }
  for (double w = 1e-3 * fastest; w < 1e3 * fastest; w *= 1.02) places.push_back(w);
  std::sort(places.begin(), places.end());
  Passivity found;
  found.damper.r = 4.0 * fastest;
  double before = 0.0, all = 0.0, below = 0.0;
  for (const double w : places) {
    const double resistance = resistance_at(modes, w);
    all += std::abs(resistance) * (w - before);
    below += std::max(0.0, -resistance) * (w - before);
    before = w;
    if (resistance < found.lowest) {
      found.lowest = resistance;
      found.place = w;
    }
    found.damper.k = std::max(found.damper.k, -resistance * (found.damper.r + w * (w / found.damper.r)));
  }
  found.negative = all > 0.0 ? below / all : 0.0;
  return found;
}

}  // namespace bathline
