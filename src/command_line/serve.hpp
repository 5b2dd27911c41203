// Executing commands for another program, which stays alive between them.
#pragma once

#include "driver/program.hpp"

namespace bathline {

/// Reads requests from the standard input of rank 0, one on each line, until it ends, and returns the exit code 0.
///
/// A request is a table of TOML on one line, {folder = "...", arguments = ["run", "..."], recipe = "..."}: the working
/// directory, the arguments of the command and, optionally, the text of the recipe, whose path in the arguments is then
/// only its name. The reply on standard output is one line of JSON, {"code": exit code, "messages": [{"level": "...",
/// "message": "..."}], "output": "what the command has printed"}. Progress, warnings and errors also appear on standard
/// error. If the input ends during a run, the run stops with a checkpoint. @note Collective.
int serve(const Program& program);

}  // namespace bathline
