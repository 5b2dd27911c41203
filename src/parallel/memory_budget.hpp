// Available memory of a node against what its ranks request, and the peak memory of the ranks.
#pragma once

#include <cstdint>
#include <filesystem>

#include "parallel/communicator.hpp"

namespace bathline {

/// In bytes; as doubles, so that no request overflows.
struct MemoryBudget {
  double needed = 0.0;
  double available = 0.0;
  bool is_rank_limit = false;  ///< of one rank by a limit of its own; else of all ranks of a node
};

/// The budget with the smallest margin among those of all nodes and those of all ranks with limits of their own
/// (`ulimit -v`, `ulimit -d`), when this rank requests `bytes`. The same on every rank. @note Collective.
MemoryBudget memory_budget(const Communicator& communicator, double bytes);

/// Memory that the control groups of this process leave, in bytes; infinity without a limit. `groups` lists them
/// (proc(5), cgroups(7)), the tree of version 2 lies at `mount`, that of version 1 in its folder `memory`.
double cgroup_available_bytes(const std::filesystem::path& groups, const std::filesystem::path& mount);

/// Sum over the ranks of their peak resident memory, each at its own time, in bytes. The same on every rank.
/// @note Collective.
std::int64_t peak_memory(const Communicator& communicator);

}  // namespace bathline
