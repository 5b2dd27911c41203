// Names for positions, velocities and the time.
// Tested by tests/model/formula_system_test.cpp.
#include "model/formula/coordinates.hpp"

#include <fmt/format.h>

namespace bathline {

Parameter coordinates_parameter() {
  return {
      .name = "coordinates", .type = ValueType::texts, .doc = "their names, such as [\"x\", \"y\"]", .required = true};
}

FormulaScope read_coordinates(const Section& section, Mistakes& mistakes) {
  FormulaScope scope;
  const std::vector<std::string>& coordinates = section.texts("coordinates");
  scope.names["t"] = scope.graph.variable(2 * static_cast<int>(coordinates.size()));
  for (const std::string suffix : {"", "_dot"}) {
    for (const std::string& coordinate : coordinates) {
      const std::string name = coordinate + suffix;
      if (is_name(name)) {
        check_formula_name(section, "coordinates", name, scope, mistakes);
      } else if (suffix.empty()) {
        mistakes.add(section.where("coordinates"),
                     fmt::format("`{}` is no name for a coordinate: letters, digits and `_`, a letter first", name));
      }
      scope.add_variable(name);
    }
  }
  ++scope.variables;
  if (section.has("parameters")) add_numbers(section.table("parameters"), {}, scope, mistakes);
  return scope;
}

}  // namespace bathline
