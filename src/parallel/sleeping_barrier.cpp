// Waiting for other ranks without using the processor.
// Tested by tests/command_line/serve_test.py.
#include "parallel/sleeping_barrier.hpp"

#include <mpi.h>

#include <chrono>
#include <thread>

#include "parallel/mpi_handle.hpp"

namespace bathline {

void sleeping_barrier(const Communicator& communicator) {
  if (communicator.size() == 1) return;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(mpi_comm(communicator), &request);
  for (int is_complete = 0;;) {
    MPI_Test(&request, &is_complete, MPI_STATUS_IGNORE);
    if (is_complete != 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace bathline
