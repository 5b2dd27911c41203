// The parameters of a fit by Gauss-Newton's method.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "solve/search_on_root.hpp"
#include "study/fit/model.hpp"
#include "study/fit/statistics.hpp"

namespace bathline {

struct FittedParameters {
  Eigen::VectorXd x;
  Prediction prediction;
  FitStatistics statistics;
  int iterations = 0, evaluations = 0;
  std::string failure = {};  ///< why they are not those of a minimum; then only `x` and the numbers have a meaning
};

/// A prediction on every rank, collective; nothing where there is none.
using Predict = std::function<std::optional<Prediction>(const Eigen::VectorXd& x)>;

/// What the search assumes besides predictions.
struct FitOptions {
  bool deviation_is_known = false;
  double confidence = 0.95;
};

/// Minimises the sum of squares from `start`, within the bounds of the parameters; `measured` are weighted. Rank 0
/// searches and the others follow. `progress` is called there after every iteration. @note Collective.
FittedParameters search_parameters(const Predict& predict, const Eigen::VectorXd& measured,
                                   const std::vector<FitParameter>& parameters, const Eigen::VectorXd& start,
                                   const FitOptions& options, const Communicator& communicator,
                                   const SearchProgress& progress = nullptr);

}  // namespace bathline
