// Reading an HDF5 file completely to check that it is readable, and digests of its records.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace bathline {

/// Reads every attribute and every value of a file and calls `report` with the object that is being read. Throws
/// FileError naming the first object that cannot be read.
void read_everything(const std::string& path, const std::function<void(const std::string&)>& report);

/// The number of rows of a variable and their digest: the sum over all values of a hash of value and index. Any changed
/// value changes it, and the digests of parts of the rows, computed by any rank, add up.
struct RecordDigest {
  std::int64_t rows = 0;
  std::uint64_t sum = 0;
};
using RecordDigests = std::map<std::string, RecordDigest>;  // by the path of the variable

/// The digests of all variables of doubles in a file, for the rows after those in `previous`. Part `part` of `parts`,
/// whose sums add up to the digest of these rows.
RecordDigests record_digests(const std::string& path, const RecordDigests& previous, int part, int parts);

/// Throws FileError naming the first variable whose first rows do not match their digest; `report` as above.
void compare_records(const std::string& path, const RecordDigests& digests,
                     const std::function<void(const std::string&)>& report);

}  // namespace bathline
