// Files that end with the checksum of all that lies before: one line of text behind the end of an HDF5 file, which HDF5
// does not look at and cuts off when it changes the file.
#pragma once

#include <cstdint>
#include <string>

#include "parallel/communicator.hpp"

namespace bathline {

/// What the end of a file says of the rest.
enum class ChecksumState {
  valid,    ///< the bytes are those that were sealed
  invalid,  ///< they are not
  missing,  ///< nothing: never sealed, changed by HDF5 since, or cut short
};

/// When the file has to be on the disk: as the system likes, or all of it once its seal is written.
enum class Writing { any_time, at_once };
/// Appends the line to a closed file of this `kind`, "checkpoint" or "result". @note Collective. Throws FileError on
/// every rank.
void append_checksum(const std::string& path, const std::string& kind, Writing writing,
                     const Communicator& communicator);

/// Reads all of a file, each rank its share. @note Collective. Throws FileError on every rank where it cannot be read.
ChecksumState verify_checksum(const std::string& path, const std::string& kind, const Communicator& communicator);
/// The same by one process.
ChecksumState verify_checksum(const std::string& path, const std::string& kind);

/// Bytes of a regular file; throws FileError where there is none.
std::int64_t size_of_file(const std::string& path);

/// A number that is another one for every value and shows nothing of its pattern: the finaliser of splitmix64.
std::uint64_t mix_bits(std::uint64_t value);

}  // namespace bathline
