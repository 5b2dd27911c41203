// Memory kernels and random forces of environments, measured with clamped particles, and kernels of data.
#pragma once

#include <memory>
#include <vector>

#include "driver/resumable_tasks.hpp"
#include "driver/study.hpp"

namespace bathline {

/// Measures memory kernel and random force of each environment of every closed case except those of the exact flow,
/// which does not support clamped particles, and writes them to memory-kernel/<integrator>/<environment>. Each run with
/// clamped particles is a resumable task.
/// @note Collective.
std::optional<CaseFailure> measure_memory_kernel(const Experiment& experiment, ResultFile& file, Progress& progress,
                                                 ResumableTasks& tasks);

/// Adds a mistake if what `measure_memory_kernel` keeps in memory does not fit. @note Collective.
void check_memory_of_kernels(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes);

/// The keys of the memory-kernel study that belong to data in place of a motion, `data_file` first.
std::vector<Parameter> kernel_from_data_parameters();

/// The study of the recipe's `data_file`; nullptr after a mistake.
std::unique_ptr<Study> make_kernel_from_data(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes);

}  // namespace bathline
