// Iterating over all objects of a file, and over their values in blocks of a few megabytes.
// Tested by tests/record/result_file_test.cpp.
#include "record/file_scan.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <exception>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "record/external_links.hpp"
#include "record/hdf5_layout.hpp"
#include "record/result_file.hpp"
#include "record/checksum_trailer.hpp"

namespace bathline {

namespace {

using Report = std::function<void(const std::string&)>;

/// Maximal number of values in memory, unless a variable has longer rows.
constexpr hsize_t max_values = hsize_t{1} << 20;

hdf5::File open_to_read(const std::string& path) {
  hdf5::prepare_library();
  const hdf5::PropertyList access(hdf5::check(H5Pcreate(H5P_FILE_ACCESS), "creating properties"));
  // Some shared file systems do not support locks; a reader does not need them.
  hdf5::check(H5Pset_file_locking(access.id(), false, true), "choosing locks");
  hdf5::File file(hdf5::check(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id()), "opening"));
  refuse_external_links(file, path);
  return file;
}

/// Calls `work` and turns HDF5's failures into FileError with the name of the file.
template <class Work>
auto reading(const std::string& path, Work&& work) {
  try {
    return work();
  } catch (const hdf5::Failure& failure) {
    throw FileError(fmt::format("cannot read {}: {}", path, failure.what()));
  }
}

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

/// Receives a block of a variable: the index of its first value in the whole variable, and the bytes.
using BlockVisitor = std::function<void(std::uint64_t first, std::span<const char> bytes)>;

void read_values(const hdf5::Dataset& variable, std::int64_t first_row, std::int64_t rows, const BlockVisitor& visit) {
  const hdf5::Datatype type(hdf5::check(H5Dget_type(variable.id()), "reading a type"));
  const hdf5::Datatype memory = in_memory(type.id());
  const std::size_t width = H5Tget_size(memory.id());
  const std::vector<hsize_t> shape = hdf5::shape_of(variable);
  std::vector<char> bytes;
  const auto read = [&](const std::vector<hsize_t>& start, const std::vector<hsize_t>& count, std::uint64_t first) {
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
    visit(first, bytes);
    if (is_of_variable_length(memory.id())) H5Dvlen_reclaim(memory.id(), memory_space.id(), H5P_DEFAULT, bytes.data());
  };
  if (shape.empty()) {
    if (rows > 0) read({}, {}, 0);
    return;
  }
  hsize_t row = 1;
  for (std::size_t i = 1; i < shape.size(); ++i) row *= shape[i];
  if (row == 0) return;
  std::vector<hsize_t> start(shape.size(), 0), count(shape);
  const auto end = static_cast<hsize_t>(first_row + rows);
  // Rows that are too long are divided along the second dimension.
  const hsize_t inner = shape.size() > 1 ? row / shape[1] : 1;
  const hsize_t across = row <= max_values ? 0 : std::max<hsize_t>(1, max_values / inner);
  const hsize_t along = across > 0 ? 1 : max_values / row;
  for (auto r = static_cast<hsize_t>(first_row); r < end; r += along) {
    start[0] = r;
    count[0] = std::min(along, end - r);
    for (hsize_t c = 0; across > 0 && c < shape[1]; c += across) {
      start[1] = c;
      count[1] = std::min(across, shape[1] - c);
      read(start, count, r * row + c * inner);
    }
    if (across == 0) read(start, count, r * row);
  }
}

std::int64_t rows_of(const hdf5::Dataset& variable) {
  const auto shape = hdf5::shape_of(variable);
  return shape.empty() ? 1 : static_cast<std::int64_t>(shape.front());
}

bool holds_doubles(const hdf5::Dataset& variable) {
  const hdf5::Datatype type(hdf5::check(H5Dget_type(variable.id()), "reading a type"));
  return H5Tget_class(type.id()) == H5T_FLOAT && H5Tget_size(type.id()) == sizeof(double);
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

/// All variables of doubles, by their paths.
std::map<std::string, hdf5::Dataset> variables_of(const hdf5::File& file) {
  std::map<std::string, hdf5::Dataset> variables;
  walk(file, [&](const std::string& path, const hdf5::Object& object) {
    if (H5Iget_type(object.id()) != H5I_DATASET) return;
    hdf5::Dataset variable = hdf5::open(file.id(), path);
    if (holds_doubles(variable)) variables.emplace(path, std::move(variable));
  });
  return variables;
}

std::uint64_t digest_of(std::uint64_t first, std::span<const char> bytes) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i * sizeof(double) < bytes.size(); ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + i * sizeof(double), sizeof bits);
    sum += mix_bits(bits ^ mix_bits(first + i));
  }
  return sum;
}

}  // namespace

void read_everything(const std::string& path, const Report& report) {
  const hdf5::File file = reading(path, [&] { return open_to_read(path); });
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
      if (H5Iget_type(object.id()) != H5I_DATASET) return;
      const hdf5::Dataset variable = hdf5::open(file.id(), object_path);
      require_stored(variable, H5Tget_size(hdf5::Datatype(H5Dget_type(variable.id())).id()));
      read_values(variable, 0, rows_of(variable), [&](std::uint64_t, std::span<const char>) { report(where); });
    });
  } catch (const hdf5::Failure& failure) {
    throw FileError(fmt::format("{} of {} cannot be read: {}", where, path, failure.what()));
  } catch (const std::bad_alloc&) {
    throw FileError(fmt::format("{} of {} cannot be read: it is larger than the memory", where, path));
  }
}

RecordDigests record_digests(const std::string& path, const RecordDigests& previous, int part, int parts) {
  return reading(path, [&] {
    const hdf5::File file = open_to_read(path);
    RecordDigests digests;
    std::uint64_t block = 0;
    for (const auto& [name, variable] : variables_of(file)) {
      const auto match = previous.find(name);
      const std::int64_t first = match == previous.end() ? 0 : match->second.rows;
      RecordDigest& digest = digests[name];
      digest.rows = rows_of(variable);
      // Blocks of new rows are distributed over the parts in turn.
      constexpr std::int64_t rows_at_once = 4096;
      for (std::int64_t row = first; row < digest.rows; row += rows_at_once) {
        if (block++ % static_cast<std::uint64_t>(parts) != static_cast<std::uint64_t>(part)) continue;
        read_values(variable, row, std::min(rows_at_once, digest.rows - row),
                    [&](std::uint64_t index, std::span<const char> bytes) { digest.sum += digest_of(index, bytes); });
      }
    }
    return digests;
  });
}

void compare_records(const std::string& path, const RecordDigests& digests, const Report& report) {
  reading(path, [&] {
    const hdf5::File file = open_to_read(path);
    const auto variables = variables_of(file);
    for (const auto& [name, digest] : digests) {
      const auto match = variables.find(name);
      if (match == variables.end()) throw FileError(fmt::format("{} has no {}", path, name));
      const std::int64_t rows = rows_of(match->second);
      if (rows < digest.rows) {
        throw FileError(fmt::format("{} of {} has {} records, fewer than {}", name, path, rows, digest.rows));
      }
      std::uint64_t sum = 0;
      report(name);
      read_values(match->second, 0, digest.rows, [&, &name = name](std::uint64_t index, std::span<const char> bytes) {
        sum += digest_of(index, bytes);
        report(name);
      });
      if (sum != digest.sum) {
        throw FileError(fmt::format("the first {} records of {} of {} have changed since they were written",
                                    digest.rows, name, path));
      }
    }
  });
}

}  // namespace bathline
