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
                               std::int64_t every, ResumableTasks& tasks)
    : experiment_(experiment),
      case_(this_case),
      plan_(plan),
      tasks_(tasks),
      run_(experiment, this_case, plan.cost, every),
      numbers_(controls()->numbers().size()) {
  if (plan.free_end) run_.differentiate_by_end();
  if (numbers_ == 0) return;
  const auto drive = controls()->with(side_of(this_case.scheme));
  VectorXd weights = VectorXd::Zero(numbers_);
  const VectorXd ones = VectorXd::Ones(static_cast<Index>(drive->controls().size()));
  for (std::int64_t step = 0; step < this_case.steps; ++step) {
    for (const StepPoint& point : points_of_step(this_case.scheme)) {
      const double weight = point.weight * this_case.step;
      drive->pull_back((static_cast<double>(step) + point.node) * this_case.step, weight * ones, weights);
    }
  }
  // Numbers without any effect, such as that at the start where no force is evaluated, stay where they are.
  scale_ = weights.cwiseMax(1e-3 * weights.mean()).cwiseSqrt();
}

VectorXd ControlProblem::start(int index) const {
  const ParticleSystem& system = experiment_.system();
  const auto drive = controls();
  VectorXd unknowns(size());
  unknowns.head(numbers_) = drive->numbers();
  const RngKey key = streams::control_starts.key(experiment_.seed(), static_cast<std::uint32_t>(index));
  Index first = 0;
  for (const Control& control : drive->controls()) {
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
  for (const auto drive = controls(); const Control& control : drive->controls()) {
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
  unknowns.head(numbers_).array() /= scale_.array();
  return unknowns;
}

VectorXd ControlProblem::scaled(const VectorXd& unknowns) const {
  VectorXd x = unknowns;
  x.head(numbers_).array() *= scale_.array();
  return x;
}

std::shared_ptr<const ControlledDrive> ControlProblem::controls() const {
  const ParticleSystem& system = experiment_.system();
  if (auto drive = controls_of(system)) return drive;
  return std::make_shared<ControlledDrive>(static_cast<int>(system.size()), system.drive, std::vector<Control>());
}

std::shared_ptr<const ControlledDrive> ControlProblem::controls_with(const VectorXd& x) const {
  const auto drive = controls()->with(VectorXd(x.head(numbers_).cwiseQuotient(scale_)));
  return plan_.free_end ? drive->lasting(end_of(x)) : drive;
}

double ControlProblem::end_of(const VectorXd& x) const {
  return plan_.free_end ? x[size() - 1] : case_.step * static_cast<double>(case_.steps);
}

VectorXd ControlProblem::at_end() const { return run_.variables(run_.end().time, run_.end().q, run_.end().v); }

SearchReport ControlProblem::search(const SearchPoint& start, const SearchProgress& progress) {
  return search_on_root(
      experiment_.communicator(), [&](const VectorXd& request) { answer(request); },
      [&](const Ask& ask) {
        ask_ = ask;
        return minimise(*this, start, bounds(), plan_.limits, progress);
      });
}

double ControlProblem::value(const VectorXd& x, VectorXd& constraints) {
  VectorXd request(1 + x.size());
  request << 0.0, x;
  ask_(request);
  constraints = Eigen::Map<const VectorXd>(answer_.data() + 1, plan_.conditions.size());
  return answer_[0];
}

void ControlProblem::gradient(const VectorXd& weights, VectorXd& slopes) {
  VectorXd request(1 + weights.size());
  request << 1.0, weights;
  ask_(request);
  slopes = Eigen::Map<const VectorXd>(answer_.data(), size());
}

void ControlProblem::answer(const VectorXd& request) {
  const bool is_value = request[0] == 0.0, is_root = experiment_.communicator().is_root();
  const VectorXd numbers = request.tail(request.size() - 1);
  if (is_value) {
    x_ = numbers;
    has_run_ = false;
  }
  VectorXd found = VectorXd::Zero(is_value ? 1 + plan_.conditions.size() : size());
  const auto size = static_cast<std::size_t>(found.size());
  tasks_.next(case_.name, (is_value ? 1 : 2) * case_.steps, size, answer_, [&](std::vector<double>& result) {
    if (is_value) {
      if (run()) {
        found[0] = std::numeric_limits<double>::infinity();
      } else if (is_root) {
        found << run_.cost(), errors();
      }
    } else {
      CostGradient gradient;
      if (!pull_back(numbers, gradient) && is_root) found = slopes_of(gradient);
    }
    result.assign(found.begin(), found.end());
    return std::nullopt;
  });
}

std::optional<Failure> ControlProblem::run_at(const SearchPoint& point) {
  x_ = point.x;
  if (std::optional<Failure> failure = run()) return failure;
  if (!experiment_.communicator().broadcast(std::isfinite(run_.cost()))) {
    return Failure{case_.steps, 0.0, "the run with the first controls has no finite cost"};
  }
  CostGradient ignored;
  return pull_back(point.multipliers, ignored);
}

std::optional<Failure> ControlProblem::run() {
  has_run_ = true;
  ParticleSystem system = experiment_.system();
  if (numbers_ > 0) set_controls(system, controls_with(x_));
  for (Index i = 0; i < starts(); ++i) {
    const Index variable = plan_.free_start[static_cast<std::size_t>(i)].variable;
    (variable < system.size() ? system.q0[variable] : system.v0[variable - system.size()]) = x_[numbers_ + i];
  }
  return run_.run(system, end_of(x_) / static_cast<double>(case_.steps));
}

std::optional<Failure> ControlProblem::pull_back(const VectorXd& weights, CostGradient& gradient) {
  if (!has_run_) run();
  VectorXd by_end;
  if (experiment_.communicator().is_root()) by_end = plan_.conditions.pull_back(at_end(), weights);
  return run_.pull_back(by_end, gradient);
}

VectorXd ControlProblem::slopes_of(const CostGradient& gradient) const {
  VectorXd slopes(size());
  slopes.head(numbers_) = gradient.controls.cwiseQuotient(scale_);
  const Index dofs = experiment_.system().size();
  for (Index i = 0; i < starts(); ++i) {
    const Index variable = plan_.free_start[static_cast<std::size_t>(i)].variable;
    slopes[numbers_ + i] = variable < dofs ? gradient.q0[variable] : gradient.v0[variable - dofs];
  }
  if (plan_.free_end) slopes[size() - 1] = gradient.end;
  return slopes;
}

}  // namespace bathline
