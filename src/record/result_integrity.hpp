// Integrity of results: by a checksum, by a copy in a checkpoint, or by digests of the records.
#pragma once

#include <string>

#include "parallel/communicator.hpp"
#include "record/checkpoint_file.hpp"
#include "record/checksum_trailer.hpp"
#include "record/file_scan.hpp"

namespace bathline {

/// Appends the checksum to a complete result, unless it is too large to be read back in about a second. On failure, as
/// on a full disk, the result stays without checksum. @note Collective.
void append_result_checksum(const std::string& path, const Communicator& communicator);

/// Throws FileError if a result is damaged: its checksum does not match, or HDF5 cannot read all of it. Returns whether
/// it has a checksum; results of older versions, of killed runs, or changed by other programs have none. For one rank.
bool require_intact(const std::string& path);

/// Why HDF5 cannot read a file completely, with the name of the file, or "". Reads it in a child process. For one rank.
std::string why_unreadable(const std::string& path);

/// The warning about a result without checksum.
std::string missing_checksum_text(const std::string& path);

/// Writes the digests of the records before a checkpoint, if the result is too large for a copy. The rows in `digests`
/// are not read again; it is updated. The result must have been flushed. @note Collective. Throws FileError on every
/// rank.
void write_digests(ResultFile& checkpoint, const std::string& result, RecordDigests& digests,
                   const Communicator& communicator);
/// The digests in a checkpoint; none if it has a copy or was written by an older version.
RecordDigests read_digests(const ResultReader& checkpoint);

/// Restores a readable result to its state at a checkpoint: a result with a valid checksum is accepted, any other one
/// is replaced by the copy in the checkpoint. Without a copy its records must match the digests, else FileError is
/// thrown on every rank. `unverified` is a warning about what could not be checked, or "". @note Collective.
void restore_result(const std::string& result, ChecksumState checksum_state, const CheckpointReader& checkpoint,
                    std::string& unverified, const Communicator& communicator);

}  // namespace bathline
