// What a recipe says of the noise of a memory.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/environment_catalogue.hpp"
#include "model/memory/coloured_noise_memory.hpp"

namespace bathline {

bool is_quantum(const Section& memory);

/// The bath of a memory whose modes have noise together alone: of one that is quantum, or warm with modes that are not
/// passive one by one. Nothing where it is not of that kind, and where modes have no such noise, which `mistakes` then
/// says, with `advice` for those that are not passive.
std::shared_ptr<const MemoryBath> read_memory_bath(const Section& memory, const std::vector<PronyTerm>& modes,
                                                   double step, const std::string& advice, Mistakes& mistakes);

}  // namespace bathline
