// Searches on rank 0 whose functions need all ranks.
// Tested by tests/costates/optimal_control_test.cpp and tests/study/fit_test.cpp.
#pragma once

#include <functional>

#include "parallel/communicator.hpp"
#include "solve/minimiser.hpp"

namespace bathline {

/// Calls something with a request, a list of at least one number.
using Ask = std::function<void(const Eigen::VectorXd& request)>;

/// Calls `search` on rank 0 with a function that calls `work` with its request on every rank, and returns its report on
/// every rank. What `work` throws it must throw everywhere. @note Collective.
SearchReport search_on_root(const Communicator& communicator, const Ask& work,
                            const std::function<SearchReport(const Ask& ask)>& search);

}  // namespace bathline
