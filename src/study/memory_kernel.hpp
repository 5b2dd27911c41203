// Memory kernels and random forces of environments, measured with clamped particles.
#pragma once

#include "driver/resumable_tasks.hpp"
#include "driver/study.hpp"

namespace bathline {

/// Measures memory kernel and random force of each environment of every closed case except those of the exact flow,
/// which does not support clamped particles, and writes them to memory-kernel/<integrator>/<environment>. Each run with
/// clamped particles is a resumable task.
/// @note Collective.
std::optional<CaseFailure> measure_memory_kernel(const Experiment& experiment, ResultFile& file, Progress& progress,
                                                 ResumableTasks& tasks);

}  // namespace bathline
