// Runs and co-runs for a search on rank 0.
// Tested by tests/costates/optimal_control_test.cpp.
#include "study/with_costates/control_problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "random/counter_rng.hpp"
#include "random/streams.hpp"

namespace bathline {

using Eigen::Index;
using Eigen::VectorXd;

ControlProblem::ControlProblem(const Experiment& experiment, const Case& this_case, const ControlPlan& plan,
                               std::int64_t every)
    : experiment_(experiment),
      case_(this_case),
      plan_(plan),
      run_(experiment, this_case, plan.cost, every),
      numbers_(controls_of(experiment.system())->numbers().size()) {
  if (plan.free_end) run_.differentiate_by_end();
  const auto drive = controls_of(experiment.system())->with(side_of(this_case.scheme));
  const ControlledDrive& controls = *drive;
  VectorXd weights = VectorXd::Zero(numbers_);
  const VectorXd ones = VectorXd::Ones(static_cast<Index>(controls.controls().size()));
  for (std::int64_t step = 0; step < this_case.steps; ++step) {
    for (const StepPoint& point : points_of_step(this_case.scheme)) {
      const double weight = point.weight * this_case.step;
      controls.pull_back((static_cast<double>(step) + point.node) * this_case.step, weight * ones, weights);
    }
  }
  // Numbers without any effect, such as that at the start where no force is evaluated, stay where they are.
  scale_ = weights.cwiseMax(1e-3 * weights.mean()).cwiseSqrt();
}

VectorXd ControlProblem::start(int index) const {
  const ParticleSystem& system = experiment_.system();
  const ControlledDrive& controls = *controls_of(system);
  VectorXd unknowns(size());
  unknowns.head(numbers_) = controls.numbers();
  const RngKey key = streams::convergence_starts.key(experiment_.seed(), static_cast<std::uint32_t>(index));
  Index first = 0;
  for (const Control& control : controls.controls()) {
    // Splines of few random numbers: rough controls are no better starts than none.
    const SplineBasis rough(3, 4, control.basis.end());
    VectorXd bumps(rough.size());
    for (Index i = 0; i < bumps.size(); ++i) {
      bumps[i] = index == 0 ? 0.0 : plan_.spread * normal_pair(key, static_cast<std::uint64_t>(first + i)).first;
    }
    const Control added{"", 0, rough, bumps};
    for (Index i = 0; i < control.numbers.size(); ++i) {
      double& number = unknowns[first + i];
      number += added.value(control.basis.node(static_cast<int>(i)));
      number = std::clamp(number, control.lower, control.upper);
    }
    first += control.numbers.size();
  }
  for (Index i = 0; i < starts(); ++i) {
    const Index variable = plan_.free_start[static_cast<std::size_t>(i)].variable;
    unknowns[numbers_ + i] = variable < system.size() ? system.q0[variable] : system.v0[variable - system.size()];
  }
  if (plan_.free_end) {
    unknowns[unknowns.size() - 1] = std::clamp(case_.end, plan_.free_end->first, plan_.free_end->second);
  }
  return scaled(unknowns);
}

Bounds ControlProblem::bounds() const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Bounds bounds{VectorXd::Constant(size(), -infinity), VectorXd::Constant(size(), infinity)};
  Index first = 0;
  for (const Control& control : controls_of(experiment_.system())->controls()) {
    const Index count = control.numbers.size();
    bounds.lower.segment(first, count) = control.lower * scale_.segment(first, count);
    bounds.upper.segment(first, count) = control.upper * scale_.segment(first, count);
    first += count;
  }
  if (plan_.free_end) {
    bounds.lower[size() - 1] = plan_.free_end->first;
    bounds.upper[size() - 1] = plan_.free_end->second;
  }
  return bounds;
}

VectorXd ControlProblem::unscaled(const VectorXd& x) const {
  VectorXd unknowns = x;
  unknowns.head(numbers_) = numbers_of(x);
  return unknowns;
}

VectorXd ControlProblem::scaled(const VectorXd& unknowns) const {
  VectorXd x = unknowns;
  x.head(numbers_).array() *= scale_.array();
  return x;
}

double ControlProblem::end_of(const VectorXd& x) const {
  return plan_.free_end ? x[size() - 1] : case_.step * static_cast<double>(case_.steps);
}

VectorXd ControlProblem::at_end() const {
  const PathRecord& end = run_.records().back();
  return run_.variables(end.time, end.q, end.v);
}

double ControlProblem::value(const VectorXd& x, VectorXd& constraints) {
  ask(Task::run, x);
  constraints.setZero(plan_.conditions.size());
  if (run(x)) return std::numeric_limits<double>::infinity();
  constraints = plan_.conditions.errors(at_end());
  return run_.cost();
}

void ControlProblem::gradient(const VectorXd& weights, VectorXd& slopes) {
  const VectorXd by_end = plan_.conditions.pull_back(at_end(), weights);
  ask(Task::pull_back, by_end);
  slopes.setZero(size());
  CostGradient gradient;
  if (run_.pull_back(by_end, gradient)) return;
  slopes.head(numbers_) = gradient.controls.cwiseQuotient(scale_);
  const Index dofs = experiment_.system().size();
  for (Index i = 0; i < starts(); ++i) {
    const Index variable = plan_.free_start[static_cast<std::size_t>(i)].variable;
    slopes[numbers_ + i] = variable < dofs ? gradient.q0[variable] : gradient.v0[variable - dofs];
  }
  if (plan_.free_end) slopes[size() - 1] = gradient.end;
}

void ControlProblem::ask(Task task, const VectorXd& numbers) const {
  shared(static_cast<std::int64_t>(task));
  if (task == Task::done || task == Task::checkpoint) return;
  shared(numbers.size());
  VectorXd copy = numbers;
  communicator().broadcast(std::span<double>(copy.data(), static_cast<std::size_t>(copy.size())));
}

void ControlProblem::follow(const std::function<void()>& checkpoint) {
  while (true) {
    const auto task = static_cast<Task>(shared(0));
    if (task == Task::done) return;
    if (task == Task::checkpoint) {
      checkpoint();
      continue;
    }
    const VectorXd numbers = received();
    CostGradient ignored;
    if (task == Task::run) {
      run(numbers);
    } else {
      run_.pull_back(numbers, ignored);
    }
  }
}

std::optional<Failure> ControlProblem::run(const VectorXd& x) {
  ParticleSystem system = experiment_.system();
  system.drive = controls_of(system)->with(numbers_of(x));
  if (plan_.free_end) system.drive = controls_of(system)->lasting(end_of(x));
  for (Index i = 0; i < starts(); ++i) {
    const Index variable = plan_.free_start[static_cast<std::size_t>(i)].variable;
    (variable < system.size() ? system.q0[variable] : system.v0[variable - system.size()]) = x[numbers_ + i];
  }
  return run_.run(system, end_of(x) / static_cast<double>(case_.steps));
}

std::int64_t ControlProblem::shared(std::int64_t number) const {
  communicator().broadcast(std::span<std::int64_t>(&number, 1));
  return number;
}

VectorXd ControlProblem::received() const {
  VectorXd numbers(shared(0));
  communicator().broadcast(std::span<double>(numbers.data(), static_cast<std::size_t>(numbers.size())));
  return numbers;
}

}  // namespace bathline
