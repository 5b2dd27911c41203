// Running the elements of a sweep that are not finished.
#pragma once

#include "driver/run.hpp"

namespace bathline {

/// Runs a recipe: all elements of its sweep in order, or the requested one, or the recipe itself if it has no sweep. A
/// finished element is skipped, an interrupted one is resumed from its checkpoint. Returns 85 as soon as an element is
/// stopped, else the largest exit code. @note Collective.
int run_all(const RunRequest& request, const Program& program);

/// Validates a recipe, or every element of its sweep. @note Collective.
void check_all(const RunRequest& request, const Program& program);

enum class SweepFormat { table, count, json };

/// Lists the elements of a recipe's sweep: index, result file, state, settings (in JSON their values are TOML).
/// @note Collective.
void list_sweep(const RunRequest& request, SweepFormat format, const Program& program);

}  // namespace bathline
