// Names of the degrees of freedom.
// Tested by tests/study/section_test.cpp.
#include "model/particle_system.hpp"

namespace bathline {

std::vector<std::string> ParticleSystem::coordinate_names() const {
  if (!coordinates.empty()) return coordinates;
  std::vector<std::string> names;
  for (int particle = 0; particle < particles; ++particle) {
    for (int axis = 0; axis < axes; ++axis) {
      names.push_back(std::string(1, "xyz"[axis]) + (particles > 1 ? std::to_string(particle) : ""));
    }
  }
  return names;
}

}  // namespace bathline
