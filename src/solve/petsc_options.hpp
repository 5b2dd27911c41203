// Checks of PETSc's options before PETSc reads them: those that a user gives and those that a file contains.
#pragma once

#include <string>
#include <vector>

#include "parallel/communicator.hpp"

namespace bathline {

/// The options that a user gives, as a list of words. PETSc accepts some mistakes silently and aborts the program at
/// others, so impossible or missing values, files of options, and files that cannot be written are refused here:
/// UsageError on every rank. @note Collective.
std::vector<std::string> user_options(const std::vector<std::string>& words, const Communicator& communicator);

/// The accepted ones of the options stored in `file`, a result or a checkpoint that may come from somebody else.
/// PETSc's options can load libraries and write files, so only tolerances, iteration limits and built-in solver types
/// are accepted; `-log_view` is ignored with a warning, and any other option is a UsageError.
std::vector<std::string> options_of_file(const std::vector<std::string>& words, const std::string& file);

/// Whether a word is the name of an option and not a value.
bool is_option_name(const std::string& word);

}  // namespace bathline
