// Gauss-Newton on rank 0, with predictions on all.
// Tested by tests/study/fit_test.cpp.
#include "study/fit/search.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace bathline {

namespace {

using Eigen::VectorXd;

constexpr double search_is_done = 0.0, prediction_follows = 1.0;

/// The part of the other ranks: predictions where rank 0 asks for them. Returns the last x.
VectorXd follow(const Predict& predict, const Communicator& communicator, Eigen::Index count) {
  VectorXd order(1 + count);
  while (true) {
    communicator.broadcast(std::span<double>(order.data(), static_cast<std::size_t>(order.size())));
    const VectorXd x = order.tail(count);
    if (order[0] == search_is_done) return x;
    predict(x);
  }
}

}  // namespace

FittedParameters search_parameters(const Predict& predict, const VectorXd& measured,
                                   const std::vector<FitParameter>& parameters, const VectorXd& start,
                                   const FitOptions& options, const Communicator& communicator,
                                   const SearchProgress& progress) {
  FittedParameters fitted{.x = start, .prediction = {}, .statistics = {}};
  const Eigen::Index count = start.size();
  const std::optional<Prediction> first = predict(start);
  if (!first) {
    fitted.failure = "the run with the numbers of the recipe, or with numbers beside them, fails";
    return fitted;
  }
  // Unknowns are in units in which tangents have the norm 1 at the start.
  VectorXd units = first->slopes.colwise().norm().cwiseInverse();
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
  SearchReport report;
  if (communicator.is_root()) {
    VectorXd order(1 + count);
    const auto tell = [&](double what, const VectorXd& x) {
      order << what, x;
      communicator.broadcast(std::span<double>(order.data(), static_cast<std::size_t>(order.size())));
    };
    const Residuals residuals = [&](const VectorXd& z, VectorXd& values, Eigen::MatrixXd& slopes) {
      const VectorXd x = parameters_at(z);
      tell(prediction_follows, x);
      const std::optional<Prediction> prediction = predict(x);
      if (!prediction) return false;
      values = prediction->values - measured;
      slopes = prediction->slopes * units.asDiagonal();
      return true;
    };
    const SearchLimits limits{.residual = 1e-9 * measured.norm(), .evaluations = 500};
    report = least_squares(residuals, static_cast<int>(measured.size()), start.cwiseQuotient(units), bounds, limits,
                           progress);
    fitted.x = parameters_at(report.point.x);
    tell(search_is_done, fitted.x);
  } else {
    fitted.x = follow(predict, communicator, count);
  }
  double numbers[] = {static_cast<double>(report.iterations), static_cast<double>(report.evaluations),
                      report.converged ? 1.0 : 0.0};
  communicator.broadcast(std::span<double>(numbers));
  fitted.iterations = static_cast<int>(numbers[0]);
  fitted.evaluations = static_cast<int>(numbers[1]);
  std::optional<Prediction> last = predict(fitted.x);
  if (!last) {
    fitted.failure = "a run fails where the search ended; give better starts, or `bounds`";
    return fitted;
  }
  fitted.prediction = std::move(*last);
  VectorXd scales = fitted.x.cwiseAbs();
  for (Eigen::Index j = 0; j < count; ++j) {
    if (scales[j] == 0.0) scales[j] = parameters[static_cast<std::size_t>(j)].scale;
  }
  fitted.statistics = fit_statistics(fitted.prediction.values - measured, fitted.prediction.slopes, scales,
                                     options.deviation_is_known, options.confidence);
  // The search may end by round-off; the parameters are then off by less than a thousandth of their standard errors.
  const bool is_at_minimum =
      fitted.statistics.relative_offset < 1e-3 || fitted.statistics.along <= 1e-9 * measured.norm();
  const std::string reason = communicator.broadcast(report.reason);
  if (numbers[2] == 0.0 && !is_at_minimum) {
    fitted.failure =
        fmt::format("no minimum after {} iterations: {}; give better starts, as numbers of the recipe, or `bounds`",
                    fitted.iterations, reason);
  }
  return fitted;
}

}  // namespace bathline
