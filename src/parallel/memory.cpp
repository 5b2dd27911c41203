// How much memory a node has left, against what its ranks ask for.
#include "parallel/memory.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include "parallel/mpi_handle.hpp"

namespace bathline {

namespace {

/// Free memory as the kernel estimates it, or what a control group leaves of it.
std::int64_t available_bytes() {
  std::int64_t available = std::numeric_limits<std::int64_t>::max();
  std::ifstream meminfo("/proc/meminfo");
  for (std::string name, unit; meminfo >> name;) {
    std::int64_t kibibytes = 0;
    meminfo >> kibibytes;
    std::getline(meminfo, unit);
    if (name == "MemAvailable:") available = kibibytes * 1024;
  }
  std::int64_t limit = 0, used = 0;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit && std::ifstream("/sys/fs/cgroup/memory.current") >> used) {
    available = std::min(available, limit - used);
  }
  return available;
}

}  // namespace

NodeMemory node_memory(const Communicator& communicator, std::int64_t bytes) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(mpi_comm(communicator), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  NodeMemory mine;
  MPI_Allreduce(&bytes, &mine.needed, 1, MPI_INT64_T, MPI_SUM, node);
  std::int64_t available = available_bytes();
  MPI_Allreduce(&available, &mine.available, 1, MPI_INT64_T, MPI_MIN, node);
  MPI_Comm_free(&node);
  // The node with the least to spare speaks for all.
  struct {
    double spare;
    int rank;
  } least{static_cast<double>(mine.available) - static_cast<double>(mine.needed), communicator.rank()};
  MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, mpi_comm(communicator));
  std::int64_t numbers[] = {mine.needed, mine.available};
  communicator.broadcast(std::span<std::int64_t>(numbers), least.rank);
  return {numbers[0], numbers[1]};
}

std::int64_t peak_memory(const Communicator& communicator) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::int64_t bytes = std::int64_t{usage.ru_maxrss} * 1024;  // Linux counts in KiB
  MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_INT64_T, MPI_SUM, mpi_comm(communicator));
  return bytes;
}

}  // namespace bathline
