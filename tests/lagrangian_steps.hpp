// Steps of systems with a Lagrangian of any form, for tests.
#pragma once

#include <string>

#include "method_cases.hpp"
#include "scene.hpp"
#include "self_world.hpp"

namespace bathline {

/// The scheme of a method for such systems; `herglotz` is that of the midpoint Lagrangian.
inline Scheme scheme_of(const std::string& name) {
  if (name == "herglotz") {
    Section options;
    options.set("lagrangian", std::string("midpoint"), {});
    return methods().find("herglotz")->lagrangian_scheme(options);
  }
  const MethodCase& named = method_case(name);
  return named.method->lagrangian_scheme ? named.method->lagrangian_scheme(named.options) : named.scheme;
}

/// A system on its own, at its start; without damping where that is empty.
inline Problem problem_of(const ParticleSystem& system, const Eigen::MatrixXd& damping = {}) {
  Scene scene;
  scene.system = system;
  scene.damping = damping;
  return make_problem(scene, self_world());
}

}  // namespace bathline
