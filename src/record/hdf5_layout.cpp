// Creating groups, variables, dimension scales and attributes with HDF5.
// Tested by tests/record/result_file_test.cpp.
#include "record/hdf5_layout.hpp"

#include <algorithm>

namespace bathline::hdf5 {

namespace {

/// Makes HDF5 terminate during MPI_Finalize: it closes files that a failure has left open, which needs MPI. By itself
/// it does so only if MPI was initialised before HDF5's first use, which is not the case in a single process.
void close_hdf5_in_mpi_finalize() {
  static bool is_registered = false;
  if (is_registered) return;
  const auto end = [](MPI_Comm, int, void*, void*) -> int {
    H5close();
    return MPI_SUCCESS;
  };
  // MPI_Finalize first deletes the attributes of MPI_COMM_SELF.
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
  MPI_Comm_free_keyval(&key);
  is_registered = true;
}

/// The paths of all prefixes of "a/b/c": "a", "a/b", "a/b/c"; slashes at the ends are dropped.
std::vector<std::string> prefixes(const std::string& path) {
  std::vector<std::string> result;
  std::string prefix;
  std::size_t start = 0;
  while (start < path.size()) {
    const std::size_t end = std::min(path.find('/', start), path.size());
    if (end > start) {
      if (!prefix.empty()) prefix += '/';
      prefix.append(path, start, end - start);
      result.push_back(prefix);
    }
    start = end + 1;
  }
  return result;
}

Attribute replace_attribute(hid_t object, const std::string& name, hid_t type) {
  if (check(H5Aexists(object, name.c_str()), "looking for an attribute") > 0) {
    check(H5Adelete(object, name.c_str()), "replacing an attribute");
  }
  const Dataspace scalar(check(H5Screate(H5S_SCALAR), "creating a dataspace"));
  return Attribute(
      check(H5Acreate2(object, name.c_str(), type, scalar.id(), H5P_DEFAULT, H5P_DEFAULT), "creating an attribute"));
}

Datatype utf8_text() {
  Datatype type(check(H5Tcopy(H5T_C_S1), "creating a text type"));
  check(H5Tset_size(type.id(), H5T_VARIABLE), "creating a text type");
  check(H5Tset_cset(type.id(), H5T_CSET_UTF8), "creating a text type");
  return type;
}

}  // namespace

DatasetPath dataset_path(const std::string& group, const std::string& name) {
  const auto paths = prefixes(group + "/" + name);
  DatasetPath result;
  if (paths.empty()) return result;
  if (paths.size() > 1) result.group = paths[paths.size() - 2];
  result.name = paths.back().substr(result.group.empty() ? 0 : result.group.size() + 1);
  return result;
}

PropertyList access_by(MPI_Comm comm) {
  close_hdf5_in_mpi_finalize();
  PropertyList access(check(H5Pcreate(H5P_FILE_ACCESS), "creating properties"));
  check(H5Pset_fapl_mpio(access.id(), comm, MPI_INFO_NULL), "choosing MPI-IO");
  check(H5Pset_libver_bounds(access.id(), H5F_LIBVER_V110, H5F_LIBVER_V110), "choosing the format");
  return access;
}

bool exists(hid_t file, const std::string& path) {
  for (const auto& prefix : prefixes(path)) {
    if (check(H5Lexists(file, prefix.c_str(), H5P_DEFAULT), "looking up a name") == 0) return false;
  }
  return true;
}

Group ensure_group(hid_t file, const std::string& path) {
  Group group(check(H5Gopen2(file, "/", H5P_DEFAULT), "opening the root group"));
  for (const auto& prefix : prefixes(path)) {
    group =
        exists(file, prefix)
            ? Group(check(H5Gopen2(file, prefix.c_str(), H5P_DEFAULT), "opening a group"))
            : Group(check(H5Gcreate2(file, prefix.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "creating a group"));
  }
  return group;
}

void write_attribute(hid_t object, const std::string& name, const std::string& value) {
  const Datatype type = utf8_text();
  const Attribute attribute = replace_attribute(object, name, type.id());
  const char* text = value.c_str();
  check(H5Awrite(attribute.id(), type.id(), &text), "writing an attribute");
}

void write_attribute(hid_t object, const std::string& name, std::int64_t value) {
  const Attribute attribute = replace_attribute(object, name, H5T_STD_I64LE);
  check(H5Awrite(attribute.id(), H5T_NATIVE_INT64, &value), "writing an attribute");
}

void write_attribute(hid_t object, const std::string& name, double value) {
  const Attribute attribute = replace_attribute(object, name, H5T_IEEE_F64LE);
  check(H5Awrite(attribute.id(), H5T_NATIVE_DOUBLE, &value), "writing an attribute");
}

void describe(hid_t object, const std::string& units, const std::string& long_name) {
  write_attribute(object, "units", units);
  write_attribute(object, "long_name", long_name);
}

Dataset create(hid_t group, const std::string& name, hid_t type, std::span<const hsize_t> shape,
               std::span<const hsize_t> chunk) {
  std::vector<hsize_t> max_shape(shape.begin(), shape.end());
  const PropertyList properties(check(H5Pcreate(H5P_DATASET_CREATE), "creating properties"));
  check(H5Pset_fill_time(properties.id(), H5D_FILL_TIME_NEVER), "creating properties");
  check(H5Pset_alloc_time(properties.id(), H5D_ALLOC_TIME_EARLY), "creating properties");
  if (!chunk.empty()) {
    max_shape.front() = H5S_UNLIMITED;
    check(H5Pset_chunk(properties.id(), static_cast<int>(chunk.size()), chunk.data()), "setting the chunks");
  }
  const Dataspace space(check(shape.empty()
                                  ? H5Screate(H5S_SCALAR)
                                  : H5Screate_simple(static_cast<int>(shape.size()), shape.data(), max_shape.data()),
                              "creating a dataspace"));
  return Dataset(check(H5Dcreate2(group, name.c_str(), type, space.id(), H5P_DEFAULT, properties.id(), H5P_DEFAULT),
                       "creating a variable"));
}

Dataset create(hid_t file, const DatasetPath& target, hid_t type, const std::string& units,
               const std::string& long_name, std::span<const hsize_t> shape, std::span<const hsize_t> chunk) {
  Dataset variable = create(ensure_group(file, target.group).id(), target.name, type, shape, chunk);
  describe(variable.id(), units, long_name);
  return variable;
}

Dataset create_texts(hid_t file, const DatasetPath& target, const std::string& units, const std::string& long_name,
                     std::span<const std::string> texts) {
  const PropertyList access(check(H5Pcreate(H5P_FILE_ACCESS), "creating properties"));
  check(H5Pset_fapl_core(access.id(), 1 << 16, false), "choosing a file in memory");
  check(H5Pset_libver_bounds(access.id(), H5F_LIBVER_V110, H5F_LIBVER_V110), "choosing the format");
  const File memory(check(H5Fcreate("texts", H5F_ACC_TRUNC, H5P_DEFAULT, access.id()), "creating a file in memory"));
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  const Datatype type = utf8_text();
  const char* name = target.name.c_str();
  {
    const Dataset list(check(
        H5Dcreate2(memory.id(), name, type.id(), memory_of(texts.size()).id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
        "creating a variable"));
    describe(list.id(), units, long_name);
    check(H5Dwrite(list.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data()), "writing");
  }
  check(H5Ocopy(memory.id(), name, ensure_group(file, target.group).id(), name, H5P_DEFAULT, H5P_DEFAULT), "writing");
  return open(file, target.path());
}

std::int64_t bytes_of(std::span<const std::string> texts) {
  constexpr std::int64_t reference = 16, heap_object = 24;
  std::int64_t bytes = 0;
  for (const std::string& text : texts) bytes += reference + heap_object + static_cast<std::int64_t>(text.size());
  return bytes;
}

void make_dimension_scale(const Dataset& variable, const std::string& name) {
  check(H5DSset_scale(variable.id(), name.c_str()), "making a dimension scale");
}

void attach(const Dataset& variable, const Dataset& scale, unsigned index) {
  check(H5DSattach_scale(variable.id(), scale.id(), index), "attaching a dimension scale");
}

Dataset open(hid_t file, const std::string& path) {
  return Dataset(check(H5Dopen2(file, path.c_str(), H5P_DEFAULT), "opening a variable"));
}

std::vector<hsize_t> shape_of(const Dataset& variable) {
  const Dataspace space(check(H5Dget_space(variable.id()), "reading a shape"));
  std::vector<hsize_t> shape(
      static_cast<std::size_t>(check(H5Sget_simple_extent_ndims(space.id()), "reading a shape")));
  if (!shape.empty()) check(H5Sget_simple_extent_dims(space.id(), shape.data(), nullptr), "reading a shape");
  return shape;
}

Dataspace memory_of(std::size_t count) {
  const hsize_t shape[1] = {count};
  return Dataspace(check(H5Screate_simple(1, shape, nullptr), "creating a dataspace"));
}

void write_all(const Dataset& variable, std::span<const double> values) {
  check(H5Dwrite(variable.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "writing");
}

void write_part(const Dataset& variable, std::span<const hsize_t> start, std::span<const hsize_t> count,
                std::span<const double> values, Together together) {
  const Dataspace file_space(check(H5Dget_space(variable.id()), "reading a shape"));
  const Dataspace memory = memory_of(values.size());
  if (values.empty()) {
    check(H5Sselect_none(file_space.id()), "selecting");
    check(H5Sselect_none(memory.id()), "selecting");
  } else {
    check(H5Sselect_hyperslab(file_space.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr),
          "selecting");
  }
  const PropertyList transfer(check(H5Pcreate(H5P_DATASET_XFER), "creating properties"));
  if (together == Together::yes)
    check(H5Pset_dxpl_mpio(transfer.id(), H5FD_MPIO_COLLECTIVE), "choosing collective writing");
  check(H5Dwrite(variable.id(), H5T_NATIVE_DOUBLE, memory.id(), file_space.id(), transfer.id(), values.data()),
        "writing");
}

}  // namespace bathline::hdf5
