// Systems whose coordinates the recipe names, with a Lagrangian given by a formula.
//
//   d/dt dL/dv_i = dL/dq_i + dL/dz p_i - (C v)_i + a_i(q, v, t),   p = dL/dv,   E = v dL/dv - L,   z' = L
//
// Source: martin2018, section 2, for the Lagrange-d'Alembert principle; simoes2020, section 2, for the equations of
// Herglotz where L depends on z.
// Tested by tests/command_line/lagrangian_test.py.
#include <fmt/format.h>

#include <algorithm>

#include "model/systems/damping_matrix.hpp"
#include "model/formula/coordinates.hpp"
#include "model/formula/lagrangian.hpp"
#include "model/formula/observables.hpp"
#include "model/formula/force_parameter.hpp"
#include "model/legendre_transform.hpp"
#include "model/systems/external_forces.hpp"
#include "model/system_catalogue.hpp"
#include "text/printable_text.hpp"

namespace bathline {

namespace {

/// Whether L and those of its derivatives that the equations of motion contain are finite, and L is not degenerate, at
/// the start; adds a mistake if not.
bool is_defined_at_start(const Section& section, FormulaScope& scope, Expression L, const ParticleSystem& system,
                         Mistakes& mistakes) {
  const int n = system.size();
  std::vector<double> start(static_cast<std::size_t>(scope.variables), 0.0);
  std::copy(system.q0.begin(), system.q0.end(), start.begin());
  std::copy(system.v0.begin(), system.v0.end(), start.begin() + n);
  const double z0 = system.contact ? system.contact->z0 : 0.0;
  start[2 * system.q0.size() + 1] = z0;
  const auto check = [&](const std::string& what, const std::vector<FormulaOutput>& outputs) {
    return check_finite(section, "L", what, scope, outputs, start, mistakes);
  };
  const std::vector<FormulaOutput> hessian = lagrangian_hessian_of(scope.graph, L, n);
  const auto row = [&](int i) { return hessian.begin() + i * (2 * n + 1); };
  const std::vector<FormulaOutput> by_velocity(row(n), row(2 * n));
  if (!check("L", {L}) || !check("a derivative of L", gradient_of(scope.graph, L, 0, 2 * n + 2)) ||
      !check("a second derivative of L", by_velocity)) {
    return false;
  }
  LegendreTransform legendre(system.lagrangian, system.mass, system.q0, system.v0, z0);
  const std::optional<std::string> unsupported_reason = legendre.unsupported_reason(system.q0, system.v0, 0.0, z0);
  if (unsupported_reason) mistakes.add(section.where("L"), fmt::format("L: {}", *unsupported_reason));
  return !unsupported_reason;
}

/// Makes the system one of contact mechanics if L depends on the action.
void add_action(const Section& section, ParticleSystem& system, Mistakes& mistakes) {
  if (system.lagrangian->depends_on_action()) {
    system.contact = Contact{.gamma = 0.0, .z0 = section.has("z0") ? section.number("z0") : 0.0, .q1 = {}};
  } else if (section.has("z0")) {
    mistakes.add(section.where("z0"),
                 "`z0` is the initial action, but L does not depend on the action `z`; leave it out");
  }
}

void build_lagrangian_system(const Section& section, const Catalogue<PotentialKind>&, ParticleSystem& system,
                             Mistakes& mistakes) {
  std::optional<FormulaScope> coordinate_scope = read_coordinates(section, system, mistakes);
  if (!coordinate_scope) return;
  FormulaScope& scope = *coordinate_scope;
  const int action = scope.variables++;
  scope.names.emplace("z", scope.graph.variable(action));  // unless a coordinate or a number has the name z
  const std::size_t before = mistakes.count();
  const std::optional<Expression> L = read_formula(section, "L", scope, mistakes);
  const std::vector<Expression> force = read_force(section, scope, system, mistakes);
  read_start(section, system, mistakes);
  system.mass = Eigen::VectorXd::Zero(system.size());
  system.potential = std::make_shared<QuadraticPotential>(Eigen::MatrixXd::Zero(system.size(), system.size()));
  system.damping = read_damping_matrix(section, system.particles, 1, mistakes);
  if (!L || mistakes.count() > before) return;
  try {
    system.lagrangian = std::make_shared<FormulaLagrangian>(scope.graph, *L, system.size());
    add_action(section, system, mistakes);
    if (!is_defined_at_start(section, scope, *L, system, mistakes)) return;
    system.formulas = fmt::format("L = {}", printable(section.text("L")));
    add_force(section, scope, force, system, mistakes);
    read_observables(section, scope, system, mistakes);
  } catch (const FormulaTooLarge& error) {
    mistakes.add(section.where("L"), fmt::format("L: {}", error.what()));
  }
}

}  // namespace

SystemKind lagrangian_kind() {
  return {
      {.name = "lagrangian",
       .summary = "your own system: coordinates with a Lagrangian given by a formula",
       .equation = "d/dt dL/dx_i' = dL/dx_i + dL/dz dL/dx_i' - (C x')_i + force_i(x, x', t) + drive_i(t),  z' = L",
       .source = "your formula; martin2018, section 2; simoes2020, section 2 for L with z",
       .parameters = with_start(
           {coordinates_parameter(),
            {.name = "L",
             .type = ValueType::text,
             .units = "J",
             .doc = "the Lagrangian, a formula in the coordinates, their velocities (`x_dot` is that of `x`), the time "
                    "`t` and "
                    "the action `z` (contact mechanics)",
             .required = true},
            optional("z0", ValueType::number, "J s", "initial action where L depends on `z`; 0 where absent"),
            force_parameter("L"),
            drive_parameter(),
            formula_parameters(),
            observables_parameter(),
            damping_matrix_parameter()}),
       .notes =
           "Masses may depend on positions, as those of a double pendulum do. Each coordinate is a particle with one "
           "axis in the results, its momentum is dL/dx', and energy_particles is x' dL/dx' - L; energy_work is the "
           "work of `force` and `drive` and that of a dependence of L on time. Integrators: `gamma`, `time-centred`, "
           "`gauss`, `lobatto`, `rk4`, the Euler methods and `exact`; splittings need constant masses. The run ends "
           "with an error where d2L/dx'2 becomes singular, as the motion is undetermined there. With z the equations "
           "are those of Herglotz, the methods above are contact integrators of the same orders (`herglotz` is "
           "another, of order 1), environments are not supported, and z, hamiltonian, which is energy_particles, and "
           "log_hamiltonian are recorded; energy_dissipated is the energy that the term dL/dz removes."},
      build_lagrangian_system};
}

}  // namespace bathline
