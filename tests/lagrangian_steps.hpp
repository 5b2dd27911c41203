// Steps of systems with a Lagrangian of any form, for tests.
#pragma once

#include <string>

#include "method_cases.hpp"
#include "scene.hpp"
#include "self_world.hpp"

namespace bathline {

/// The scheme that a method is to such systems; `herglotz` is that of the midpoint Lagrangian.
inline Scheme scheme_of(const std::string& name) {
  if (name == "herglotz") {
    Section options;
    options.set("lagrangian", std::string("midpoint"), {});
    return methods().find("herglotz")->lagrangian_scheme(options);
  }
  const MethodCase& one = method_case(name);
  return one.method->lagrangian_scheme ? one.method->lagrangian_scheme(one.options) : one.scheme;
}

/// A system on its own, at its start; without damping where that is empty.
inline Problem problem_of(const ParticleSystem& system, const Eigen::MatrixXd& damping = {}) {
  Scene scene;
  scene.system = system;
  scene.damping = damping;
  return make_problem(scene, self_world());
}

}  // namespace bathline
