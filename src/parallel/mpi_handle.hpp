// The MPI communicator behind a `Communicator`; included by parallel/, and by .cpp files of solve/ and record/.
#pragma once

#include <mpi.h>

#include "parallel/communicator.hpp"

namespace bathline {

struct Communicator::Handle {
  MPI_Comm comm = MPI_COMM_NULL;
};

/// The MPI communicator of `communicator`; it stays owned by the session. Initialises MPI where a singleton process has
/// not done so yet.
MPI_Comm mpi_comm(const Communicator& communicator);

/// Calls `end` before MPI is finalised by the last session; not where MPI was initialised elsewhere.
void at_end_of_mpi(void (*end)());

/// The group of this process alone, with MPI initialised as above.
Communicator this_process();

}  // namespace bathline
