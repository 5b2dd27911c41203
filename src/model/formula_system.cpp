// Coordinates of the user's own with a potential that is a formula.
//
//   m_i x_i'' = -dV/dx_i - (C x')_i
#include <fmt/format.h>

#include <cmath>

#include "model/damping_matrix.hpp"
#include "model/formula/observables.hpp"
#include "model/formula/potential.hpp"
#include "model/system_catalogue.hpp"
#include "recipe/excerpt.hpp"

namespace bathline {

namespace {

/// Positions, then velocities, then the numbers of the recipe.
FormulaScope read_scope(const Section& section, Mistakes& mistakes) {
  FormulaScope scope;
  const std::vector<std::string>& coordinates = section.texts("coordinates");
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
  if (section.has("parameters")) add_numbers(section.table("parameters"), {}, scope, mistakes);
  return scope;
}

bool has_a_mass_each(const Section& section, const OpenSystem& system, Mistakes& mistakes) {
  const std::size_t given = section.numbers("masses").size();
  if (static_cast<int>(given) == system.particles) return true;
  mistakes.add(section.where("masses"),
               fmt::format("`masses` has {} numbers for {} coordinates", given, system.particles));
  return false;
}

/// Whether V and its derivatives have finite values at the start; adds a mistake if not.
bool is_defined_at_start(const Section& section, FormulaScope& scope, Expression V, const Potential& potential,
                         const OpenSystem& system, Mistakes& mistakes) {
  Eigen::VectorXd gradient;
  Eigen::MatrixXd hessian;
  potential.gradient(system.q0, gradient);
  potential.hessian(system.q0, hessian);
  if (std::isfinite(potential.value(system.q0)) && gradient.allFinite() && hessian.allFinite()) return true;
  const std::span<const double> start(system.q0.data(), static_cast<std::size_t>(system.size()));
  const auto check = [&](const std::string& what, std::span<const Expression> expressions) {
    return check_finite(section, "V", what, scope, expressions, start, mistakes);
  };
  return check("V", {&V, 1}) && check("the force -grad V", gradient_of(scope.graph, V, 0, system.size())) &&
         check("a second derivative of V", hessian_of(scope.graph, V, 0, system.size()));
}

void build(const Section& section, const Catalogue<PotentialKind>&, OpenSystem& system, Mistakes& mistakes) {
  const std::vector<std::string>& coordinates = section.texts("coordinates");
  system.particles = static_cast<int>(coordinates.size());
  if (coordinates.empty()) {
    mistakes.add(section.where("coordinates"), "`coordinates` is empty: a system has at least one");
    return;
  }
  FormulaScope scope = read_scope(section, mistakes);
  const std::size_t before = mistakes.count();
  std::optional<Expression> V;
  where_readable([&] { V = read_formula(section, "V", scope, mistakes); });
  read_start(section, system, mistakes);
  if (has_a_mass_each(section, system, mistakes)) {
    const std::vector<double>& masses = section.numbers("masses");
    system.mass = Eigen::Map<const Eigen::VectorXd>(masses.data(), system.size());
  }
  system.damping = read_damping_matrix(section, system.particles, 1, mistakes);
  if (!V || mistakes.count() > before) throw UnreadableValue();
  for (int i = 0; i < system.size(); ++i) {
    if (!scope.graph.depends(*V, system.size() + i)) continue;
    mistakes.add(section.where("V"), fmt::format("V depends on the velocity `{0}_dot`; a potential depends on "
                                                 "coordinates alone",
                                                 coordinates[static_cast<std::size_t>(i)]));
    return;
  }
  try {
    const auto potential = std::make_shared<FormulaPotential>(scope.graph, *V, system.size());
    if (!is_defined_at_start(section, scope, *V, *potential, system, mistakes)) return;
    system.formulas = fmt::format("V = {}", excerpt(section.text("V")));
    system.potential = potential;
    read_observables(section, scope, system, mistakes);
  } catch (const FormulaTooLarge& error) {
    mistakes.add(section.where("V"), fmt::format("V: {}", error.what()));
  }
}

}  // namespace

SystemKind formula_kind() {
  std::vector<Parameter> parameters = {
      {.name = "coordinates", .type = ValueType::texts, .doc = "their names, such as [\"x\", \"y\"]", .required = true},
      {.name = "masses",
       .type = ValueType::numbers,
       .units = "kg",
       .doc = "one mass per coordinate",
       .required = true,
       .bound = Bound::positive},
      {.name = "V",
       .type = ValueType::text,
       .units = "J",
       .doc = "the potential, a formula in the coordinates",
       .required = true},
      formula_parameters(),
      observables_parameter(),
      damping_matrix_parameter()};
  for (Parameter& parameter : start_parameters()) parameters.push_back(std::move(parameter));
  return {
      {.name = "formula",
       .summary = "coordinates of your own with a potential typed as a formula",
       .equation = "m_i x_i'' = -dV/dx_i - (C x')_i",
       .source = "your formula",
       .parameters = std::move(parameters),
       .notes = "Each coordinate is a particle with one axis in the results. Derivatives of V are taken exactly. The "
                "velocity of `x` is `x_dot`, which observables may use. Where V has no finite value the run ends as "
                "a numerical failure."},
      build};
}

}  // namespace bathline
