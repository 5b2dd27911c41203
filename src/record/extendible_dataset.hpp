// A variable that is extended along its first dimension. Only for .cpp files of record/.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "record/hdf5_layout.hpp"

namespace bathline {

/// Rows of doubles. Extending is collective; the caller decides which ranks write.
class ExtendibleDataset {
 public:
  /// Takes over an open variable with chunks. Throws Failure if it has none.
  explicit ExtendibleDataset(hdf5::Dataset dataset);

  const hdf5::Dataset& dataset() const { return dataset_; }
  std::int64_t rows() const { return static_cast<std::int64_t>(shape_.front()); }
  std::int64_t width() const;  ///< values in a row
  /// Bytes by which the file grows for `rows` rows, including the padding of chunks.
  std::int64_t growth(std::int64_t rows) const { return bytes_for(rows) - bytes_for(this->rows()); }
  /// @note Collective.
  void resize(std::int64_t rows);
  /// Writes whole rows from this process alone.
  void write_rows(std::int64_t first, std::span<const double> values) const;

 private:
  std::int64_t bytes_for(std::int64_t rows) const;

  hdf5::Dataset dataset_;
  std::vector<hsize_t> shape_, chunk_;
};

}  // namespace bathline
