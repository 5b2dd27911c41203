// Tested by tests/model/memory/coloured_noise_memory_test.cpp.
#include "model/memory/from_recipe.hpp"

#include <algorithm>

#include "model/kernels/adaptive_quadrature.hpp"

namespace bathline {

bool is_quantum(const Section& memory) { return memory.has("quantum") && memory.boolean("quantum"); }

std::shared_ptr<const MemoryBath> make_memory_bath(const Section& memory, const std::vector<PronyTerm>& modes,
                                                   double step) {
  const double temperature = memory.number("kT");
  if (!is_quantum(memory) && (temperature == 0.0 || has_termwise_noise(modes))) return nullptr;
  if (std::any_of(modes.begin(), modes.end(), [](const PronyTerm& mode) { return mode.r == 0.0; })) {
    throw UnsuitableFunction("the `rate` of every mode must be positive: this noise needs modes that decay");
  }
  // A quantum bath needs no spectral factor, but the same passivity.
  const double damping = memory.has("damping") ? memory.number("damping") : 0.0;
  auto classical = make_classical_bath(modes, temperature, damping);
  if (!is_quantum(memory)) return classical;
  return make_quantum_bath(modes, temperature, memory.number("hbar"), step);
}

}  // namespace bathline
