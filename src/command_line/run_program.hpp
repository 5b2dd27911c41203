// A program from its begin to its exit code.
#pragma once  // Public: programs of others may include this header.

#include "driver/program.hpp"

namespace bathline {

/// All that `main` has to do: starts MPI and the log, does what the command line asks for with recipes that can name
/// what is in the catalogues, and returns the exit code.
int run_program(int argc, char** argv, const Catalogues& catalogues);

}  // namespace bathline
