// Tested by tests/model/memory/coloured_noise_memory_test.cpp.
#include "model/memory/from_recipe.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/kernels/adaptive_quadrature.hpp"

namespace bathline {

bool is_quantum(const Section& memory) { return memory.has("quantum") && memory.boolean("quantum"); }

std::shared_ptr<const MemoryBath> read_memory_bath(const Section& memory, const std::vector<PronyTerm>& modes,
                                                   double step, const std::string& advice, Mistakes& mistakes) {
  const double temperature = memory.number("kT");
  if (!is_quantum(memory) && (temperature == 0.0 || has_termwise_noise(modes))) return nullptr;
  const char* key = is_quantum(memory) ? "quantum" : "kT";
  if (std::any_of(modes.begin(), modes.end(), [](const PronyTerm& mode) { return mode.r == 0.0; })) {
    mistakes.add(memory.where(memory.has("rate") ? "rate" : key),
                 "the `rate` of every mode must be positive: this noise needs modes that decay");
    return nullptr;
  }
  try {
    // A quantum bath needs no spectral factor, but the same passivity.
    auto classical = make_classical_bath(modes, temperature);
    if (!is_quantum(memory)) return classical;
    return make_quantum_bath(modes, temperature, memory.number("hbar"), step);
  } catch (const UnsuitableFunction& error) {
    mistakes.add(memory.where(key), fmt::format("{}; {}", error.what(), advice));
    return nullptr;
  }
}

}  // namespace bathline
