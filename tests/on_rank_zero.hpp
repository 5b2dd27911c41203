// What rank 0 alone computes, to compare with what all ranks have found.
#pragma once

#include <chrono>
#include <thread>

#include "parallel/mpi_handle.hpp"
#include "test_world.hpp"

namespace bathline {

/// Calls `compute` on rank 0 while the others sleep: ranks that wait for a message look for it all the time, and where
/// they share few cores with rank 0 they take most of them. @note Collective.
template <typename Compute>
void on_rank_zero(const Compute& compute) {
  if (test_world().is_root()) compute();
  if (test_world().size() == 1) return;
  MPI_Request request;
  MPI_Ibarrier(mpi_comm(test_world()), &request);
  for (int all_are_here = 0; all_are_here == 0;) {
    MPI_Test(&request, &all_are_here, MPI_STATUS_IGNORE);
    if (all_are_here == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace bathline
