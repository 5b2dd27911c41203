// How much memory a node has left, against what its ranks ask for, and how much they had.
#pragma once

#include <cstdint>

#include "parallel/communicator.hpp"

namespace bathline {

struct NodeMemory {
  std::int64_t needed = 0;     ///< by all ranks of the fullest node
  std::int64_t available = 0;  ///< on that node
};

/// Of all nodes the one with the least to spare, when this rank asks for `bytes`. @note Collective.
NodeMemory node_memory(const Communicator& communicator, std::int64_t bytes);

/// The most memory that the ranks have had resident since they began, each at its own time, in bytes, added up. The
/// same on every rank. @note Collective.
std::int64_t peak_memory(const Communicator& communicator);

}  // namespace bathline
