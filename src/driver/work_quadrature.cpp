// The work of the drag by quadrature rules that are the same for every integrator.
// Tested by tests/study/trajectory_test.cpp.
#include "driver/work_quadrature.hpp"

#include <span>
#include <vector>

#include "methods/tableau.hpp"

namespace bathline {

using Eigen::VectorXd;

WorkQuadrature::WorkQuadrature(const Problem& problem) : is_damped_(problem.is_damped()) {
  last_.q = last_.v = last_.a = VectorXd::Zero(problem.q.size());
}

double WorkQuadrature::power_at(const Problem& problem, const VectorXd& q, const VectorXd& v) {
  VectorXd drag(v.size());
  problem.drag(q, v, drag);
  return -v.dot(drag);
}

double WorkQuadrature::hermite_integral(const Problem& problem, const End& from, const End& to) {
  static const VectorXd nodes = lobatto_nodes(4);
  static const VectorXd weights = collocation_weights(nodes);
  const double dt = to.time - from.time;
  double integral = dt * (weights[0] * from.power + weights[3] * to.power);
  for (const int i : {1, 2}) {
    const PathPoint point = hermite_interpolate(from, to, nodes[i]);
    integral += dt * weights[i] * power_at(problem, point.q, point.v);
  }
  return integral;
}

void WorkQuadrature::update(const Problem& problem, double time) {
  if (!is_damped_) return;
  End now{hermite_node(problem, time), 0.0};
  now.power = power_at(problem, now.q, now.v);
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

void WorkQuadrature::serialise(Archive& archive) {
  if (!is_damped_) return;
  std::vector<std::span<double>> parts = {sums_, {&last_.time, 1}, {&last_.power, 1}};
  for (VectorXd* vector : {&last_.q, &last_.v, &last_.a}) {
    parts.emplace_back(vector->data(), static_cast<std::size_t>(vector->size()));
  }
  archive.numbers("work", parts);
  has_begun_ = true;  // a checkpoint is written after the first record
}

}  // namespace bathline
