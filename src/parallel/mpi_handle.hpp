// The MPI communicator behind a `Communicator`; included by parallel/, and by .cpp files of solve/ and record/.
#pragma once

#include <mpi.h>

#include "parallel/communicator.hpp"

namespace bathline {

struct Communicator::Handle {
  MPI_Comm comm = MPI_COMM_NULL;
};

/// The MPI communicator of `communicator`; it stays owned by the session. Starts message passing where a process that
/// is alone has done without until now.
MPI_Comm mpi_comm(const Communicator& communicator);

/// MPI_COMM_SELF, with message passing started as above.
MPI_Comm mpi_comm_self();

}  // namespace bathline
