// The work of the drag, summed by rules that are the same for every integrator.
// Tested by tests/study/trajectory_test.cpp.
#include "driver/work_sums.hpp"

#include <span>
#include <vector>

#include "integrate/tableau.hpp"

namespace bathline {

using Eigen::VectorXd;

WorkSums::WorkSums(const Problem& problem) : is_damped_(problem.is_damped()) {
  last_.q = last_.v = last_.a = VectorXd::Zero(problem.q.size());
}

double WorkSums::power_at(const Problem& problem, const VectorXd& q, const VectorXd& v) {
  VectorXd drag(v.size());
  problem.drag(q, v, drag);
  return -v.dot(drag);
}

// With s from 0 to 1 along the interval: the basis functions of Hermite's polynomial of degree 5 and their slopes.
// Those of the two positions add up to one, so that only their difference counts.
double WorkSums::hermite_integral(const Problem& problem, const End& from, const End& to) {
  static const VectorXd nodes = lobatto_nodes(4);
  static const VectorXd weights = collocation_weights(nodes);
  const double dt = to.time - from.time;
  const VectorXd dq = to.q - from.q;
  double integral = dt * (weights[0] * from.power + weights[3] * to.power);
  for (const int i : {1, 2}) {
    const double s = nodes[i], s2 = s * s, s3 = s2 * s, s4 = s2 * s2, s5 = s3 * s2;
    const VectorXd q = from.q + (10 * s3 - 15 * s4 + 6 * s5) * dq + dt * (s - 6 * s3 + 8 * s4 - 3 * s5) * from.v +
                       dt * (-4 * s3 + 7 * s4 - 3 * s5) * to.v + dt * dt / 2 * (s2 - 3 * s3 + 3 * s4 - s5) * from.a +
                       dt * dt / 2 * (s3 - 2 * s4 + s5) * to.a;
    const VectorXd v = (30 * s2 - 60 * s3 + 30 * s4) / dt * dq + (1 - 18 * s2 + 32 * s3 - 15 * s4) * from.v +
                       (-12 * s2 + 28 * s3 - 15 * s4) * to.v + dt / 2 * (2 * s - 9 * s2 + 12 * s3 - 5 * s4) * from.a +
                       dt / 2 * (3 * s2 - 8 * s3 + 5 * s4) * to.a;
    integral += dt * weights[i] * power_at(problem, q, v);
  }
  return integral;
}

void WorkSums::go_on(const Problem& problem, double time) {
  if (!is_damped_) return;
  const VectorXd& mass = problem.system().mass;
  const VectorXd v = problem.p.cwiseQuotient(mass);
  VectorXd forces(v.size());
  problem.forces(problem.q, v, forces);
  End now{time, power_at(problem, problem.q, v), problem.q, v, forces.cwiseQuotient(mass)};
  if (has_begun_) {
    const double dt = time - last_.time;
    sums_[0] += dt * last_.power;
    sums_[1] += 0.5 * dt * (last_.power + now.power);
    sums_[2] += dt * power_at(problem, 0.5 * (last_.q + now.q), (now.q - last_.q) / dt);
    sums_[3] += hermite_integral(problem, last_, now);
  }
  last_ = std::move(now);
  has_begun_ = true;
}

void WorkSums::visit(Archive& archive) {
  if (!is_damped_) return;
  std::vector<std::span<double>> parts = {sums_, {&last_.time, 1}, {&last_.power, 1}};
  for (VectorXd* vector : {&last_.q, &last_.v, &last_.a}) {
    parts.emplace_back(vector->data(), static_cast<std::size_t>(vector->size()));
  }
  archive.numbers("work", parts);
  has_begun_ = true;  // there is no checkpoint before the first record
}

}  // namespace bathline
