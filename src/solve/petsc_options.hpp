// Options of PETSc before PETSc sees them: what users may mistake, and what may come from a file.
#pragma once

#include <string>
#include <vector>

#include "parallel/communicator.hpp"

namespace bathline {

/// The options that a user gives, one word after the other, those of files named by `-options_file` in its place (in
/// YAML they are left to PETSc). PETSc takes some mistakes for good and ends the program at others, so values that
/// cannot be meant, missing ones, and files that cannot be read or written are refused here: UsageError on every rank.
/// @note Collective.
std::vector<std::string> user_options(const std::vector<std::string>& words, const Communicator& communicator);

/// Those of the options that came in `file`, a result or a checkpoint of perhaps somebody else. PETSc's options can
/// load libraries and write files, so only tolerances, limits of iterations and the types of the solvers built in are
/// taken; `-log_view` is left out with a word in the log, and any other is a UsageError.
std::vector<std::string> options_of_file(const std::vector<std::string>& words, const std::string& file);

}  // namespace bathline
