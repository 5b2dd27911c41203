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

/// A scale of numbers that has been created, but whose values have not yet been written by one process.
struct NewScale {
  hdf5::Dataset dataset;
  std::vector<double> values;
};

/// Throws std::logic_error if `target` exists already, if a dimension is named like it or twice (xarray then loses
/// both), or if one has another length than the scale of that name in its group. Returns the number of values over
/// these dimensions.
std::int64_t require_new(hid_t file, const hdf5::DatasetPath& target, std::span<const Dimension> dimensions);

/// Attaches the scales of the dimensions to `variable` of `group`, from number `first` on. Those that `group` does not
/// have are created; those of numbers are added to `created`.
void attach_scales(hid_t file, const std::string& group, std::span<const Dimension> dimensions,
                   const hdf5::Dataset& variable, unsigned first, std::vector<NewScale>& created);

}  // namespace bathline
