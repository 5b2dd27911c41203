// Integrity of results: by a checksum, or by reading all of a result that has none.
#pragma once

#include <string>

#include "parallel/communicator.hpp"
#include "record/checksum_trailer.hpp"

namespace bathline {

/// Appends the checksum to a complete result, unless it is too large to be read back in about a second. On failure, as
/// on a full disk, the result stays without checksum. @note Collective.
void append_result_checksum(const std::string& path, const Communicator& communicator);

/// Throws FileError if a result is damaged: its checksum does not match, or HDF5 cannot read all of it, which a child
/// process tries. Returns whether it has a checksum; results of older versions, of killed runs, or changed by other
/// programs have none. For one rank.
bool require_intact(const std::string& path);

/// The warning about a result without checksum.
std::string missing_checksum_text(const std::string& path);

}  // namespace bathline
