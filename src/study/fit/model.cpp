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

Recipe recipe_of(Recipe recipe, const Case& this_case) {
  recipe.integrators = {this_case.options};
  recipe.claims.clear();
  recipe.text.clear();
  recipe.resolved.clear();
  return recipe;
}

ChangedCase::ChangedCase(Recipe changed, const Program& program, int refinement)
    : recipe(std::move(changed)), experiment(recipe, program, mistakes) {
  if (!mistakes.empty()) return;
  this_case = &experiment.cases().front();
  h = this_case->step / refinement;
}

Problem ChangedCase::prepared(const ParticleSystem& system) const {
  Problem problem = experiment.make_problem(*this_case, h, this_case->closed, system);
  problem.prepare(experiment.seed());
  return problem;
}

std::optional<Preparation> preparation_of(Recipe changed, const Program& program, int refinement) {
  const auto other = std::make_shared<const ChangedCase>(std::move(changed), program, refinement);
  if (!other->mistakes.empty()) return std::nullopt;
  return Preparation{other->experiment.system(),
                     [other](const ParticleSystem& system) { return other->prepared(system); }};
}

FitModel::FitModel(Recipe recipe, const Program& program, const Case& this_case, const MeasuredValues& data,
                   std::vector<FitParameter> parameters, int refinement)
    : program_(program),
      data_(data),
      parameters_(std::move(parameters)),
      refinement_(refinement),
      recipe_(recipe_of(std::move(recipe), this_case)),
      steps_(static_cast<std::int64_t>(std::ceil(data.times.back() / this_case.step)) * refinement) {
  Mistakes mistakes;
  const Experiment experiment(recipe_, program_, mistakes);
  has_tangents_ = mistakes.empty() && supports_tangents(experiment);
  if (!has_tangents_) return;
  const CostVariables variables(experiment.system(), recipe_.system);
  forces_.emplace(recipe_.system, variables, mistakes);
  if (!mistakes.empty()) forces_.reset();
  first_parameter_ = variables.parameters();
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

std::optional<std::vector<VectorXd>> FitModel::states_of(const ChangedCase& here, Problem& problem,
                                                         Stepper& stepper) const {
  const CostVariables variables(here.experiment.system(), here.recipe.system);
  const auto controls = controls_of(here.experiment.system());
  const bool is_root = problem.communicator().is_root();
  std::vector<VectorXd> states;
  std::int64_t done = 0;
  const auto node_at = [&](std::int64_t step, HermiteNode& node) {
    if (step > done && stepper.advance(step - done)) return false;
    done = std::max(done, step);
    if (is_root) node = hermite_node(problem, static_cast<double>(step) * here.h);
    return true;
  };
  HermiteNode from, to;
  std::int64_t from_step = -1, to_step = -1;
  for (const double time : data_.times) {
    // Times within round-off of a step belong to it.
    const double steps = time / here.h;
    const std::optional<std::int64_t> whole = whole_steps(time, here.h);
    const std::int64_t first = whole.value_or(static_cast<std::int64_t>(std::floor(steps)));
    if (first == to_step) {
      std::swap(from, to);
      std::swap(from_step, to_step);
    } else if (first != from_step) {
      if (!node_at(first, from)) return std::nullopt;
      from_step = first;
    }
    if (!whole && to_step != first + 1) {
      if (!node_at(first + 1, to)) return std::nullopt;
      to_step = first + 1;
    }
    if (!is_root) continue;
    const PathPoint point =
        whole ? PathPoint{from.q, from.v} : hermite_interpolate(from, to, steps - static_cast<double>(first));
    states.push_back(variables.at(point.q, point.v, time, controls ? controls->values(time) : VectorXd()));
  }
  return states;
}

std::optional<VectorXd> FitModel::values_at(const std::vector<VectorXd>& states,
                                            const Communicator& communicator) const {
  VectorXd values = VectorXd::Zero(data_.count());
  Eigen::Index next = 0;
  for (const VectorXd& state : states) {
    for (const CostFormula& formula : data_.formulas) {
      values[next] = data_.weights[next] * formula.value(state);
      ++next;
    }
  }
  communicator.broadcast(std::span<double>(values.data(), static_cast<std::size_t>(values.size())));
  if (!values.allFinite()) return std::nullopt;
  return values;
}

std::optional<VectorXd> FitModel::values_at(const VectorXd& x) const {
  const ChangedCase here(recipe_at(x), program_, refinement_);
  if (!here.mistakes.empty()) return std::nullopt;
  Problem problem = here.prepared(here.experiment.system());
  const auto states = states_of(here, problem, *make_stepper(here.this_case->scheme, problem, here.h));
  if (!states) return std::nullopt;
  return values_at(*states, problem.communicator());
}

std::optional<Prediction> FitModel::predict_by_differences(const VectorXd& x) const {
  const std::optional<VectorXd> here = values_at(x);
  if (!here) return std::nullopt;
  Prediction prediction{Eigen::MatrixXd(data_.count(), 1 + x.size())};
  prediction.columns.col(0) = *here;
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
      prediction.columns.col(1 + j) = (4.0 * *one - 3.0 * *here - *other) / (2.0 * side);
    } else {
      prediction.columns.col(1 + j) = (*one - *other) / (2.0 * side);
    }
  }
  return prediction;
}

std::optional<PathChange> FitModel::change_by(Eigen::Index j, const VectorXd& x, const FinishedRun& run,
                                              const ChangedCase& here) const {
  const FitParameter& parameter = parameters_[static_cast<std::size_t>(j)];
  const std::vector<Eigen::Index>& formulas = formulas_[static_cast<std::size_t>(j)];
  const ParticleSystem& system = run.problem.system();
  if (forces_ && formulas.size() == parameter.places.size()) {
    const VectorXd zero = VectorXd::Zero(system.size());
    PathChange change{zero, zero, Eigen::MatrixXd()};
    if (!run.problem.communicator().is_root()) return change;
    change.forces.setZero(zero.size(), static_cast<Eigen::Index>(run.path.points()) - 1);
    const CostVariables variables(here.experiment.system(), here.recipe.system);
    const auto controls = controls_of(system);
    const auto count = std::ssize(variables.parameter_names());
    PathPoints path(run);
    Eigen::MatrixXd states, by_parameter;
    for (std::int64_t step = 0; step < run.steps; step += path.steps_at_once()) {
      const ForcePoints& points = path.of_steps(step, std::min(path.steps_at_once(), run.steps - step));
      variables.set(points.q, points.v, points.t, controls.get(), states);
      forces_->by_parameter(states, by_parameter);
      auto forces = change.forces.middleCols(step * path.count(), points.t.size());
      for (Eigen::Index i = 0; i < forces.rows(); ++i) {
        for (const Eigen::Index formula : formulas) {
          forces.row(i) += by_parameter.col(i * count + formula).transpose();
        }
      }
    }
    return change;
  }
  ChangedNumber number{x[j], parameter.scale, "", false, parameter.lower, parameter.upper};
  for (const NumberAt& place : parameter.places) {
    number.is_of_system = number.is_of_system || place.environment().empty();
    if (!place.environment().empty() && !run.problem.environments().empty()) {
      number.environment = place.environment();
    }
  }
  return change_on_path(run, number, [&](double value) {
    VectorXd changed = x;
    changed[j] = value;
    return preparation_of(recipe_at(changed), program_, refinement_);
  });
}

std::optional<Prediction> FitModel::predict_by_tangents(const VectorXd& x) const {
  const ChangedCase here(recipe_at(x), program_, refinement_);
  if (!here.mistakes.empty()) return std::nullopt;
  const Case& this_case = *here.this_case;
  Problem problem = here.prepared(here.experiment.system());
  const bool is_root = problem.communicator().is_root();
  RecordedPath path(problem.q.size());
  if (is_root) path.add(problem.q, problem.velocity());
  const auto states = states_of(here, problem, *make_recording_stepper(this_case.scheme, problem, here.h, path));
  if (!states) return std::nullopt;
  const std::optional<VectorXd> values = values_at(*states, problem.communicator());
  if (!values) return std::nullopt;
  Eigen::MatrixXd columns = Eigen::MatrixXd::Zero(data_.count(), 1 + x.size());
  columns.col(0) = *values;
  const std::vector<std::int64_t> steps = data_.steps(here.h);
  const FinishedRun run{this_case.scheme, problem, path, steps.back(), here.h};
  const Preparation start{here.experiment.system(),
                          [&](const ParticleSystem& system) { return here.prepared(system); }};
  VectorXd gradient;
  for (Eigen::Index j = 0; j < x.size(); ++j) {
    const std::optional<PathChange> path_change = change_by(j, x, run, here);
    if (!path_change) return std::nullopt;
    TangentRun tangent(run, *path_change, start);
    Eigen::Index row = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const std::int64_t ahead = steps[i] - (i > 0 ? steps[i - 1] : 0);
      if (ahead > 0 && tangent.advance(ahead)) return std::nullopt;
      if (!is_root) continue;
      VectorXd change = VectorXd::Zero((*states)[i].size());
      change.head(2 * problem.q.size()) << tangent.q(), tangent.v();
      for (const Eigen::Index formula : formulas_[static_cast<std::size_t>(j)]) {
        change[first_parameter_ + formula] = 1.0;
      }
      for (const CostFormula& formula : data_.formulas) {
        formula.gradient((*states)[i], gradient);
        columns(row, 1 + j) = data_.weights[row] * gradient.dot(change);
        ++row;
      }
    }
  }
  problem.communicator().broadcast(std::span<double>(columns.data(), static_cast<std::size_t>(columns.size())));
  if (!columns.allFinite()) return std::nullopt;
  return Prediction{std::move(columns)};
}

}  // namespace bathline
