// Whether a result is what was written: by its seal, by a copy, or by digests of its records.
#pragma once

#include <string>

#include "parallel/communicator.hpp"
#include "record/checkpoint_file.hpp"
#include "record/checksum_trailer.hpp"
#include "record/file_scan.hpp"

namespace bathline {

/// Ends a complete result with the checksum of all of it, up to a size that is read back in a second or so. Where that
/// cannot be, as on a full disk, it stays as it is. @note Collective.
void append_result_checksum(const std::string& path, const Communicator& communicator);

/// Throws FileError where a result is damaged: its checksum is another one, or HDF5 cannot read all of it. Whether it
/// has a checksum: an older program, a kill or a change by another program leaves it without. For one rank.
bool require_intact(const std::string& path);

/// Why HDF5 cannot read all that is in a file, in words that name it, found out in a process of its own; or "". For one
/// rank.
std::string why_unreadable(const std::string& path);

/// What is to be said of one without.
std::string missing_checksum_text(const std::string& path);

/// Writes what is known of the records before a checkpoint: their digests, where the result is too large for a copy.
/// Those in `known` are not read again. The result must have been flushed. @note Collective. Throws FileError on every
/// rank.
void write_digests(ResultFile& checkpoint, const std::string& result, RecordDigests& known,
                   const Communicator& communicator);
/// What a checkpoint holds of that, nothing where it has a copy or is of before.
RecordDigests read_digests(const ResultReader& checkpoint);

/// Makes a result that can be read what it was at a checkpoint, as far as that knows: one whose seal is right is
/// trusted, in the place of any other one its copy is put. Without a copy its records must be those that were digested.
/// Throws FileError on every rank where they are not. `unverified` is what could not be checked, "" if nothing. @note
/// Collective.
void restore_result(const std::string& result, ChecksumState checksum_state, const CheckpointReader& checkpoint,
                    std::string& unverified, const Communicator& communicator);

}  // namespace bathline
