// Waiting for other ranks without using the processor.
#pragma once

#include "parallel/communicator.hpp"

namespace bathline {

/// A barrier at which ranks that wait sleep, a millisecond at a time: for waits of unknown length. @note Collective.
void sleeping_barrier(const Communicator& communicator);

}  // namespace bathline
