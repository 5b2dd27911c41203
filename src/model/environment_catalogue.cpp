// The catalogue of environments.
#include "model/environment_catalogue.hpp"

namespace bathline {

const std::vector<EnvironmentKind>& environment_kinds() {
  static const std::vector<EnvironmentKind> all = {spring_mass_line_kind(), spring_inerter_line_kind()};
  return all;
}

const EnvironmentKind* find_environment(const std::string& name) {
  for (const EnvironmentKind& kind : environment_kinds()) {
    if (kind.entry.name == name) return &kind;
  }
  return nullptr;
}

}  // namespace bathline
