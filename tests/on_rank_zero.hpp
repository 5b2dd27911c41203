// Computations on rank 0 only, for comparison with the results of all ranks.
#pragma once

#include <chrono>
#include <thread>

#include "parallel/mpi_handle.hpp"
#include "test_world.hpp"

namespace bathline {

/// Calls `compute` on rank 0 while the others sleep: ranks that wait for a message poll continually, and where they
/// share few cores with rank 0 they take most of their time. @note Collective.
template <typename Compute>
void on_rank_zero(const Compute& compute) {
  if (test_world().is_root()) compute();
  if (test_world().size() == 1) return;
  MPI_Request request;
  MPI_Ibarrier(mpi_comm(test_world()), &request);
  for (int all_have_arrived = 0; all_have_arrived == 0;) {
    MPI_Test(&request, &all_have_arrived, MPI_STATUS_IGNORE);
    if (all_have_arrived == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace bathline
