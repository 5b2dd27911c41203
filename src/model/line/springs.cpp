// One kick or drift of a line's sites in plain loops.
// Tested by tests/model/line/explicit/march_test.cpp.
#include "model/line/springs.hpp"

#include "model/line/update.hpp"

namespace bathline {

void kick_sites(const LineSprings& line, double weighted_step, std::int64_t begin, std::int64_t end, const double* w,
                double* p) {
  if (line.uniform()) {
    const double strength = weighted_step * line.stiffness;
    for (std::int64_t j = begin; j < end; ++j) p[j] = kicked(p[j], strength, w[j] - w[j - 1], w[j + 1] - w[j]);
    return;
  }
  const double* spring = line.spring;
  for (std::int64_t j = begin; j < end; ++j) {
    p[j] = kicked(p[j], weighted_step, spring[j] * (w[j] - w[j - 1]), spring[j + 1] * (w[j + 1] - w[j]));
  }
}

void drift_sites(const LineSprings& line, double weighted_step, std::int64_t begin, std::int64_t end, double* w,
                 const double* p) {
  if (line.uniform()) {
    const double rate = weighted_step / line.mass;
    for (std::int64_t j = begin; j < end; ++j) w[j] = drifted(w[j], rate, p[j]);
    return;
  }
  const double* inverse_mass = line.inverse_mass;
  for (std::int64_t j = begin; j < end; ++j) w[j] = drifted(w[j], weighted_step * inverse_mass[j], p[j]);
}

}  // namespace bathline
