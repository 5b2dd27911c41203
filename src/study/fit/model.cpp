// Runs of a recipe with other numbers in it.
// Tested by tests/study/fit_test.cpp.
#include "study/fit/model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "driver/quintic_hermite.hpp"
#include "model/variation/control.hpp"
#include "steppers/transposed/tangent_run.hpp"

namespace bathline {

using Eigen::VectorXd;

std::optional<std::int64_t> whole_steps(double time, double h) {
  const double steps = time / h, nearest = std::round(steps);
  if (std::abs(steps - nearest) > 1e-9 * std::max(1.0, nearest)) return std::nullopt;
  return static_cast<std::int64_t>(nearest);
}

namespace {

/// A case of an experiment, with other numbers in its recipe and perhaps a shorter step.
struct ChangedCase {
  Recipe recipe;
  Mistakes mistakes = {};
  Experiment experiment;
  // Without mistakes:
  const Case* this_case = nullptr;
  double h = 0.0;
  std::optional<CostVariables> variables = {};

  ChangedCase(Recipe changed, const Program& program, int refinement)
      : recipe(std::move(changed)), experiment(recipe, program, mistakes) {
    if (!mistakes.empty()) return;
    this_case = &experiment.cases().front();
    h = this_case->step / refinement;
    variables.emplace(experiment.system(), recipe.system);
  }
  Problem prepared(const ParticleSystem& system) const {
    Problem problem = experiment.make_problem(*this_case, h, this_case->closed, system);
    problem.prepare(experiment.seed());
    return problem;
  }
  /// What observables are formulas of.
  VectorXd state(double time, const VectorXd& q, const VectorXd& v) const {
    const auto controls = controls_of(experiment.system());
    return variables->at(q, v, time, controls ? controls->values(time) : VectorXd());
  }
};

}  // namespace

FitModel::FitModel(Recipe recipe, const Program& program, const Case& this_case, const FitData& data,
                   std::vector<FitParameter> parameters, int refinement)
    : program_(program),
      data_(data),
      parameters_(std::move(parameters)),
      refinement_(refinement),
      recipe_(std::move(recipe)),
      steps_(static_cast<std::int64_t>(std::ceil(data.times.back() / this_case.step)) * refinement) {
  recipe_.integrators = {this_case.options};
  recipe_.claims.clear();
  recipe_.text.clear();
  recipe_.resolved.clear();
  Mistakes mistakes;
  const Experiment experiment(recipe_, program_, mistakes);
  has_tangents_ = mistakes.empty() && supports_tangents(experiment);
  if (!has_tangents_) return;
  const CostVariables variables(experiment.system(), recipe_.system);
  forces_.emplace(recipe_.system, variables, mistakes);
  if (!mistakes.empty()) forces_.reset();
  const std::vector<std::string>& names = variables.parameter_names();
  for (const FitParameter& parameter : parameters_) {
    std::vector<Eigen::Index>& formulas = formulas_.emplace_back();
    for (const NumberAt& place : parameter.places) {
      const std::vector<std::string>& path = place.path();
      if (path.size() != 3 || path[0] != "system" || path[1] != "parameters") continue;
      formulas.push_back(std::find(names.begin(), names.end(), path[2]) - names.begin());
    }
  }
}

std::int64_t FitModel::steps() const {
  return steps_ * (1 + (has_tangents_ ? 1 : 2) * static_cast<std::int64_t>(parameters_.size()));
}

bool FitModel::supports_tangents(const Experiment& experiment) const {
  const ParticleSystem& system = experiment.system();
  const Case& this_case = experiment.cases().front();
  const double h = this_case.step / refinement_;
  constexpr double max_path = 1e9;  // bytes of the path and of what a parameter changes on it
  if (system.lagrangian || system.contact || system.magnetic_field != 0.0 || why_no_pull_back(this_case.scheme) ||
      24.0 * static_cast<double>(system.size()) * static_cast<double>(points_of_step(this_case.scheme).size()) *
              static_cast<double>(steps_) >
          max_path ||
      !std::all_of(data_.times.begin(), data_.times.end(), [&](double time) { return whole_steps(time, h); })) {
    return false;
  }
  const Problem problem = experiment.make_problem(this_case, h, this_case.closed);
  const auto& environments = problem.environments();
  return problem.has_linear_environments() &&
         std::all_of(environments.begin(), environments.end(),
                     [](const auto& environment) { return environment->attachment().nonlinear() == nullptr; });
}

Recipe FitModel::recipe_at(const VectorXd& x) const {
  Recipe recipe = recipe_;
  for (std::size_t j = 0; j < parameters_.size(); ++j) {
    for (const NumberAt& place : parameters_[j].places) place.set(recipe, x[static_cast<Eigen::Index>(j)]);
  }
  return recipe;
}

std::optional<VectorXd> FitModel::values_at(const VectorXd& x) const {
  const ChangedCase here(recipe_at(x), program_, refinement_);
  if (!here.mistakes.empty()) return std::nullopt;
  const double h = here.h;
  Problem problem = here.prepared(here.experiment.system());
  const std::unique_ptr<Stepper> stepper = make_stepper(here.this_case->scheme, problem, h);
  const bool is_root = problem.communicator().is_root();
  VectorXd values(data_.count());
  Eigen::Index next = 0;
  std::int64_t done = 0;
  const auto node_at = [&](std::int64_t step, HermiteNode& node) {
    if (step > done && stepper->advance(step - done)) return false;
    done = std::max(done, step);
    if (is_root) node = hermite_node(problem, static_cast<double>(step) * h);
    return true;
  };
  HermiteNode from, to;
  std::int64_t from_step = -1, to_step = -1;
  for (const double time : data_.times) {
    // Times within round-off of a step belong to it.
    const double steps = time / h;
    const std::optional<std::int64_t> whole = whole_steps(time, h);
    const bool is_at_step = whole.has_value();
    const std::int64_t first = whole.value_or(static_cast<std::int64_t>(std::floor(steps)));
    if (first == to_step) {
      std::swap(from, to);
      std::swap(from_step, to_step);
    } else if (first != from_step) {
      if (!node_at(first, from)) return std::nullopt;
      from_step = first;
    }
    if (!is_at_step && to_step != first + 1) {
      if (!node_at(first + 1, to)) return std::nullopt;
      to_step = first + 1;
    }
    if (!is_root) continue;
    const PathPoint point =
        is_at_step ? PathPoint{from.q, from.v} : hermite_interpolate(from, to, steps - static_cast<double>(first));
    const VectorXd all = here.state(time, point.q, point.v);
    for (const CostFormula& formula : data_.formulas) {
      values[next] = data_.weight_at(next) * formula.value(all);
      ++next;
    }
  }
  problem.communicator().broadcast(std::span<double>(values.data(), static_cast<std::size_t>(values.size())));
  if (!values.allFinite()) return std::nullopt;
  return values;
}

std::optional<Prediction> FitModel::predict_by_differences(const VectorXd& x) const {
  std::optional<VectorXd> here = values_at(x);
  if (!here) return std::nullopt;
  Prediction prediction{std::move(*here), Eigen::MatrixXd(data_.count(), x.size())};
  for (Eigen::Index j = 0; j < x.size(); ++j) {
    const FitParameter& parameter = parameters_[static_cast<std::size_t>(j)];
    const double d =
        std::cbrt(3.0 * std::numeric_limits<double>::epsilon()) * std::max(std::abs(x[j]), parameter.scale);
    const bool is_below = x[j] + d > parameter.upper, is_above = x[j] - d < parameter.lower;
    const auto moved = [&](double by) {
      VectorXd there = x;
      there[j] += by;
      return values_at(there);
    };
    const double side = is_below ? -d : d;
    const std::optional<VectorXd> one = moved(side), other = moved(is_below || is_above ? 2.0 * side : -side);
    if (!one || !other) return std::nullopt;
    if (is_below || is_above) {
      prediction.slopes.col(j) = (4.0 * *one - 3.0 * prediction.values - *other) / (2.0 * side);
    } else {
      prediction.slopes.col(j) = (*one - *other) / (2.0 * side);
    }
  }
  return prediction;
}

std::optional<PathChange> FitModel::change_by(Eigen::Index j, const VectorXd& x, const FinishedRun& run,
                                              const CostVariables& variables) const {
  const FitParameter& parameter = parameters_[static_cast<std::size_t>(j)];
  const std::vector<Eigen::Index>& formulas = formulas_[static_cast<std::size_t>(j)];
  const ParticleSystem& system = run.problem.system();
  if (forces_ && formulas.size() == parameter.places.size()) {
    const bool is_root = run.problem.communicator().is_root();
    const VectorXd zero = VectorXd::Zero(system.size());
    const Eigen::Index count_of_points = is_root ? static_cast<Eigen::Index>(run.path.points()) - 1 : 0;
    PathChange change{zero, zero, Eigen::MatrixXd::Zero(zero.size(), count_of_points)};
    if (!is_root) return change;
    const auto controls = controls_of(system);
    PathPoints path(run);
    Eigen::MatrixXd states, by_parameter;
    const auto count = std::ssize(variables.parameter_names());
    for (std::int64_t step = 0; step < run.steps; step += path.steps_at_once()) {
      const ForcePoints& points = path.of_steps(step, std::min(path.steps_at_once(), run.steps - step));
      variables.set(points.q, points.v, points.t, controls.get(), states);
      forces_->by_parameter(states, by_parameter);
      for (Eigen::Index i = 0; i < system.size(); ++i) {
        auto accelerations = change.accelerations.row(i).segment(step * path.count(), points.t.size());
        for (const Eigen::Index formula : formulas) {
          accelerations += by_parameter.col(i * count + formula).transpose() / system.mass[i];
        }
      }
    }
    return change;
  }
  ChangedNumber number{x[j], parameter.scale, "", parameter.lower, parameter.upper};
  for (const NumberAt& place : parameter.places) {
    if (!place.environment().empty() && !run.problem.environments().empty()) {
      number.environment = place.environment();
    }
  }
  return change_on_path(run, number, [&](double value) -> std::optional<Problem> {
    VectorXd changed = x;
    changed[j] = value;
    const ChangedCase other(recipe_at(changed), program_, refinement_);
    if (!other.mistakes.empty()) return std::nullopt;
    return other.prepared(other.experiment.system());
  });
}

std::optional<Prediction> FitModel::predict_by_tangents(const VectorXd& x) const {
  const ChangedCase here(recipe_at(x), program_, refinement_);
  if (!here.mistakes.empty()) return std::nullopt;
  const Case& this_case = *here.this_case;
  const double h = here.h;
  Problem problem = here.prepared(here.experiment.system());
  const bool is_root = problem.communicator().is_root();
  RecordedPath path(problem.q.size());
  if (is_root) path.add(problem.q, problem.velocity());
  const std::unique_ptr<Stepper> stepper = make_recording_stepper(this_case.scheme, problem, h, path);
  Prediction prediction{VectorXd::Zero(data_.count()), Eigen::MatrixXd::Zero(data_.count(), x.size())};
  std::vector<VectorXd> states;  // at the times of the data, on rank 0
  // Calls `at_time(row)` on rank 0 at all times of the data, the row of the first formula there; false where it fails.
  const auto advance = [&](auto& run, const auto& at_time) {
    std::int64_t done = 0;
    Eigen::Index row = 0;
    for (const double time : data_.times) {
      const std::int64_t step = *whole_steps(time, h);
      if (step > done && run.advance(step - done)) return false;
      done = step;
      if (is_root) at_time(time, row);
      row += data_.weights.size();
    }
    return true;
  };
  const bool has_run = advance(*stepper, [&](double time, Eigen::Index row) {
    states.push_back(here.state(time, problem.q, problem.velocity()));
    for (const CostFormula& formula : data_.formulas) {
      prediction.values[row] = data_.weight_at(row) * formula.value(states.back());
      ++row;
    }
  });
  if (!has_run) return std::nullopt;
  const FinishedRun run{this_case.scheme, problem, path, *whole_steps(data_.times.back(), h), h};
  VectorXd gradient;
  for (Eigen::Index j = 0; j < x.size(); ++j) {
    const std::optional<PathChange> change = change_by(j, x, run, *here.variables);
    if (!change) return std::nullopt;
    TangentRun tangent(run, *change, here.experiment.system(),
                       [&](const ParticleSystem& system) { return here.prepared(system); });
    VectorXd change_of_state = VectorXd::Zero(here.variables->size());
    for (const Eigen::Index formula : formulas_[static_cast<std::size_t>(j)]) {
      change_of_state[here.variables->parameters() + formula] = 1.0;
    }
    const bool has_tangent = advance(tangent, [&](double, Eigen::Index row) {
      change_of_state.head(here.variables->time()) << tangent.q(), tangent.v();
      for (const CostFormula& formula : data_.formulas) {
        formula.gradient(states[static_cast<std::size_t>(row / data_.weights.size())], gradient);
        prediction.slopes(row, j) = data_.weight_at(row) * gradient.dot(change_of_state);
        ++row;
      }
    });
    if (!has_tangent) return std::nullopt;
  }
  const auto size = [](const auto& numbers) { return static_cast<std::size_t>(numbers.size()); };
  problem.communicator().broadcast(std::span<double>(prediction.values.data(), size(prediction.values)));
  problem.communicator().broadcast(std::span<double>(prediction.slopes.data(), size(prediction.slopes)));
  if (!prediction.values.allFinite() || !prediction.slopes.allFinite()) return std::nullopt;
  return prediction;
}

}  // namespace bathline
