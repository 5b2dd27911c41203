// Systems for tests whose Lagrangian is typed.
#pragma once

#include <string>
#include <vector>

#include "formula/parser.hpp"
#include "model/formula/lagrangian.hpp"
#include "model/particle_system.hpp"

namespace bathline {

/// L in `coordinates`, their velocities `x_dot`, `t` and `z`, from q0 with v0, and z0 where it depends on z.
inline ParticleSystem typed_system(const std::string& L, const std::vector<std::string>& coordinates,
                                   const Eigen::VectorXd& q0, const Eigen::VectorXd& v0, double z0 = 0.0) {
  ExpressionGraph graph;
  FormulaNames names;
  int variables = 0;
  for (const std::string suffix : {"", "_dot"}) {
    for (const std::string& name : coordinates) names[name + suffix] = graph.variable(variables++);
  }
  for (const char* name : {"t", "z"}) names[name] = graph.variable(variables++);
  ParticleSystem system;
  system.particles = static_cast<int>(coordinates.size());
  system.mass = Eigen::VectorXd::Zero(system.size());
  system.potential = std::make_shared<QuadraticPotential>(Eigen::MatrixXd::Zero(system.size(), system.size()));
  system.lagrangian = std::make_shared<FormulaLagrangian>(graph, parse_formula(L, names, graph), system.size());
  if (system.lagrangian->depends_on_action()) system.contact = Contact{.gamma = 0.0, .z0 = z0, .q1 = {}};
  system.q0 = q0;
  system.v0 = v0;
  return system;
}

/// Two rods of length 1 with masses 1 at their ends in a field of 9.81, by their angles from the vertical.
inline ParticleSystem double_pendulum() {
  return typed_system("a_dot^2 + b_dot^2/2 + a_dot*b_dot*cos(a - b) + 2*9.81*cos(a) + 9.81*cos(b)", {"a", "b"},
                      Eigen::Vector2d(0.8, -0.5), Eigen::Vector2d(0.2, 0.4));
}

}  // namespace bathline
