// What an environment does to particles that are held.
#pragma once

#include "driver/resumable_tasks.hpp"
#include "driver/study.hpp"

namespace bathline {

/// Measures memory kernel and random force of each environment of every closed case but those of the exact flow, which
/// cannot hold a particle, and writes them to memory/<integrator>/<environment>. A held run is a piece of work.
/// @note Collective.
std::optional<CaseFailure> measure_memory_kernel(const Experiment& experiment, ResultFile& file, Progress& progress,
                                                 ResumableTasks& pieces);

}  // namespace bathline
