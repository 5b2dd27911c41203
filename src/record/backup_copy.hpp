// Restoring a result from the copy in a checkpoint, after the result was torn by a kill.
#pragma once

#include <string>

#include "record/result_file.hpp"

namespace bathline {

/// The group of a checkpoint with the bytes of its result, eight per number: HDF5 does not convert numbers of the
/// native type.
inline constexpr const char* copy_of_result = "copy_of_result";

/// If `result` is unreadable, as a kill may leave it, and the checkpoint has a copy: replaces it by the copy, renames
/// the old file to `<result>.unreadable` and returns true. Throws FileError if that name exists already, the copy is
/// not a result of the checkpoint's recipe, or it cannot be written. For one rank.
bool restore_unreadable_from_copy(const std::string& result, const ResultReader& checkpoint);

/// If the checkpoint has a copy: replaces a readable result by it and returns true; later records are computed again.
/// Throws FileError as above. For one rank.
bool roll_back_to_copy(const std::string& result, const ResultReader& checkpoint);

}  // namespace bathline
