// Running the elements of a sweep, and skipping those that are finished.
#pragma once

#include "driver/run.hpp"

namespace bathline {

/// Runs a recipe: all elements of its sweep in order, or the one that the request names, or itself where it has no
/// sweep. A finished element is not run again, an interrupted one goes on from its checkpoint. Returns the exit code:
/// 85 at once where an element was stopped, else the worst of all. @note Collective.
int run_all(const RunRequest& request, const Program& program);

/// Validates a recipe, or every element of its sweep. @note Collective.
void check_all(const RunRequest& request, const Program& program);

/// Lists the elements of a recipe's sweep: number, result file, whether it is finished, settings. @note Collective.
void list_sweep(const RunRequest& request, bool count_only, const Program& program);

}  // namespace bathline
