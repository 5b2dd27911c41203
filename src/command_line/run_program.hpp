// Running the program: MPI, log, command line, exit code.
#pragma once  // Public: programs of others may include this header.

#include "driver/program.hpp"

namespace bathline {

/// The whole work of `main`: initialises MPI and the log, executes the command line with these catalogues, and returns
/// the exit code.
int run_program(int argc, char** argv, const Catalogues& catalogues);

}  // namespace bathline
