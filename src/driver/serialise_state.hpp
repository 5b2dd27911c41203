// The complete state of a problem between two steps, in a checkpoint.
#pragma once

#include "driver/archive.hpp"
#include "steppers/stepper.hpp"

namespace bathline {

/// Declares the state of a problem after `step` steps, and of its stepper. When it is restored, throws
/// std::out_of_range if the checkpoint belongs to another problem, FileError if it cannot be read or contains a number
/// that is not finite. A problem may be one of a part of the ranks of `world`: on the others `is_own` is false, and
/// `problem` and `stepper`, which are not changed, those of another one of its kind.
/// @note Collective over `world`.
void serialise_state(Archive archive, std::int64_t step, Problem& problem, Stepper& stepper, const Communicator& world,
                     bool is_own = true);

}  // namespace bathline
