// Quintic Hermite interpolation between two states.
// Tested by tests/study/section_test.cpp.
#include "driver/quintic_hermite.hpp"

namespace bathline {

using Eigen::VectorXd;

HermiteNode hermite_node(const Problem& problem, double time) {
  const VectorXd v = problem.velocity();
  VectorXd forces(v.size());
  problem.forces(problem.q, v, forces);
  if (LegendreTransform* legendre = problem.legendre(); legendre != nullptr) {
    return {time, problem.q, v, legendre->acceleration(problem.q, v, time, problem.z, forces)};
  }
  return {time, problem.q, v, forces.cwiseQuotient(problem.system().mass)};
}

// The basis functions of the two positions sum to one, so that only the difference of the positions enters.
PathPoint hermite_interpolate(const HermiteNode& from, const HermiteNode& to, double s) {
  const double dt = to.time - from.time;
  const VectorXd dq = to.q - from.q;
  const double s2 = s * s, s3 = s2 * s, s4 = s2 * s2, s5 = s3 * s2;
  return {from.q + (10 * s3 - 15 * s4 + 6 * s5) * dq + dt * (s - 6 * s3 + 8 * s4 - 3 * s5) * from.v +
              dt * (-4 * s3 + 7 * s4 - 3 * s5) * to.v + dt * dt / 2 * (s2 - 3 * s3 + 3 * s4 - s5) * from.a +
              dt * dt / 2 * (s3 - 2 * s4 + s5) * to.a,
          (30 * s2 - 60 * s3 + 30 * s4) / dt * dq + (1 - 18 * s2 + 32 * s3 - 15 * s4) * from.v +
              (-12 * s2 + 28 * s3 - 15 * s4) * to.v + dt / 2 * (2 * s - 9 * s2 + 12 * s3 - 5 * s4) * from.a +
              dt / 2 * (3 * s2 - 8 * s3 + 5 * s4) * to.a};
}

}  // namespace bathline
