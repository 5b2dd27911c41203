// The part of the memory-kernel study that takes data in place of a motion.
#pragma once

#include <memory>
#include <vector>

#include "driver/experiment.hpp"
#include "driver/study.hpp"

namespace bathline {

/// The keys of the study that belong to data, `data_file` first.
std::vector<Parameter> kernel_from_data_parameters();

/// The study of the recipe's `data_file`; nullptr after a mistake.
std::unique_ptr<Study> make_kernel_from_data(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes);

}  // namespace bathline
