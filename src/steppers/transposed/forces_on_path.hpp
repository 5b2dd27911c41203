// The forces of environments whose heads follow a path that is given.
#pragma once

#include "methods/scheme.hpp"
#include "model/problem.hpp"
#include "steppers/transposed/recorded_path.hpp"

namespace bathline {

/// The forces of the environments of a prepared problem on its particles at the points of a path, which begins with
/// that of the start: a column for each further point, N, on rank 0. Without a magnetic field.
/// @note Collective.
Eigen::MatrixXd forces_on_path(const Scheme& scheme, Problem& problem, const RecordedPath& path, std::int64_t steps,
                               double h);

}  // namespace bathline
