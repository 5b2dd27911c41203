// Work on files that every rank does for itself, with one outcome for all.
#pragma once

#include <functional>

#include "parallel/communicator.hpp"

namespace bathline {

/// Throws FileError on every rank where `work` has failed on any, with the first such rank's reason. @note Collective.
void on_all_ranks(const Communicator& communicator, const std::function<void()>& work);

}  // namespace bathline
