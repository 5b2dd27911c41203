// Extending a variable along its first dimension and writing its rows.
// Tested by tests/record/series_writer_test.cpp.
#include "record/extendible_dataset.hpp"

namespace bathline {

ExtendibleDataset::ExtendibleDataset(hdf5::Dataset dataset)
    : dataset_(std::move(dataset)), shape_(hdf5::shape_of(dataset_)), chunk_(shape_.size()) {
  if (shape_.empty()) throw hdf5::Failure("a variable has no rows");
  const hdf5::PropertyList properties(hdf5::check(H5Dget_create_plist(dataset_.id()), "reading the chunks"));
  hdf5::check(H5Pget_chunk(properties.id(), static_cast<int>(chunk_.size()), chunk_.data()), "reading the chunks");
}

std::int64_t ExtendibleDataset::width() const {
  std::int64_t width = 1;
  for (std::size_t i = 1; i < shape_.size(); ++i) width *= static_cast<std::int64_t>(shape_[i]);
  return width;
}

std::int64_t ExtendibleDataset::bytes_for(std::int64_t rows) const {
  hsize_t values = 1;
  for (std::size_t i = 0; i < shape_.size(); ++i) {
    const hsize_t length = i == 0 ? static_cast<hsize_t>(rows) : shape_[i];
    values *= (length + chunk_[i] - 1) / chunk_[i] * chunk_[i];
  }
  return static_cast<std::int64_t>(values * sizeof(double));
}

void ExtendibleDataset::resize(std::int64_t rows) {
  shape_.front() = static_cast<hsize_t>(rows);
  hdf5::check(H5Dset_extent(dataset_.id(), shape_.data()), "extending");
}

void ExtendibleDataset::write_rows(std::int64_t first, std::span<const double> values) const {
  std::vector<hsize_t> start(shape_.size(), 0), count = shape_;
  start.front() = static_cast<hsize_t>(first);
  count.front() = values.size() / static_cast<hsize_t>(width());
  hdf5::write_part(dataset_, start, count, values, hdf5::Together::no);
}

}  // namespace bathline
