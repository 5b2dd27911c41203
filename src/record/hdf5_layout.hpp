// How groups, variables, dimension scales and attributes stand in the file, the same whether all ranks write it or one.
// In a file that all ranks have open everything here is collective except `write_all`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "record/hdf5_handle.hpp"

namespace bathline::hdf5 {

/// "convergence" and "midpoint/order_q" name the variable "order_q" of the group "convergence/midpoint".
struct DatasetPath {
  std::string group;
  std::string name;
  std::string path() const { return group.empty() ? name : group + "/" + name; }
};
DatasetPath dataset_path(const std::string& group, const std::string& name);

/// How a file is opened through MPI-IO: in the newer format of HDF5, whose tables have checksums, so that a damaged one
/// is an error and not a place to follow. MPI-IO does not mark a file as open for write, as the serial driver does in
/// this format: after a kill nobody could open it.
PropertyList access_by(MPI_Comm comm);

/// Whether every link of `path` leads somewhere; "/" always does.
bool exists(hid_t file, const std::string& path);

/// The group, created with all above it where it is missing.
Group ensure_group(hid_t file, const std::string& path);

/// Replaces an attribute of the same name. Texts are of variable length: such values live in the file's global heap,
/// so they may exceed the 64 KiB of an object header, and h5py returns them as str.
void write_attribute(hid_t object, const std::string& name, const std::string& value);
void write_attribute(hid_t object, const std::string& name, std::int64_t value);
void write_attribute(hid_t object, const std::string& name, double value);

/// Units and long name, which every variable has.
void describe(hid_t object, const std::string& units, const std::string& long_name);

/// Creates a variable of the given shape; an empty shape makes a scalar. With `chunk` its first dimension is without
/// limit. Nothing is filled in beforehand: whoever extends a variable writes what it has added.
Dataset create(hid_t group, const std::string& name, hid_t type, std::span<const hsize_t> shape,
               std::span<const hsize_t> chunk = {});

/// Makes `variable` the dimension scale called `name`.
void make_dimension_scale(const Dataset& variable, const std::string& name);
/// Makes `scale` the dimension number `index` of `variable`.
void attach(const Dataset& variable, const Dataset& scale, unsigned index);
/// Opens a variable that exists.
Dataset open(hid_t file, const std::string& path);
/// Number of entries along each dimension.
std::vector<hsize_t> shape_of(const Dataset& variable);

/// A list of `count` values in memory.
Dataspace memory_of(std::size_t count);

/// Writes all of a variable from this process alone.
void write_all(const Dataset& variable, std::span<const double> values);
void write_all(const Dataset& variable, std::span<const std::int64_t> values);

/// Texts of one fixed width, because parallel HDF5 cannot write data of variable length.
struct TextColumn {
  TextColumn(std::span<const std::string> texts, std::size_t width);
  std::size_t width;
  std::vector<char> bytes;
};
/// The width that holds all of `texts`; at least 1, as HDF5 knows no texts of width 0.
std::size_t width_of(std::span<const std::string> texts);
Datatype text_type(std::size_t width);
/// Creates a list of texts, marked so that xarray decodes it to str.
Dataset create_texts(hid_t group, const std::string& name, hsize_t count, std::size_t width);
void write_all(const Dataset& variable, const TextColumn& texts);

}  // namespace bathline::hdf5
