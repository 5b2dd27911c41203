// A checksum at the end of a file: one line of text after the HDF5 data, with the checksum of all bytes before it. HDF5
// ignores the line, and truncates it when it changes the file.
#pragma once

#include <cstdint>
#include <string>

#include "parallel/communicator.hpp"

namespace bathline {

/// Result of comparing a file with its checksum line.
enum class ChecksumState {
  valid,    ///< the bytes match the checksum
  invalid,  ///< they do not
  missing,  ///< there is no checksum line: never appended, removed by HDF5, or the file is truncated
};

/// Whether the file is synced to the disk after the checksum has been written.
enum class Durability { buffered, synced };
/// Appends the line to a closed file of this `kind`, "checkpoint" or "result". @note Collective. Throws FileError on
/// every rank.
void append_checksum(const std::string& path, const std::string& kind, Durability durability,
                     const Communicator& communicator);

/// Verifies the checksum; each rank reads a part of the file. Throws FileError on every rank if it cannot be read.
/// @note Collective.
ChecksumState verify_checksum(const std::string& path, const std::string& kind, const Communicator& communicator);
/// The same by one process.
ChecksumState verify_checksum(const std::string& path, const std::string& kind);

/// Size in bytes of a regular file; throws FileError if there is none.
std::int64_t size_of_file(const std::string& path);
/// The same without the checksum line, which the file must have.
std::int64_t size_without_checksum(const std::string& path, const std::string& kind);

/// Appends `count` bytes of the file `from`, beginning at `first`, to the file `to`, which is created if there is none.
/// Throws FileError; the disk space is reserved first. For one rank.
void append_bytes(const std::string& from, std::int64_t first, std::int64_t count, const std::string& to);

}  // namespace bathline
