// The copy of a result that a checkpoint holds, where the result itself was torn by a kill.
#pragma once

#include <string>

#include "record/result_file.hpp"

namespace bathline {

/// The group of a checkpoint with the bytes of its result, eight in every number: HDF5 hands numbers of our own kind on
/// as they are.
inline constexpr const char* copy_of_result = "copy_of_result";

/// Where `result` is there, as a kill may leave one, and cannot be read: puts the copy in its place, if the checkpoint
/// has one, and keeps what it was as `<result>.unreadable`. Whether it did. Throws FileError where there is such a file
/// already, where the copy is no result of the checkpoint's recipe, or where it cannot be written. For one rank.
bool restore_unreadable_from_copy(const std::string& result, const ResultReader& checkpoint);

/// Puts the copy, if the checkpoint has one, in the place of a result of its recipe that can be read: what it holds
/// beyond the copy is computed once more. Whether it did. Throws FileError as above. For one rank.
bool roll_back_to_copy(const std::string& result, const ResultReader& checkpoint);

}  // namespace bathline
