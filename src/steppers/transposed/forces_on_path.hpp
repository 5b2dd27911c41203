// The forces of environments whose heads follow a path that is given.
#pragma once

#include "steppers/transposed/co_stepper.hpp"

namespace bathline {

/// forces += weights * those of the environments of a prepared problem on its coordinates, N, at the points of the path
/// of a run but the first, a column for each; on rank 0. The whole path must be there. Without a magnetic field.
/// @note Collective.
void add_forces_on_path(const FinishedRun& run, Problem& problem, const Eigen::VectorXd& weights,
                        Eigen::MatrixXd& forces);

}  // namespace bathline
