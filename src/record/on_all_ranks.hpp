// Work on files that each rank does by itself, with the same outcome on all ranks.
#pragma once

#include <functional>

#include "parallel/communicator.hpp"

namespace bathline {

/// Calls `work` on every rank. If it throws on any, all ranks throw FileError with the reason of the lowest such rank.
/// @note Collective.
void on_all_ranks(const Communicator& communicator, const std::function<void()>& work);

}  // namespace bathline
