// Everything in an HDF5 file, read for the sake of whether it can be, and digests of its records.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace bathline {

/// Reads every attribute and every value of a file. `at` hears what is being read. Throws FileError naming the first
/// object that cannot be.
void read_everything(const std::string& path, const std::function<void(const std::string&)>& at);

/// So many rows of a variable and their digest: a sum over their values of numbers that are others for every value and
/// place. Whoever changes one value changes it; rows that are added, by any rank, add to it.
struct RecordDigest {
  std::int64_t rows = 0;
  std::uint64_t sum = 0;
};
using RecordDigests = std::map<std::string, RecordDigest>;  // by the path of the variable

/// Of all variables of numbers of a file, beyond the rows that are `known`. This is one of `shares` shares, whose sums
/// add up to the whole; the sums of what is known are not in it.
RecordDigests record_digests(const std::string& path, const RecordDigests& known, int share, int shares);

/// Throws FileError naming the first variable of a file whose first rows are not those that were digested.
void compare_records(const std::string& path, const RecordDigests& digests,
                     const std::function<void(const std::string&)>& at);

}  // namespace bathline
