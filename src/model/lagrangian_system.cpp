// Coordinates of the user's own with a Lagrangian that is a formula.
//
//   d/dt dL/dv_i = dL/dq_i - (C v)_i,   p = dL/dv,   E = v dL/dv - L
//
// Source: martin2018, section 2, for the Lagrange-d'Alembert principle.
// Tested by tests/command_line/lagrangian_test.py.
#include <fmt/format.h>

#include <algorithm>

#include "model/damping_matrix.hpp"
#include "model/formula/coordinates.hpp"
#include "model/formula/lagrangian.hpp"
#include "model/formula/observables.hpp"
#include "model/legendre.hpp"
#include "model/system_catalogue.hpp"
#include "recipe/excerpt.hpp"

namespace bathline {

namespace {

/// Whether L and what is made of it have finite values at the start, and L is not degenerate there; adds a mistake if
/// not.
bool is_defined_at_start(const Section& section, FormulaScope& scope, Expression L, const OpenSystem& system,
                         Mistakes& mistakes) {
  const int n = system.size();
  std::vector<double> start(static_cast<std::size_t>(scope.variables), 0.0);
  std::copy(system.q0.begin(), system.q0.end(), start.begin());
  std::copy(system.v0.begin(), system.v0.end(), start.begin() + n);
  const auto check = [&](const std::string& what, std::span<const Expression> expressions) {
    return check_finite(section, "L", what, scope, expressions, start, mistakes);
  };
  if (!check("L", {&L, 1}) || !check("a derivative of L", gradient_of(scope.graph, L, 0, 2 * n + 1)) ||
      !check("a second derivative of L", hessian_of(scope.graph, L, 0, 2 * n))) {
    return false;
  }
  LegendreMap legendre(system.lagrangian, system.mass, system.q0, system.v0);
  const std::optional<std::string> obstacle = legendre.obstacle(system.q0, system.v0, 0.0);
  if (obstacle) mistakes.add(section.where("L"), fmt::format("L: {}", *obstacle));
  return !obstacle;
}

void build(const Section& section, const Catalogue<PotentialKind>&, OpenSystem& system, Mistakes& mistakes) {
  const std::vector<std::string>& coordinates = section.texts("coordinates");
  system.particles = static_cast<int>(coordinates.size());
  if (coordinates.empty()) {
    mistakes.add(section.where("coordinates"), "`coordinates` is empty: a system has at least one");
    return;
  }
  FormulaScope scope = read_coordinates(section, mistakes);
  const std::size_t before = mistakes.count();
  std::optional<Expression> L;
  where_readable([&] { L = read_formula(section, "L", scope, mistakes); });
  read_start(section, system, mistakes);
  system.mass = Eigen::VectorXd::Zero(system.size());
  system.potential = std::make_shared<QuadraticPotential>(Eigen::MatrixXd::Zero(system.size(), system.size()));
  system.damping = read_damping_matrix(section, system.particles, 1, mistakes);
  if (!L || mistakes.count() > before) throw UnreadableValue();
  try {
    system.lagrangian = std::make_shared<FormulaLagrangian>(scope.graph, *L, system.size());
    if (!is_defined_at_start(section, scope, *L, system, mistakes)) return;
    system.formulas = fmt::format("L = {}", excerpt(section.text("L")));
    read_observables(section, scope, system, mistakes);
  } catch (const FormulaTooLarge& error) {
    mistakes.add(section.where("L"), fmt::format("L: {}", error.what()));
  }
}

}  // namespace

SystemKind lagrangian_kind() {
  std::vector<Parameter> parameters = {
      coordinates_parameter(),
      {.name = "L",
       .type = ValueType::text,
       .units = "J",
       .doc = "the Lagrangian, a formula in the coordinates, their velocities (`x_dot` is that of `x`) and time `t`",
       .required = true},
      formula_parameters(),
      observables_parameter(),
      damping_matrix_parameter()};
  for (Parameter& parameter : start_parameters()) parameters.push_back(std::move(parameter));
  return {
      {.name = "lagrangian",
       .summary = "coordinates of your own with a Lagrangian typed as a formula",
       .equation = "d/dt dL/dx_i' = dL/dx_i - (C x')_i",
       .source = "your formula; martin2018, section 2",
       .parameters = std::move(parameters),
       .notes = "Masses may depend on positions, as those of a double pendulum do. Each coordinate is a particle with "
                "one axis in the results, its momentum dL/dx', and energy_particles is x' dL/dx' - L; energy_work, "
                "where L depends on time, is what that brings. Run by gamma, gauss, lobatto, rk4, the Euler methods "
                "and exact; splittings need constant masses. Where d2L/dx'2 is singular, at the start or on the way, "
                "no motion is determined: an error."},
      build};
}

}  // namespace bathline
