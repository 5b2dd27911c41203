// Runs of a recipe with other numbers in it.
// Tested by tests/study/fit_test.cpp.
#include "study/fit/model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "driver/quintic_hermite.hpp"

namespace bathline {

using Eigen::VectorXd;

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
}

std::int64_t FitModel::steps() const { return steps_ * (1 + 2 * static_cast<std::int64_t>(parameters_.size())); }

std::optional<VectorXd> FitModel::values_at(const VectorXd& x) const {
  Recipe recipe = recipe_;
  for (std::size_t j = 0; j < parameters_.size(); ++j) {
    for (const NumberAt& place : parameters_[j].places) place.set(recipe, x[static_cast<Eigen::Index>(j)]);
  }
  Mistakes mistakes;
  const Experiment experiment(recipe, program_, mistakes);
  if (!mistakes.empty()) return std::nullopt;
  const Case& this_case = experiment.cases().front();
  const double h = this_case.step / refinement_;
  Problem problem = experiment.make_problem(this_case, h, this_case.closed);
  problem.prepare(experiment.seed());
  const std::unique_ptr<Stepper> stepper = make_stepper(this_case.scheme, problem, h);
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
    const double steps = time / h, nearest = std::round(steps);
    const bool is_at_step = std::abs(steps - nearest) <= 1e-9 * std::max(1.0, nearest);
    const auto first = static_cast<std::int64_t>(is_at_step ? nearest : std::floor(steps));
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
    for (const PhaseFunction& function : data_.functions) {
      values[next] = data_.weight_at(next) * function(point.q, point.v, time);
      ++next;
    }
  }
  problem.communicator().broadcast(std::span<double>(values.data(), static_cast<std::size_t>(values.size())));
  if (!values.allFinite()) return std::nullopt;
  return values;
}

std::optional<Prediction> FitModel::predict(const VectorXd& x) const {
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

}  // namespace bathline
