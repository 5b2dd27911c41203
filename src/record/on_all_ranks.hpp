// Work on files that each rank does by itself, with the same outcome on all ranks.
#pragma once

#include <functional>

#include "parallel/communicator.hpp"

namespace bathline {

/// Calls `work` on every rank. If it throws on any, all ranks throw FileError with the reason of the lowest such rank.
/// @note Collective.
void on_all_ranks(const Communicator& communicator, const std::function<void()>& work);
/// The same with work on rank 0 alone.
inline void on_root(const Communicator& communicator, const std::function<void()>& work) {
  on_all_ranks(
      communicator, communicator.is_root() ? work : [] {});
}

}  // namespace bathline
