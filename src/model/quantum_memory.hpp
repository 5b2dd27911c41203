// A memory of modes in a quantum bath.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/memory_modes.hpp"

namespace bathline {

/// Modes that all decay, at rest, and the force of a quantum bath on their head: what they dissipate and what it brings
/// balance. `temperature` is kT in J, `hbar` is in J s. The
/// midpoint rule is refused where the noise of such steps, in s, forgets sooner than a mode dies down.
std::unique_ptr<Environment> make_quantum_memory(std::string name, Attachment attachment,
                                                 const std::vector<MemoryMode>& modes, double temperature, double hbar,
                                                 double step, const Communicator& communicator);

}  // namespace bathline
