// The three forms in which a recipe describes uniform sites: lumped, continuum, characteristic grid; and the start of
// sites by formulas.
// Tested by tests/model/transmission_lines_test.cpp.
#include "model/site_values.hpp"

#include <fmt/format.h>

#include "formula/program.hpp"
#include "model/formula/scope.hpp"

namespace bathline {

bool is_semi_infinite(const Section& section) { return section.holds<std::string>("sites"); }

std::optional<SiteValues> read_site_values(const Section& section, const char* mass, const char* stiffness, double step,
                                           Mistakes& mistakes) {
  const bool grid = section.has("grid");
  const bool lumped = section.has(mass) || section.has(stiffness);
  if (!grid && section.number("gamma") != 0.0) {
    mistakes.add(section.where("gamma"),
                 "`gamma` selects the characteristic grid; it needs `grid = \"characteristic\"`");
    return std::nullopt;
  }
  const bool continuum = section.has("length") || section.has("spacing") || section.has("speed");
  const std::string forms = fmt::format(
      "give `{}` and `{}` (lumped), or `damping`, `speed` and `length` or `spacing` (continuum), or `grid = "
      "\"characteristic\"` and `damping`, or `file` (a table of nonuniform sites)",
      mass, stiffness);
  const auto refuse = [&](const std::string& key, const std::string& reason) {
    mistakes.add(section.where(key), reason + "; " + forms);
    return std::nullopt;
  };
  const auto missing = [&](std::initializer_list<const char*> keys) -> std::string {
    for (const char* key : keys) {
      if (!section.has(key)) return key;
    }
    return "";
  };
  if (grid + lumped + continuum > 1) return refuse(grid ? "grid" : "length", "the line is described in two ways");
  if (lumped) {
    if (section.has("damping")) {
      return refuse("damping", fmt::format("the damping of a lumped line is sqrt({} {})", mass, stiffness));
    }
    const std::string key = missing({mass, stiffness});
    if (!key.empty()) return refuse("kind", fmt::format("`{}` is missing", key));
    return SiteValues{section.number(mass), section.number(stiffness)};
  }
  if (grid) {
    if (!section.has("damping")) return refuse("kind", "`damping` is missing");
    const double gamma = section.number("gamma");
    if (gamma >= 0.5) {
      mistakes.add(section.where("gamma"),
                   fmt::format("gamma = {}: from 1/2 on no grid has the damper of the reduced scheme; choose less than "
                               "1/2, or leave out `gamma` for the grid on which waves travel one site per step",
                               gamma));
      return std::nullopt;
    }
    const double damping = section.number("damping"), fraction = 1.0 - 2.0 * gamma;
    return SiteValues{damping * step * fraction, damping / (step * fraction), gamma};
  }
  const bool by_spacing = section.has("spacing") || is_semi_infinite(section);
  const std::string key = missing({"damping", by_spacing ? "spacing" : "length", "speed"});
  if (!key.empty()) return refuse("kind", fmt::format("`{}` is missing", continuum ? key : "how the line is built"));
  if (by_spacing && section.has("length")) {
    return refuse("length", is_semi_infinite(section) ? "a semi-infinite line has a `spacing` and no length"
                                                      : "`spacing` is given, and `length` is `sites` times that");
  }
  const double damping = section.number("damping");
  const double spacing =
      by_spacing ? section.number("spacing") : section.number("length") / static_cast<double>(section.integer("sites"));
  const double speed = section.number("speed");
  return SiteValues{damping / speed * spacing, damping * speed / spacing};
}

std::vector<std::function<double(double)>> read_start_of_sites(const Section& section, const std::string& key, int axes,
                                                               Mistakes& mistakes) {
  std::vector<std::function<double(double)>> functions;
  if (!section.has(key)) return functions;
  if (is_semi_infinite(section)) {
    mistakes.add(section.where(key), fmt::format("`{}` needs sites, but a semi-infinite line has none: give `sites` a "
                                                 "number so large that no echo returns within the run",
                                                 key));
    return functions;
  }
  const std::size_t given = section.holds<std::string>(key) ? 1 : section.texts(key).size();
  if (static_cast<int>(given) != axes) {
    mistakes.add(section.where(key),
                 fmt::format("`{}` has {} formula(s), but a site moves along {} axes", key, given, axes));
    return functions;
  }
  const long sites = section.integer("sites");
  for (std::size_t axis = 0; axis < given; ++axis) {
    FormulaScope scope;
    scope.add_variable("i");
    const auto number = [&](double value) { return scope.graph.constant(value); };
    scope.names["n"] = number(static_cast<double>(sites));
    if (section.has("spacing") || section.has("length")) {
      const double spacing =
          section.has("spacing") ? section.number("spacing") : section.number("length") / static_cast<double>(sites);
      const Expression place = scope.graph.apply(Operation::add, scope.names["i"], number(1.0));
      scope.names["x"] = scope.graph.apply(Operation::multiply, number(spacing), place);
    }
    const std::optional<Expression> formula = read_formula(section, key, scope, mistakes, axis);
    const double first = 0.0;
    if (!formula || !check_finite(section, key, "the formula", scope, {*formula}, {&first, 1}, mistakes, axis))
      return {};
    functions.push_back(
        [program = FormulaProgram(scope.graph, {&*formula, 1}, 1)](double i) { return program.run(&i); });
  }
  return functions;
}

}  // namespace bathline
