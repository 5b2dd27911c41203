// Saving and restoring the state of a problem, its environments and its stepper in checkpoints.
#pragma once

#include "steppers/stepper.hpp"
#include "record/checkpoint_file.hpp"

namespace bathline {

/// Throws FileError. @note Collective.
void save_state(CheckpointWriter& checkpoint, const Problem& problem, const Stepper& stepper);

/// Restores a problem and its stepper from a checkpoint. Throws std::out_of_range if the checkpoint belongs to another
/// problem, FileError if it cannot be read or contains a number that is not finite. @note Collective.
void restore_state(const CheckpointReader& from, Problem& problem, Stepper& stepper);

}  // namespace bathline
