// A variable that is extended along its first dimension. Only for .cpp files of record/.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "record/hdf5_layout.hpp"

namespace bathline {

/// Rows of doubles. Extending is collective; the caller decides which ranks write.
class ExtendibleDataset {
 public:
  /// Creates `target`; `chunk` is the shape of its chunks, `row` the shape of a row, with one dimension less.
  /// @note Collective.
  ExtendibleDataset(hid_t file, const hdf5::DatasetPath& target, std::span<const hsize_t> row,
                    std::span<const hsize_t> chunk, const std::string& units, const std::string& long_name);
  /// Opens an existing variable.
  ExtendibleDataset(hid_t file, const hdf5::DatasetPath& target);

  const hdf5::Dataset& dataset() const { return dataset_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t width() const { return width_; }  ///< values in a row
  /// Bytes by which the file grows for `rows` rows, including the padding of chunks.
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
