// Reading a result file by one process, without MPI-IO.
// Tested by tests/record/result_file_test.cpp.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include <sys/stat.h>

#include <fmt/format.h>

#include "record/disk_space.hpp"
#include "record/file_scan.hpp"
#include "record/hdf5_layout.hpp"
#include "record/result_file.hpp"

namespace bathline {

struct ResultReader::State {
  std::string path;
  hdf5::File file;

  /// Calls `work` and turns HDF5's failures into FileError with the name of the file.
  template <class Work>
  auto reading(const std::string& what, Work&& work) const {
    try {
      return work();
    } catch (const hdf5::Failure& failure) {
      throw FileError("cannot read {} of {}: {}", what, path, failure.what());
    } catch (const std::bad_alloc&) {
      throw FileError("cannot read {} of {}: it is larger than the memory", what, path);
    } catch (const std::length_error&) {
      throw FileError("cannot read {} of {}: its declared size is invalid", what, path);
    }
  }

  hdf5::Dataset open(const std::string& variable) const {
    if (!hdf5::exists(file.id(), variable)) throw FileError("{} has no {}", path, variable);
    return hdf5::open(file.id(), variable);
  }

  hdf5::Object open_object(const std::string& object) const {
    if (!hdf5::exists(file.id(), object)) throw FileError("{} has no {}", path, object);
    return hdf5::Object(hdf5::check(H5Oopen(file.id(), object.c_str(), H5P_DEFAULT), "opening"));
  }

  bool is_of_kind(const std::string& object, H5I_type_t kind) const {
    return reading(object,
                   [&] { return hdf5::exists(file.id(), object) && H5Iget_type(open_object(object).id()) == kind; });
  }
};

namespace {

std::size_t product(std::span<const hsize_t> lengths) {
  std::size_t total = 1;
  for (const auto length : lengths) total *= length;
  return total;
}

bool is_of_numbers(const hdf5::Dataset& variable) {
  const hdf5::Datatype type(hdf5::check(H5Dget_type(variable.id()), "reading a type"));
  const H5T_class_t kind = H5Tget_class(type.id());
  return kind == H5T_INTEGER || kind == H5T_FLOAT;
}

void require_numbers(const hdf5::Dataset& variable) {
  if (!is_of_numbers(variable)) throw hdf5::Failure("it does not hold numbers");
}

std::string text_attribute(const hdf5::Object& object, const std::string& name) {
  const hdf5::Attribute attribute(hdf5::check(H5Aopen(object.id(), name.c_str(), H5P_DEFAULT), "opening an attribute"));
  const hdf5::Datatype type(hdf5::check(H5Aget_type(attribute.id()), "reading a type"));
  if (hdf5::check(H5Aget_storage_size(attribute.id()), "reading a size") == 0) return "";
  const hdf5::Dataspace space(hdf5::check(H5Aget_space(attribute.id()), "reading a shape"));
  if (hdf5::check(H5Sget_simple_extent_npoints(space.id()), "reading a shape") != 1) {
    throw hdf5::Failure("it is not a single value");
  }
  const H5T_class_t kind = H5Tget_class(type.id());
  if (kind == H5T_INTEGER) {
    long long value = 0;
    hdf5::check(H5Aread(attribute.id(), H5T_NATIVE_LLONG, &value), "reading an attribute");
    return fmt::format("{}", value);
  }
  if (kind == H5T_FLOAT) {
    double value = 0.0;
    hdf5::check(H5Aread(attribute.id(), H5T_NATIVE_DOUBLE, &value), "reading an attribute");
    return fmt::format("{}", value);
  }
  if (kind != H5T_STRING) throw hdf5::Failure("it is neither a text nor a number");
  if (hdf5::check(H5Tis_variable_str(type.id()), "reading a type") > 0) {
    char* text = nullptr;
    hdf5::check(H5Aread(attribute.id(), type.id(), &text), "reading an attribute");
    const std::string result = text == nullptr ? "" : text;
    H5free_memory(text);
    return result;
  }
  std::string text(H5Tget_size(type.id()), '\0');
  hdf5::check(H5Aread(attribute.id(), type.id(), text.data()), "reading an attribute");
  text.resize(std::strlen(text.c_str()));
  return text;
}

}  // namespace

ResultReader::ResultReader(const std::string& path) : state_(std::make_shared<State>()) {
  hdf5::prepare_library();
  state_->path = path;
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || access(path.c_str(), R_OK) != 0) {
    throw FileError("cannot read {}: {}", path, system_error_message(errno));
  }
  if (S_ISDIR(status.st_mode)) throw FileError("cannot read {}: {}", path, system_error_message(EISDIR));
  if (!S_ISREG(status.st_mode)) throw FileError("cannot read {}: it is not a regular file", path);
  if (H5Fis_hdf5(path.c_str()) <= 0) {
    throw FileError("cannot read {}: it is not an HDF5 file, or its writer was killed early", path);
  }
  state_->reading("the beginning", [&] {
    const hdf5::PropertyList access_list(hdf5::check(H5Pcreate(H5P_FILE_ACCESS), "creating properties"));
    // Some shared file systems do not support locks; a reader does not need them.
    hdf5::check(H5Pset_file_locking(access_list.id(), false, true), "choosing locks");
    state_->file = hdf5::File(hdf5::check(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access_list.id()), "opening"));
  });
  state_->reading("the content", [&] { refuse_external_links(state_->file, path); });
}

const std::string& ResultReader::path() const { return state_->path; }

void ResultReader::read_everything(const std::string& prefix,
                                   const std::function<void(const std::string&)>& report) const {
  bathline::read_everything(state_->file, state_->path, prefix, report);
}

bool ResultReader::has(const std::string& path) const {
  return state_->reading(path, [&] { return hdf5::exists(state_->file.id(), path); });
}

bool ResultReader::is_group(const std::string& path) const { return state_->is_of_kind(path, H5I_GROUP); }

bool ResultReader::holds_numbers(const std::string& path) const {
  return state_->reading(path, [&] { return is_of_numbers(state_->open(path)); });
}

bool ResultReader::is_variable(const std::string& path) const { return state_->is_of_kind(path, H5I_DATASET); }

std::vector<std::string> ResultReader::names(const std::string& group) const {
  return state_->reading(group, [&] {
    const auto object = state_->open_object(group);
    const auto collect = [](hid_t, const char* name, const H5L_info_t*, void* names) -> herr_t {
      static_cast<std::vector<std::string>*>(names)->emplace_back(name);
      return 0;
    };
    std::vector<std::string> names;
    hdf5::check(H5Literate(object.id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, collect, &names), "listing a group");
    return names;
  });
}

std::vector<std::int64_t> ResultReader::shape(const std::string& path) const {
  return state_->reading(path, [&] {
    const auto shape = hdf5::shape_of(state_->open(path));
    return std::vector<std::int64_t>(shape.begin(), shape.end());
  });
}

bool ResultReader::grows(const std::string& path) const {
  return state_->reading(path, [&] {
    const auto variable = state_->open(path);
    const hdf5::Dataspace space(hdf5::check(H5Dget_space(variable.id()), "reading a shape"));
    std::vector<hsize_t> max_shape(hdf5::shape_of(variable).size());
    if (max_shape.empty()) return false;
    hdf5::check(H5Sget_simple_extent_dims(space.id(), nullptr, max_shape.data()), "reading a shape");
    return max_shape.front() == H5S_UNLIMITED;
  });
}

std::string ResultReader::scale(const std::string& path, std::size_t index) const {
  return state_->reading(path, [&] {
    const auto variable = state_->open(path);
    if (index >= hdf5::shape_of(variable).size()) return std::string();
    const auto store_path = [](hid_t, unsigned, hid_t scale, void* path) -> herr_t {
      const ssize_t length = H5Iget_name(scale, nullptr, 0);
      if (length <= 0) return -1;
      std::string name(static_cast<std::size_t>(length), '\0');
      H5Iget_name(scale, name.data(), name.size() + 1);
      *static_cast<std::string*>(path) = name.substr(std::min(name.size(), name.find_first_not_of('/')));
      return 1;  // stop at the first scale
    };
    std::string scale_path;
    hdf5::check(H5DSiterate_scales(variable.id(), static_cast<unsigned>(index), nullptr, store_path, &scale_path),
                "looking for a dimension scale");
    return scale_path;
  });
}

ResultReader::Array ResultReader::read_rows(const std::string& path, std::int64_t first, std::int64_t count) const {
  return state_->reading(path, [&] {
    const auto variable = state_->open(path);
    require_numbers(variable);
    auto shape = hdf5::shape_of(variable);
    if (shape.empty() || first < 0 || count < 0 || count > static_cast<std::int64_t>(shape.front()) - first) {
      throw hdf5::Failure(fmt::format("it has no rows {} to {}", first, first + count));
    }
    require_stored(variable, sizeof(double));
    shape.front() = static_cast<hsize_t>(count);
    Array array{{shape.begin(), shape.end()}, std::vector<double>(product(shape)), ""};
    if (has_attribute("units", path)) array.units = attribute("units", path);
    if (array.values.empty()) return array;
    std::vector<hsize_t> start(shape.size(), 0);
    start.front() = static_cast<hsize_t>(first);
    const hdf5::Dataspace space(hdf5::check(H5Dget_space(variable.id()), "reading a shape"));
    hdf5::check(H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start.data(), nullptr, shape.data(), nullptr),
                "selecting");
    const auto memory = hdf5::memory_of(array.values.size());
    hdf5::check(H5Dread(variable.id(), H5T_NATIVE_DOUBLE, memory.id(), space.id(), H5P_DEFAULT, array.values.data()),
                "reading");
    return array;
  });
}

ResultReader::Array ResultReader::read(const std::string& path) const {
  const auto lengths = shape(path);
  if (!lengths.empty()) return read_rows(path, 0, lengths.front());
  return state_->reading(path, [&] {
    const auto variable = state_->open(path);
    require_numbers(variable);
    Array array{{}, {0.0}, has_attribute("units", path) ? attribute("units", path) : ""};
    hdf5::check(H5Dread(variable.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, array.values.data()),
                "reading");
    return array;
  });
}

std::vector<std::string> ResultReader::read_texts(const std::string& path) const {
  return state_->reading(path, [&] {
    const auto variable = state_->open(path);
    const hdf5::Datatype type(hdf5::check(H5Dget_type(variable.id()), "reading a type"));
    if (H5Tget_class(type.id()) != H5T_STRING) throw hdf5::Failure("it does not hold texts");
    const std::size_t width = H5Tget_size(type.id());
    require_stored(variable, width);
    const std::size_t count = product(hdf5::shape_of(variable));
    std::vector<std::string> texts;
    if (count == 0) return texts;
    const auto read = [&](void* values) {
      hdf5::check(H5Dread(variable.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "reading");
    };
    if (hdf5::check(H5Tis_variable_str(type.id()), "reading a type") > 0) {
      std::vector<char*> pointers(count, nullptr);
      read(pointers.data());
      for (const char* text : pointers) texts.emplace_back(text == nullptr ? "" : text);
      const hdf5::Dataspace space(hdf5::check(H5Dget_space(variable.id()), "reading a shape"));
      H5Dvlen_reclaim(type.id(), space.id(), H5P_DEFAULT, pointers.data());
      return texts;
    }
    // Older results have texts of fixed width.
    std::string bytes(width * count, '\0');
    read(bytes.data());
    for (std::size_t i = 0; i < count; ++i) {
      const std::string padded = bytes.substr(i * width, width);
      texts.push_back(padded.substr(0, padded.find('\0')));
    }
    return texts;
  });
}

std::vector<std::string> ResultReader::attribute_names() const {
  return state_->reading("the attributes", [&] {
    const auto collect = [](hid_t, const char* name, const H5A_info_t*, void* names) -> herr_t {
      static_cast<std::vector<std::string>*>(names)->emplace_back(name);
      return 0;
    };
    std::vector<std::string> names;
    hdf5::check(H5Aiterate2(state_->file.id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, collect, &names),
                "listing the attributes");
    return names;
  });
}

bool ResultReader::has_attribute(const std::string& name, const std::string& object) const {
  return state_->reading(name, [&] {
    if (!hdf5::exists(state_->file.id(), object)) return false;
    return hdf5::check(H5Aexists(state_->open_object(object).id(), name.c_str()), "looking for an attribute") > 0;
  });
}

std::string ResultReader::attribute(const std::string& name, const std::string& object) const {
  if (!has_attribute(name, object)) {
    throw FileError("{} has no attribute {} of {}", state_->path, name, object);
  }
  return state_->reading(name, [&] { return text_attribute(state_->open_object(object), name); });
}

}  // namespace bathline
