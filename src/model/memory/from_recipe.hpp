// The bath of a memory, from a recipe.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/environment_catalogue.hpp"
#include "model/memory/coloured_noise_memory.hpp"

namespace bathline {

bool is_quantum(const Section& memory);

/// The bath of a memory whose noise is not that of its single modes: a quantum bath, or a warm one with modes that are
/// not passive one by one. nullptr for other memories. Throws UnsuitableFunction if there is no such noise.
std::shared_ptr<const MemoryBath> make_memory_bath(const Section& memory, const std::vector<PronyTerm>& modes,
                                                   double step);

}  // namespace bathline
