// The command line of bathline.
#pragma once

#include "driver/program.hpp"

namespace bathline {

/// Parses the arguments, executes the command and returns the exit code. Throws UsageError, on every rank, for invalid
/// arguments. @note Collective.
int run_command_line(int argc, char** argv, const Program& program);

}  // namespace bathline
