// Names for positions, velocities and the time.
// Tested by tests/model/systems/formula_system_test.cpp.
#include "model/formula/coordinates.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bathline {

Parameter coordinates_parameter() {
  return required("coordinates", ValueType::texts, "", "names of the coordinates, such as [\"x\", \"y\"]");
}

std::optional<FormulaScope> read_coordinates(const Section& section, ParticleSystem& system, Mistakes& mistakes) {
  const std::vector<std::string>& coordinates = section.texts("coordinates");
  system.particles = static_cast<int>(coordinates.size());
  system.coordinates = coordinates;
  if (coordinates.empty()) {
    mistakes.add(section.where("coordinates"), "`coordinates` is empty: a system has at least one");
    return {};
  }
  FormulaScope scope;
  scope.names["t"] = scope.graph.variable(2 * static_cast<int>(coordinates.size()));
  for (const std::string suffix : {"", "_dot"}) {
    for (std::size_t i = 0; i < coordinates.size(); ++i) {
      const std::string name = coordinates[i] + suffix;
      const auto here = coordinates.begin() + static_cast<std::ptrdiff_t>(i);
      if (std::find(coordinates.begin(), here, coordinates[i]) != here) {
        if (suffix.empty()) {
          mistakes.add(section.where("coordinates"), fmt::format("`{}` is listed twice; choose another name", name));
        }
      } else if (is_name(name)) {
        check_formula_name(section, "coordinates", name, scope, mistakes);
      } else if (suffix.empty()) {
        mistakes.add(
            section.where("coordinates"),
            fmt::format("`{}` is not a valid name of a coordinate: use letters, digits and `_`, a letter first", name));
      }
      scope.add_variable(name);
    }
  }
  ++scope.variables;
  if (section.has("parameters")) add_numbers(section.table("parameters"), {}, scope, mistakes);
  return scope;
}

}  // namespace bathline
