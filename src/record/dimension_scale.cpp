// Finding, checking and creating dimension scales.
// Tested by tests/record/series_writer_test.cpp.
#include "record/dimension_scale.hpp"

#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

namespace bathline {

void require_absent(hid_t file, const std::string& path) {
  if (hdf5::exists(file, path)) throw std::logic_error(path + " is in the file already");
}

std::int64_t require_consistent(hid_t file, const std::string& group, std::span<const Dimension> dimensions) {
  std::int64_t total = 1;
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const auto target = hdf5::dataset_path(group, dimensions[i].name);
    const std::size_t length = dimensions[i].length();
    for (std::size_t j = 0; j < i; ++j) {
      if (dimensions[j].name == dimensions[i].name) throw std::logic_error(target.path() + " is used twice");
    }
    if (hdf5::exists(file, target.path())) {
      const auto shape = hdf5::shape_of(hdf5::open(file, target.path()));
      if (shape.size() != 1 || shape[0] != length) {
        throw std::logic_error(fmt::format("{} is in the file with a length other than {}", target.path(), length));
      }
    }
    total *= static_cast<std::int64_t>(length);
  }
  return total;
}

void attach_scale(hid_t file, const std::string& group, const Dimension& dimension, const hdf5::Dataset& variable,
                  unsigned index, std::vector<NewScale>& created) {
  const auto target = hdf5::dataset_path(group, dimension.name);
  if (hdf5::exists(file, target.path())) {
    hdf5::attach(variable, hdf5::open(file, target.path()), index);
    return;
  }
  const auto parent = hdf5::ensure_group(file, target.group);
  const hsize_t shape[1] = {dimension.length()};
  NewScale scale{dimension.names.empty()
                     ? hdf5::create(parent.id(), target.name, H5T_IEEE_F64LE, shape)
                     : hdf5::create_texts(parent.id(), target.name, shape[0], hdf5::width_of(dimension.names)),
                 dimension};
  hdf5::describe(scale.dataset.id(), dimension.units, dimension.long_name);
  hdf5::make_dimension_scale(scale.dataset, target.name);
  hdf5::attach(variable, scale.dataset, index);
  created.push_back(std::move(scale));
}

void write_all(const NewScale& scale) {
  const Dimension& dimension = scale.dimension;
  if (dimension.names.empty()) {
    hdf5::write_all(scale.dataset, dimension.values);
  } else {
    hdf5::write_all(scale.dataset, hdf5::TextColumn(dimension.names, hdf5::width_of(dimension.names)));
  }
}

Dimension numbered_dimension(const std::string& name, std::size_t length) {
  Dimension dimension{name, std::vector<double>(length), "1", name};
  std::iota(dimension.values.begin(), dimension.values.end(), 0.0);
  return dimension;
}

}  // namespace bathline
