// Systems whose coordinates the recipe names, with a potential and forces given by formulas.
//
//   m_i x_i'' = -dV/dx_i - (C x')_i + a_i(x, x', t)
#include <fmt/format.h>

#include <cmath>

#include "model/systems/damping_matrix.hpp"
#include "model/formula/coordinates.hpp"
#include "model/formula/index_formula.hpp"
#include "model/formula/observables.hpp"
#include "model/formula/potential.hpp"
#include "model/formula/force_parameter.hpp"
#include "model/systems/external_forces.hpp"
#include "model/system_catalogue.hpp"
#include "text/printable_text.hpp"

namespace bathline {

namespace {

/// Whether V and its gradient have finite values at the start; adds a mistake if not.
bool is_defined_at_start(const Section& section, FormulaScope& scope, Expression V, const Potential& potential,
                         const ParticleSystem& system, Mistakes& mistakes) {
  Eigen::VectorXd gradient;
  potential.gradient(system.q0, gradient);
  if (std::isfinite(potential.value(system.q0)) && gradient.allFinite()) return true;
  const std::span<const double> start(system.q0.data(), static_cast<std::size_t>(system.size()));
  return check_finite(section, "V", "V", scope, {V}, start, mistakes) &&
         check_finite(section, "V", "the force -grad V", scope, gradient_of(scope.graph, V, 0, system.size()), start,
                      mistakes);
}

/// Whether V depends on positions alone; adds a mistake if not.
bool is_potential(const Section& section, const FormulaScope& scope, Expression V, const ParticleSystem& system,
                  Mistakes& mistakes) {
  const int size = system.size();
  const auto refuse = [&](const std::string& name, const std::string& message) {
    mistakes.add(section.where_in_text("V", find_name(section.text("V"), name)), message);
    return false;
  };
  for (int i = 0; i < size; ++i) {
    if (!scope.graph.depends(V, size + i)) continue;
    const std::string velocity = section.texts("coordinates")[static_cast<std::size_t>(i)] + "_dot";
    return refuse(velocity,
                  fmt::format("V depends on the velocity `{}`; a potential depends on coordinates alone", velocity));
  }
  if (!scope.graph.depends(V, 2 * size)) return true;
  return refuse("t",
                "V depends on the time `t`; a potential depends on coordinates alone: give the time-dependent part as "
                "`force`");
}

void build_formula_system(const Section& section, const Catalogue<PotentialKind>&, ParticleSystem& system,
                          Mistakes& mistakes) {
  std::optional<FormulaScope> coordinate_scope = read_coordinates(section, system, mistakes);
  if (!coordinate_scope) return;
  FormulaScope& scope = *coordinate_scope;
  const std::size_t before = mistakes.count();
  const std::optional<Expression> V = read_formula(section, "V", scope, mistakes);
  const std::vector<Expression> force = read_force(section, scope, system, mistakes);
  read_start(section, system, mistakes);
  system.mass = read_by_particle(section, "masses", system.particles, Bound::positive, mistakes);
  system.damping = read_damping_matrix(section, system.particles, 1, mistakes);
  if (!V || mistakes.count() > before) return;
  if (!is_potential(section, scope, *V, system, mistakes)) return;
  try {
    const auto potential = std::make_shared<FormulaPotential>(scope.graph, *V, system.size());
    if (!is_defined_at_start(section, scope, *V, *potential, system, mistakes)) return;
    system.formulas = fmt::format("V = {}", printable(section.text("V")));
    system.potential = potential;
    add_force(section, scope, force, system, mistakes);
    read_observables(section, scope, system, mistakes);
  } catch (const FormulaTooLarge& error) {
    mistakes.add(section.where("V"), fmt::format("V: {}", error.what()));
  }
}

}  // namespace

SystemKind formula_kind() {
  std::vector<Parameter> parameters =
      with_start_and_forces({coordinates_parameter(),
                             {.name = "masses",
                              .type = ValueType::numbers,
                              .units = "kg",
                              .doc = "one mass per coordinate, one number where all are equal, or a formula in the "
                                     "index `i` of the coordinate, from 0, and their number `n`",
                              .required = true,
                              .bound = Bound::positive,
                              .alternative_types = {ValueType::number, ValueType::text}},
                             required("V", ValueType::text, "J", "the potential, a formula in the coordinates"),
                             force_parameter("V"),
                             observables_parameter(),
                             damping_matrix_parameter()});
  parameters.push_back(magnetic_field_parameter());
  return {
      {.name = "formula",
       .summary = "your own system: coordinates with a potential and forces given by formulas",
       .equation = "m_i x_i'' = -dV/dx_i - (C x')_i + force_i(x, x', t) + drive_i(t)",
       .source = "your formula",
       .parameters = std::move(parameters),
       .notes =
           "Each coordinate is a particle with one axis in the results. Derivatives are exact. The velocity of `x` is "
           "`x_dot`, which `force` and observables may use, and the time is `t`. The work of `force` and `drive` is "
           "energy_work, which is subtracted in energy_total. A kick is evaluated at the time that the drifts before "
           "it have reached, so that every method keeps its order; where `force` depends on velocities, this is its "
           "order on damped systems. A run ends as a numerical failure where a formula is not finite. " +
           magnetic_field_notes()},
      build_formula_system};
}

}  // namespace bathline
