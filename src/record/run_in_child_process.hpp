// Work that may end the process that does it.
#pragma once

#include <functional>
#include <string>

namespace bathline {

/// Does `work` in a process of its own, so that a library which a damaged file leads astray takes nothing else with it.
/// Returns "" where it ended well, else why not: the words of its exception, or the signal and what it was at. `work`
/// says that by the function it is given, at least every minute: one that says nothing for longer is ended.
/// What `work` computes is lost. For one rank; nothing in it may pass messages.
std::string run_in_child_process(const std::function<void(const std::function<void(const std::string&)>& at)>& work);

}  // namespace bathline
