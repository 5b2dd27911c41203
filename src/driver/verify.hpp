// Verifying a result by running its recipe again.
#pragma once

#include "driver/run.hpp"

namespace bathline {

struct VerifyRequest {
  std::string result;       ///< path
  std::string output;       ///< path of the rerun; empty: a temporary file beside the result, removed also on a signal
  double tolerance = 1e-9;  ///< for results of other builds or rank counts, relative to a variable's largest value
  ProgressStyle progress = ProgressStyle::automatic;
  /// As from `user_options`; replaces the options in the result.
  std::optional<std::vector<std::string>> petsc_options;
};

/// Runs the recipe stored in a result, with its input files and PETSc options, and compares every variable: bit by bit
/// for the same build and number of ranks, else to the tolerance. Returns 0 if they agree, 1 if they do not. Throws
/// UsageError if the file cannot be verified. @note Collective.
int verify_result(const VerifyRequest& request, const Program& program);

}  // namespace bathline
