// A variable that is extended along its first dimension; for .cpp files of record/ only.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "record/hdf5_layout.hpp"

namespace bathline {

/// Rows of doubles. The ranks extend it together; who writes into it is up to the caller.
class ExtendibleDataset {
 public:
  /// Creates `place`; `chunk` is the shape of its chunks, `row` that of a row: one dimension less. @note Collective.
  ExtendibleDataset(hid_t file, const hdf5::DatasetPath& place, std::span<const hsize_t> row,
                    std::span<const hsize_t> chunk, const std::string& units, const std::string& long_name);
  /// Opens the one without dimensions but the growing one that is there already.
  ExtendibleDataset(hid_t file, const hdf5::DatasetPath& place, hsize_t chunk);
  /// Opens any that is there already.
  ExtendibleDataset(hid_t file, const hdf5::DatasetPath& place);

  /// Cuts the variable off behind its first `rows` rows; a Failure where it has fewer. Nobody may have it open: HDF5
  /// keeps what it has cut in a cache that later writes of other ranks do not see, until the variable is closed.
  /// @note Collective.
  static void cut(hid_t file, const hdf5::DatasetPath& place, std::int64_t rows);

  const hdf5::Dataset& dataset() const { return dataset_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t width() const { return width_; }  ///< values in a row
  /// Bytes by which the file grows when this has `rows` rows, the chunks' padding included.
  std::int64_t growth(std::int64_t rows) const;
  /// @note Collective.
  void resize(std::int64_t rows);
  /// Writes whole rows from this process alone.
  void write_rows(std::int64_t first, std::span<const double> values) const;

 private:
  std::int64_t bytes_for(std::int64_t rows) const;

  hdf5::Dataset dataset_;
  std::vector<hsize_t> row_, chunk_;
  std::int64_t rows_ = 0;
  std::int64_t width_ = 1;
};

}  // namespace bathline
