// Saving and restoring the state of a problem, its environments and its stepper in checkpoints.
#pragma once

#include "driver/archive.hpp"
#include "steppers/stepper.hpp"

namespace bathline {

/// Declares the state of a problem after `step` steps, and of its stepper. When it is restored, throws
/// std::out_of_range if the checkpoint belongs to another problem, FileError if it cannot be read or contains a number
/// that is not finite. @note Collective.
void serialise_state(Archive archive, std::int64_t step, Problem& problem, Stepper& stepper);

}  // namespace bathline
