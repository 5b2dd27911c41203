// A cost with its gradient that another program evaluates again and again.
#pragma once  // Public: programs of others may include this header.

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "steppers/stepper.hpp"

namespace bathline {

/// The cost of the first case of a recipe as a function of what it is differentiated by. Studies that have one are
/// LiveProblems as well.
class LiveProblem {
 public:
  virtual ~LiveProblem() = default;
  /// Part of the unknowns: its name and its values in the recipe.
  struct Part {
    std::string name;
    Eigen::VectorXd values;
  };
  /// The unknowns, one part after the other.
  virtual std::vector<Part> parts() = 0;
  struct Evaluation {
    double cost = 0.0;
    Eigen::VectorXd gradient;
  };
  /// Throws UsageError where the recipe is invalid with these numbers. @note Collective; the result is on rank 0.
  virtual std::optional<Failure> evaluate(const Eigen::VectorXd& unknowns, Evaluation& result) = 0;
};

}  // namespace bathline
