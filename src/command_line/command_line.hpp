// The command line of bathline.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/program.hpp"

namespace bathline {

/// Parses the arguments, executes the command and returns the exit code; errors in arguments, recipes and files are
/// logged. `recipe` is the text of the recipe, if it is not read from the path in the arguments. @note Collective.
int run_command_line(const std::vector<std::string>& arguments, const std::optional<std::string>& recipe,
                     const Program& program);

}  // namespace bathline
