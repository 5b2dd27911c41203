// The ranks that the test program runs on.
#pragma once

#include "parallel/communicator.hpp"

namespace bathline {

/// All ranks of the test program; there is one unless it was started by mpirun.
const Communicator& test_world();

}  // namespace bathline
