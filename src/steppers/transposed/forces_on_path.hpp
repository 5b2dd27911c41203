// The forces of environments whose heads follow a path that is given.
#pragma once

#include <vector>

#include "steppers/transposed/co_stepper.hpp"

namespace bathline {

/// A prepared problem, and what the forces on its coordinates are multiplied by, N.
struct WeightedProblem {
  std::unique_ptr<Problem> problem;
  Eigen::VectorXd weights;
};

/// forces += the weighted sum of those of the environments of all problems at the points of the path of a run but the
/// first, a column for each; on rank 0. The whole path must be there. Without a magnetic field.
/// @note Collective.
void add_forces_on_path(const FinishedRun& run, const std::vector<WeightedProblem>& problems, Eigen::MatrixXd& forces);

}  // namespace bathline
