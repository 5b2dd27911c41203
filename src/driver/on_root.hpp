// What rank 0 does for all.
#pragma once

#include <functional>
#include <string>

#include "parallel/communicator.hpp"

namespace bathline {

/// The text of a file, read by rank 0. Throws UsageError where it cannot be read. @note Collective.
std::string read_text(const std::string& path, const Communicator& communicator);

/// Throws what rank 0 alone finds wrong as everyone's UsageError. @note Collective.
void check_on_root(const Communicator& communicator, const std::function<void()>& judge);

/// The exit code of `work`, which rank 0 alone does; where it throws, rank 0 says why and `failure_code` is returned.
/// The same on every rank. @note Collective.
int run_on_root(const Communicator& communicator, int failure_code, const std::function<int()>& work);

}  // namespace bathline
