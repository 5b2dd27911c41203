// Gauss-Newton on rank 0, with predictions on all.
// Tested by tests/study/fit_test.cpp.
#include "study/fit/search.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace bathline {

using Eigen::VectorXd;

FittedParameters search_parameters(const Predict& predict, const VectorXd& measured,
                                   const std::vector<FitParameter>& parameters, const VectorXd& start,
                                   const FitOptions& options, const Communicator& communicator,
                                   const SearchProgress& progress) {
  FittedParameters fitted{.x = start, .prediction = {}, .statistics = {}};
  const Eigen::Index count = start.size();
  std::optional<Prediction> prediction;
  const auto predict_at = [&](const VectorXd& x) {
    fitted.x = x;
    prediction = predict(x);
  };
  predict_at(start);
  if (!prediction) {
    fitted.failure = "the run with the numbers of the recipe, or with numbers beside them, fails";
    return fitted;
  }
  // Unknowns are in units in which tangents have the norm 1 at the start.
  VectorXd units = prediction->slopes().colwise().norm().cwiseInverse();
  VectorXd lowest(count), highest(count);
  Bounds bounds{VectorXd(count), VectorXd(count)};
  for (Eigen::Index j = 0; j < count; ++j) {
    const FitParameter& parameter = parameters[static_cast<std::size_t>(j)];
    lowest[j] = parameter.lower;
    highest[j] = parameter.upper;
    if (!std::isfinite(units[j])) units[j] = parameter.scale / measured.norm();
    bounds.lower[j] = parameter.lower / units[j];
    bounds.upper[j] = parameter.upper / units[j];
  }
  const auto parameters_at = [&](const VectorXd& z) -> VectorXd {
    return units.cwiseProduct(z).cwiseMax(lowest).cwiseMin(highest);
  };
  const SearchReport report = search_on_root(communicator, predict_at, [&](const Ask& ask) {
    const Residuals residuals = [&](const VectorXd& z, VectorXd& values, Eigen::MatrixXd& slopes) {
      ask(parameters_at(z));
      if (!prediction) return false;
      values = prediction->values() - measured;
      slopes = prediction->slopes() * units.asDiagonal();
      return true;
    };
    const SearchLimits limits{.residual = 1e-9 * measured.norm(), .evaluations = 500};
    SearchReport end = least_squares(residuals, static_cast<int>(measured.size()), start.cwiseQuotient(units), bounds,
                                     limits, progress);
    ask(parameters_at(end.point.x));
    return end;
  });
  fitted.iterations = report.iterations;
  fitted.evaluations = report.evaluations;
  if (!prediction) {
    fitted.failure = "a run fails where the search ended; give better starts, or `bounds`";
    return fitted;
  }
  fitted.prediction = std::move(*prediction);
  VectorXd scales = fitted.x.cwiseAbs();
  for (Eigen::Index j = 0; j < count; ++j) {
    if (scales[j] == 0.0) scales[j] = parameters[static_cast<std::size_t>(j)].scale;
  }
  fitted.statistics = fit_statistics(fitted.prediction.values() - measured, fitted.prediction.slopes(), scales,
                                     options.deviation_is_known, options.confidence);
  // The search may end by round-off; the parameters are then off by less than a thousandth of their standard errors.
  const bool is_at_minimum =
      fitted.statistics.relative_offset < 1e-3 || fitted.statistics.along <= 1e-9 * measured.norm();
  if (!report.converged && !is_at_minimum) {
    fitted.failure =
        fmt::format("no minimum after {} iterations: {}; give better starts, as numbers of the recipe, or `bounds`",
                    fitted.iterations, report.reason);
  }
  return fitted;
}

}  // namespace bathline
