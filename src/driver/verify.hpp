// Computing a result again from itself.
#pragma once

#include "driver/run.hpp"

namespace bathline {

struct VerifyRequest {
  std::string result;       ///< path
  std::string output;       ///< where the rerun is kept; empty: beside the result, removed at the end, also by a signal
  double tolerance = 1e-9;  ///< largest difference where bits need not agree, relative to a variable's largest value
  ProgressStyle progress = ProgressStyle::automatic;
  /// As `user_options` gives them, in place of those that the result holds.
  std::optional<std::vector<std::string>> petsc_options;
};

/// Runs the recipe that a result holds, with its input files and PETSc options, and compares every variable: to the bit
/// where the build and the number of ranks are the same, else to the tolerance. Returns 0 where they agree, 1 where
/// they do not. Throws UsageError where the file cannot be verified. @note Collective.
int verify_result(const VerifyRequest& request, const Program& program);

}  // namespace bathline
