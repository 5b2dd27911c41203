// What an environment does to particles that are held.
#pragma once

#include "study/study.hpp"

namespace bathline {

/// Measures memory kernel and random force of each environment of every closed case but those of the exact flow, which
/// cannot hold a particle, and writes them to memory/<label>/<environment>. @note Collective.
std::optional<CaseFailure> measure_memory(const Experiment& experiment, ResultFile& file, Progress& progress);

}  // namespace bathline
