// Visiting all links and objects of a file, and reading their values in blocks of a few megabytes.
// Tested by tests/command_line/strangers_test.py.
#include "record/file_scan.hpp"

#include <algorithm>
#include <exception>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "record/hdf5_layout.hpp"
#include "text/printable_text.hpp"

namespace bathline {

namespace {

using Report = std::function<void(const std::string&)>;

/// Maximal number of values in memory, unless a variable has longer rows.
constexpr hsize_t max_values = hsize_t{1} << 20;

hdf5::Datatype in_memory(hid_t type) {
  return hdf5::Datatype(hdf5::check(H5Tget_native_type(type, H5T_DIR_ASCEND), "reading a type"));
}

bool is_of_variable_length(hid_t type) {
  return hdf5::check(H5Tdetect_class(type, H5T_VLEN), "reading a type") > 0 ||
         (H5Tget_class(type) == H5T_STRING && hdf5::check(H5Tis_variable_str(type), "reading a type") > 0);
}

void read_attribute(hid_t object, const char* name) {
  const hdf5::Attribute attribute(hdf5::check(H5Aopen(object, name, H5P_DEFAULT), "opening an attribute"));
  const hdf5::Datatype type(hdf5::check(H5Aget_type(attribute.id()), "reading a type"));
  const hdf5::Dataspace space(hdf5::check(H5Aget_space(attribute.id()), "reading a shape"));
  const auto count = hdf5::check(H5Sget_simple_extent_npoints(space.id()), "reading a shape");
  const hdf5::Datatype memory = in_memory(type.id());
  std::vector<char> bytes(static_cast<std::size_t>(count) * H5Tget_size(memory.id()));
  if (bytes.empty()) return;
  hdf5::check(H5Aread(attribute.id(), memory.id(), bytes.data()), "reading an attribute");
  if (is_of_variable_length(memory.id())) H5Dvlen_reclaim(memory.id(), space.id(), H5P_DEFAULT, bytes.data());
}

/// Reads all values in blocks, and calls `report` after each.
void read_values(const hdf5::Dataset& variable, const std::function<void()>& report) {
  const hdf5::Datatype type(hdf5::check(H5Dget_type(variable.id()), "reading a type"));
  const hdf5::Datatype memory = in_memory(type.id());
  const std::size_t width = H5Tget_size(memory.id());
  const std::vector<hsize_t> shape = hdf5::shape_of(variable);
  std::vector<char> bytes;
  const auto read = [&](const std::vector<hsize_t>& start, const std::vector<hsize_t>& count) {
    std::size_t values = 1;
    for (const hsize_t length : count) values *= length;
    bytes.resize(values * width);
    const hdf5::Dataspace space(hdf5::check(H5Dget_space(variable.id()), "reading a shape"));
    if (!start.empty()) {
      hdf5::check(H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr),
                  "selecting");
    }
    const hdf5::Dataspace memory_space = hdf5::memory_of(values);
    hdf5::check(H5Dread(variable.id(), memory.id(), memory_space.id(), space.id(), H5P_DEFAULT, bytes.data()),
                "reading");
    report();
    if (is_of_variable_length(memory.id())) H5Dvlen_reclaim(memory.id(), memory_space.id(), H5P_DEFAULT, bytes.data());
  };
  if (shape.empty()) return read({}, {});
  hsize_t row = 1;
  for (std::size_t i = 1; i < shape.size(); ++i) row *= shape[i];
  if (row == 0) return;
  std::vector<hsize_t> start(shape.size(), 0), count(shape);
  // Rows that are too long are divided along the second dimension.
  const hsize_t inner = shape.size() > 1 ? row / shape[1] : 1;
  const hsize_t across = row <= max_values ? 0 : std::max<hsize_t>(1, max_values / inner);
  const hsize_t along = across > 0 ? 1 : max_values / row;
  for (hsize_t r = 0; r < shape[0]; r += along) {
    start[0] = r;
    count[0] = std::min(along, shape[0] - r);
    for (hsize_t c = 0; across > 0 && c < shape[1]; c += across) {
      start[1] = c;
      count[1] = std::min(across, shape[1] - c);
      read(start, count);
    }
    if (across == 0) read(start, count);
  }
}

using Visit = std::function<void(const std::string& path, const hdf5::Object& object)>;

/// Calls `visit` for every object, with the path "/" for the root group.
void walk(const hdf5::File& file, const Visit& visit) {
  struct State {
    const Visit& visit;
    std::exception_ptr failure;
  } state{visit, nullptr};
  const auto step = [](hid_t root, const char* name, const H5O_info_t*, void* data) -> herr_t {
    auto& state = *static_cast<State*>(data);
    try {  // exceptions must not propagate through HDF5
      const hdf5::Object object(hdf5::check(H5Oopen(root, name, H5P_DEFAULT), "opening"));
      state.visit(std::string(name) == "." ? "/" : name, object);
      return 0;
    } catch (...) {
      state.failure = std::current_exception();
      return -1;
    }
  };
  const herr_t end = H5Ovisit2(file.id(), H5_INDEX_NAME, H5_ITER_INC, step, &state, H5O_INFO_BASIC);
  if (state.failure) std::rethrow_exception(state.failure);
  hdf5::check(end, "iterating over the objects");
}

/// The state of the iteration over the links of a file.
struct LinkWalk {
  std::set<haddr_t> objects;
  std::string problem;
};

/// Why the storage of a variable is not accepted, or "".
std::string storage_problem(hid_t group, const char* name) {
  const hdf5::Dataset variable(hdf5::check(H5Dopen2(group, name, H5P_DEFAULT), "opening a variable"));
  const hdf5::PropertyList properties(hdf5::check(H5Dget_create_plist(variable.id()), "reading properties"));
  if (hdf5::check(H5Pget_layout(properties.id()), "reading a layout") == H5D_VIRTUAL) {
    return "is a virtual dataset of other files";
  }
  return hdf5::check(H5Pget_external_count(properties.id()), "reading a layout") > 0
             ? "stores its values in other files"
             : "";
}

herr_t check_link(hid_t group, const char* name, const H5L_info_t* link, void* data) {
  LinkWalk& walk = *static_cast<LinkWalk*>(data);
  const auto stop = [&](const char* what) {
    walk.problem = fmt::format("`{}` {}", printable(name), what);
    return 1;
  };
  if (link->type == H5L_TYPE_SOFT) return stop("is a soft link");
  if (link->type != H5L_TYPE_HARD) return stop("is a link to another file");
  if (!walk.objects.insert(link->u.address).second) return stop("is a second hard link to an object");
  try {
    H5O_info_t object;
    hdf5::check(H5Oget_info_by_name(group, name, &object, H5P_DEFAULT), "opening");
    if (object.type != H5O_TYPE_DATASET) return 0;
    const std::string problem = storage_problem(group, name);
    return problem.empty() ? 0 : stop(problem.c_str());
  } catch (const hdf5::Failure&) {
    return -1;  // a torn file
  }
}

}  // namespace

void refuse_external_links(const hdf5::File& file, const std::string& path) {
  LinkWalk walk;
  H5O_info_t root;
  hdf5::check(H5Oget_info(file.id(), &root), "opening");
  walk.objects.insert(root.addr);
  hdf5::check(H5Lvisit(file.id(), H5_INDEX_NAME, H5_ITER_INC, check_link, &walk), "iterating over its links");
  if (walk.problem.empty()) return;
  throw ExternalLinks(
      fmt::format("cannot read {}: {}, which results and checkpoints do not contain", path, walk.problem));
}

void require_stored(const hdf5::Dataset& variable, std::size_t width) {
  constexpr double always_accepted = 1 << 20;  // bytes
  constexpr double max_compression = 1032.0;   // of deflate
  double bytes = static_cast<double>(width);
  for (const hsize_t length : hdf5::shape_of(variable)) bytes *= static_cast<double>(length);
  const auto stored = static_cast<double>(H5Dget_storage_size(variable.id()));
  if (bytes <= always_accepted || bytes <= max_compression * stored) return;
  throw hdf5::Failure(fmt::format("it declares {:.3g} bytes, but only {:.3g} are stored", bytes, stored));
}

void read_everything(const hdf5::File& file, const std::string& path, const std::string& prefix, const Report& report) {
  std::string where = "the groups";
  try {
    report(where);
    walk(file, [&](const std::string& object_path, const hdf5::Object& object) {
      report(where = object_path);
      const auto attribute = [](hid_t holder, const char* name, const H5A_info_t*, void*) -> herr_t {
        try {
          read_attribute(holder, name);
          return 0;
        } catch (const std::exception&) {
          return -1;
        }
      };
      hdf5::check(H5Aiterate2(object.id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, attribute, nullptr),
                  "reading the attributes");
      if (H5Iget_type(object.id()) != H5I_DATASET || !object_path.starts_with(prefix)) return;
      const hdf5::Dataset variable = hdf5::open(file.id(), object_path);
      require_stored(variable, H5Tget_size(hdf5::Datatype(H5Dget_type(variable.id())).id()));
      read_values(variable, [&] { report(where); });
    });
  } catch (const hdf5::Failure& failure) {
    throw FileError("{} of {} cannot be read: {}", where, path, failure.what());
  } catch (const std::bad_alloc&) {
    throw FileError("{} of {} cannot be read: it is larger than the memory", where, path);
  }
}

}  // namespace bathline
