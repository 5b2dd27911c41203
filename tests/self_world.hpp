// A world of one rank, whatever the number of ranks of the test program, for serial reference runs.
#pragma once

#include <memory>

#include "parallel/mpi_handle.hpp"

namespace bathline {

inline Communicator self_world() {
  return Communicator(std::make_shared<Communicator::Handle>(Communicator::Handle{MPI_COMM_SELF}));
}

}  // namespace bathline
