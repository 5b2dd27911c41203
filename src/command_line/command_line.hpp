// The command line of bathline.
#pragma once

#include "driver/program.hpp"

namespace bathline {

/// Does what the arguments ask for and returns the exit code. Throws UsageError, on every rank, where they make no
/// sense. @note Collective.
int run_command_line(int argc, char** argv, const Program& program);

}  // namespace bathline
