// Finding, checking and creating dimension scales.
// Tested by tests/record/series_writer_test.cpp.
#include "record/dimension_scale.hpp"

#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

namespace bathline {

std::int64_t require_new(hid_t file, const hdf5::DatasetPath& target, std::span<const Dimension> dimensions) {
  if (hdf5::exists(file, target.path())) throw std::logic_error(target.path() + " is in the file already");
  std::int64_t total = 1;
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const auto scale = hdf5::dataset_path(target.group, dimensions[i].name);
    const std::size_t length = dimensions[i].length();
    if (scale.name == target.name) throw std::logic_error(target.path() + " cannot be a dimension of itself");
    for (std::size_t j = 0; j < i; ++j) {
      if (dimensions[j].name == dimensions[i].name) throw std::logic_error(scale.path() + " is used twice");
    }
    if (hdf5::exists(file, scale.path()) &&
        hdf5::shape_of(hdf5::open(file, scale.path())) != std::vector<hsize_t>{length}) {
      throw std::logic_error(fmt::format("{} is in the file with a length other than {}", scale.path(), length));
    }
    total *= static_cast<std::int64_t>(length);
  }
  return total;
}

void attach_scales(hid_t file, const std::string& group, std::span<const Dimension> dimensions,
                   const hdf5::Dataset& variable, unsigned first, std::vector<NewScale>& created) {
  for (const Dimension& dimension : dimensions) {
    const auto target = hdf5::dataset_path(group, dimension.name);
    if (hdf5::exists(file, target.path())) {
      hdf5::attach(variable, hdf5::open(file, target.path()), first++);
      continue;
    }
    const hsize_t shape[1] = {dimension.length()};
    const bool is_of_texts = !dimension.names.empty();
    NewScale scale{is_of_texts
                       ? hdf5::create_texts(file, target, dimension.units, dimension.long_name, dimension.names)
                       : hdf5::create(file, target, H5T_IEEE_F64LE, dimension.units, dimension.long_name, shape),
                   dimension.values};
    hdf5::make_dimension_scale(scale.dataset, target.name);
    hdf5::attach(variable, scale.dataset, first++);
    if (!is_of_texts) created.push_back(std::move(scale));
  }
}

Dimension counted_dimension(const std::string& name, std::size_t count, const std::string& long_name, double first) {
  Dimension dimension{name, std::vector<double>(count), "1", long_name};
  std::iota(dimension.values.begin(), dimension.values.end(), first);
  return dimension;
}

}  // namespace bathline
