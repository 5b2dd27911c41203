// Dimension scales: the coordinate values of a dimension, shared by the variables of a group. Only for .cpp files of
// record/. Collective in a file that all ranks have open.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "record/hdf5_layout.hpp"
#include "record/result_file.hpp"

namespace bathline {

/// A scale that has been created, but whose values have not yet been written by one process.
struct NewScale {
  hdf5::Dataset dataset;
  Dimension dimension;
};

/// Throws std::logic_error if `path` exists already.
void require_absent(hid_t file, const std::string& path);

/// Throws std::logic_error if a dimension is named twice (xarray then loses both) or has another length than the scale
/// of that name in `group`. Returns the number of values over these dimensions.
std::int64_t require_consistent(hid_t file, const std::string& group, std::span<const Dimension> dimensions);

/// Attaches the scale of `dimension` to `variable` as number `index`, creating it if `group` does not have
/// it; a new scale is added to `created`.
void attach_scale(hid_t file, const std::string& group, const Dimension& dimension, const hdf5::Dataset& variable,
                  unsigned index, std::vector<NewScale>& created);

/// For one process.
void write_all(const NewScale& scale);

/// A dimension whose values are 0, 1, 2...
Dimension numbered_dimension(const std::string& name, std::size_t length);

}  // namespace bathline
