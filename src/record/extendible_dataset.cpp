// Extending a variable along its first dimension and writing its rows.
// Tested by tests/record/series_writer_test.cpp.
#include "record/extendible_dataset.hpp"

#include <fmt/format.h>

namespace bathline {

namespace {

hsize_t divide_up(hsize_t a, hsize_t b) { return (a + b - 1) / b; }

}  // namespace

ExtendibleDataset::ExtendibleDataset(hid_t file, const hdf5::DatasetPath& target, std::span<const hsize_t> row,
                                     std::span<const hsize_t> chunk, const std::string& units,
                                     const std::string& long_name)
    : row_(row.begin(), row.end()), chunk_(chunk.begin(), chunk.end()) {
  const auto group = hdf5::ensure_group(file, target.group);
  std::vector<hsize_t> shape{0};
  shape.insert(shape.end(), row.begin(), row.end());
  dataset_ = hdf5::create(group.id(), target.name, H5T_IEEE_F64LE, shape, chunk_);
  hdf5::describe(dataset_.id(), units, long_name);
  for (const auto length : row_) width_ *= static_cast<std::int64_t>(length);
}

ExtendibleDataset::ExtendibleDataset(hid_t file, const hdf5::DatasetPath& target)
    : dataset_(hdf5::open(file, target.path())) {
  const auto shape = hdf5::shape_of(dataset_);
  if (shape.empty()) throw hdf5::Failure(target.path() + " has no rows");
  rows_ = static_cast<std::int64_t>(shape.front());
  const hdf5::PropertyList properties(hdf5::check(H5Dget_create_plist(dataset_.id()), "reading the chunks"));
  chunk_.resize(shape.size());
  hdf5::check(H5Pget_chunk(properties.id(), static_cast<int>(chunk_.size()), chunk_.data()), "reading the chunks");
  row_.assign(shape.begin() + 1, shape.end());
  for (const auto length : row_) width_ *= static_cast<std::int64_t>(length);
}

std::int64_t ExtendibleDataset::bytes_for(std::int64_t rows) const {
  hsize_t values = divide_up(static_cast<hsize_t>(rows), chunk_[0]) * chunk_[0];
  for (std::size_t i = 0; i < row_.size(); ++i) values *= divide_up(row_[i], chunk_[i + 1]) * chunk_[i + 1];
  return static_cast<std::int64_t>(values * sizeof(double));
}

std::int64_t ExtendibleDataset::growth(std::int64_t rows) const { return bytes_for(rows) - bytes_for(rows_); }

void ExtendibleDataset::resize(std::int64_t rows) {
  std::vector<hsize_t> shape{static_cast<hsize_t>(rows)};
  shape.insert(shape.end(), row_.begin(), row_.end());
  hdf5::check(H5Dset_extent(dataset_.id(), shape.data()), "extending");
  rows_ = rows;
}

void ExtendibleDataset::write_rows(std::int64_t first, std::span<const double> values) const {
  const hdf5::Dataspace file_space(hdf5::check(H5Dget_space(dataset_.id()), "reading a shape"));
  std::vector<hsize_t> start(row_.size() + 1, 0);
  std::vector<hsize_t> count{values.size() / static_cast<hsize_t>(width_)};
  start[0] = static_cast<hsize_t>(first);
  count.insert(count.end(), row_.begin(), row_.end());
  hdf5::check(H5Sselect_hyperslab(file_space.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr),
              "selecting");
  const auto memory = hdf5::memory_of(values.size());
  hdf5::check(H5Dwrite(dataset_.id(), H5T_NATIVE_DOUBLE, memory.id(), file_space.id(), H5P_DEFAULT, values.data()),
              "writing");
}

}  // namespace bathline
