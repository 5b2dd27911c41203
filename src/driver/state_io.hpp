// The state of a problem, its environments and its stepper in checkpoints.
#pragma once

#include "steppers/stepper.hpp"
#include "record/checkpoint_file.hpp"

namespace bathline {

/// @note Collective. Throws FileError.
void save_state(CheckpointWriter& checkpoint, const Problem& problem, const Stepper& stepper);

/// Puts a problem, whose stepper has been made, into the state of a checkpoint. @note Collective. Throws
/// std::out_of_range where the checkpoint is of another problem, FileError where it cannot be read or holds a number
/// that is not finite.
void restore_state(const CheckpointReader& from, Problem& problem, Stepper& stepper);

}  // namespace bathline
