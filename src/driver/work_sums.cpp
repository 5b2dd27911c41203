// The work of the drag, summed by rules that are the same for every integrator.
#include "driver/work_sums.hpp"

#include <stdexcept>

#include "integrate/tableau.hpp"

namespace bathline {

using Eigen::VectorXd;

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
  if (!problem.is_damped()) return;
  const VectorXd& mass = problem.system().mass;
  const VectorXd v = problem.p.cwiseQuotient(mass);
  VectorXd forces(v.size());
  problem.forces(problem.q, v, forces);
  End now{time, power_at(problem, problem.q, v), problem.q, v, forces.cwiseQuotient(mass)};
  if (last_) {
    const double dt = time - last_->time;
    sums_[0] += dt * last_->power;
    sums_[1] += 0.5 * dt * (last_->power + now.power);
    sums_[2] += dt * power_at(problem, 0.5 * (last_->q + now.q), (now.q - last_->q) / dt);
    sums_[3] += hermite_integral(problem, *last_, now);
  }
  last_ = std::move(now);
}

std::vector<double> WorkSums::memory() const {
  if (!last_) return {};
  std::vector<double> memory(sums_.begin(), sums_.end());
  memory.insert(memory.end(), {last_->time, last_->power});
  for (const VectorXd* vector : {&last_->q, &last_->v, &last_->a}) {
    memory.insert(memory.end(), vector->begin(), vector->end());
  }
  return memory;
}

void WorkSums::remember(std::span<const double> memory, Eigen::Index size) {
  if (memory.empty()) return;
  constexpr std::size_t head = rules.size() + 2;
  const auto count = static_cast<std::size_t>(size);
  if (memory.size() != head + 3 * count) throw std::out_of_range("recorder/work");
  std::copy_n(memory.begin(), rules.size(), sums_.begin());
  const auto vector = [&](std::size_t index) {
    return VectorXd(Eigen::Map<const VectorXd>(memory.data() + head + index * count, size));
  };
  last_ = End{memory[rules.size()], memory[rules.size() + 1], vector(0), vector(1), vector(2)};
}

}  // namespace bathline
