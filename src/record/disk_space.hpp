// Reserving disk space before writing.
#pragma once

#include <cstdint>
#include <string>

namespace bathline {

/// Reserves the bytes [from, to) of the file open as `descriptor` without changing its size or contents, so that
/// writing there later cannot fail on a full disk. Returns 0 or the system's error number (ENOSPC, EDQUOT, EIO; EFBIG
/// if `ulimit -f` does not permit that size). On file systems without reservation (NFS 3, some parallel ones) it only
/// compares with the free space.
int preallocate(int descriptor, std::int64_t from, std::int64_t to);

/// Releases the space reserved beyond the end of the file.
void release_preallocated(int descriptor);

/// Whether the disk of `path` is practically full: the probable reason of a failed write that gives none.
bool is_disk_full(const std::string& path);

/// The system's message for an error number.
std::string system_error_message(int number);

}  // namespace bathline
