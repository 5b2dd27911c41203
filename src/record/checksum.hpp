// A checksum at the end of a file: one line of text after the HDF5 data, with the checksum of all bytes before it. HDF5
// ignores the line, and truncates it when it changes the file.
//
// HDF5's own checksum of values (Fletcher32) is not used: it covers a chunk of up to 1024 records, which every flush
// would rewrite in place. A kill during the write would leave an unreadable chunk and lose records that were flushed
// before.
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

/// Appends the checksum to a complete result, unless it is too large to be read back in about a second. On failure, as
/// on a full disk, the result stays without checksum. @note Collective.
void append_result_checksum(const std::string& path, const Communicator& communicator);

/// Throws FileError if a result is damaged: its checksum does not match, or HDF5 cannot read all of it, which a child
/// process tries. Returns whether it has a checksum; results of older versions, of killed runs, or changed by other
/// programs have none. For one rank.
bool require_intact(const std::string& path);

/// The warning about a result without checksum.
std::string missing_checksum_text(const std::string& path);

/// Size in bytes of a regular file; throws FileError if there is none.
std::int64_t size_of_file(const std::string& path);
/// The same without the checksum line, which the file must have.
std::int64_t size_without_checksum(const std::string& path, const std::string& kind);

/// Appends `count` bytes of the file `from`, beginning at `first`, to the file `to`, which is created if there is none.
/// Throws FileError. For one rank.
void append_bytes(const std::string& from, std::int64_t first, std::int64_t count, const std::string& to);

}  // namespace bathline
