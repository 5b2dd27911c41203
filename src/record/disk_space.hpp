// Room on the disk, claimed before it is written to.
#pragma once

#include <cstdint>
#include <string>

namespace bathline {

/// Claims the bytes [from, to) of the file open as `descriptor` without changing its size or contents, so that writing
/// there later cannot fail for want of room. Returns 0 or the system's error number (ENOSPC, EDQUOT, EIO; EFBIG where
/// the limit of the process on the size of files, `ulimit -f`, is in the way).
/// Where the file system cannot claim (NFS 3, some parallel ones) it only compares with the free space.
int preallocate(int descriptor, std::int64_t from, std::int64_t to);

/// Gives back what was claimed beyond the end of the file.
void release_preallocated(int descriptor);

/// Whether next to nothing is left on the disk of `path`: what a failed write means that does not give its reason.
bool is_disk_full(const std::string& path);

/// The system's words for an error number.
std::string system_error_message(int number);

}  // namespace bathline
