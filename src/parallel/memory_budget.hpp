// How much memory a node has left, against what its ranks ask for, and how much they had.
#pragma once

#include <cstdint>
#include <filesystem>

#include "parallel/communicator.hpp"

namespace bathline {

/// In bytes; numbers of any size, so that none is ever too large to be counted.
struct MemoryBudget {
  double needed = 0.0;
  double available = 0.0;
  bool of_one_rank = false;  ///< which has a limit of its own; else of all ranks of a node
};

/// Of all nodes, and of all ranks with limits of their own (`ulimit -v`, `ulimit -d`), the one with the least to spare,
/// when this rank asks for `bytes`. @note Collective.
MemoryBudget memory_budget(const Communicator& communicator, double bytes);

/// What the control groups of this process leave of their memory, in bytes; infinity where they limit nothing. `groups`
/// lists them (proc(5), cgroups(7)), the tree of version 2 lies at `mount`, that of version 1 in its folder `memory`.
double cgroup_available_bytes(const std::filesystem::path& groups, const std::filesystem::path& mount);

/// The most memory that the ranks have had resident since they began, each at its own time, in bytes, added up. The
/// same on every rank. @note Collective.
std::int64_t peak_memory(const Communicator& communicator);

}  // namespace bathline
