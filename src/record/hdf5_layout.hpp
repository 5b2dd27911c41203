// Creating groups, variables, dimension scales and attributes, in files written by all ranks or by one. In a file that
// all ranks have open everything here is collective except `write_all`.
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

/// Access properties for MPI-IO and the newer format of HDF5, whose metadata have checksums, so that damage is reported
/// as an error. MPI-IO does not mark a file as open for writing, as the serial driver does in this format; a marked
/// file could not be opened after a kill.
PropertyList access_by(MPI_Comm comm);

/// Whether every link of `path` exists; true for "/".
bool exists(hid_t file, const std::string& path);

/// The group; missing groups on its path are created.
Group ensure_group(hid_t file, const std::string& path);

/// Writes an attribute, replacing one of the same name. Texts have variable length: they are stored in the global heap,
/// so that they may exceed the 64 KiB of an object header, and h5py returns them as str.
void write_attribute(hid_t object, const std::string& name, const std::string& value);
void write_attribute(hid_t object, const std::string& name, std::int64_t value);
void write_attribute(hid_t object, const std::string& name, double value);

/// Writes the attributes `units` and `long_name`, which every variable has.
void describe(hid_t object, const std::string& units, const std::string& long_name);

/// Creates a variable of the given shape; an empty shape makes a scalar. With `chunk` its first dimension is
/// unlimited. The values are not initialised: code that extends a variable must write the new rows.
Dataset create(hid_t group, const std::string& name, hid_t type, std::span<const hsize_t> shape,
               std::span<const hsize_t> chunk = {});

/// The same in the group of `target`, which is created if it is missing, with the attributes of `describe`.
Dataset create(hid_t file, const DatasetPath& target, hid_t type, const std::string& units,
               const std::string& long_name, std::span<const hsize_t> shape, std::span<const hsize_t> chunk = {});

/// The same of a list of texts, with its values. They have variable length, which every reader of HDF5 and netCDF knows
/// and MPI-IO cannot write: each rank, of which all have the same texts, copies them from a file in its memory.
Dataset create_texts(hid_t file, const DatasetPath& target, const std::string& units, const std::string& long_name,
                     std::span<const std::string> texts);
/// The bytes that texts take in a file.
std::int64_t bytes_of(std::span<const std::string> texts);

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
/// Writes the part of `count` entries along each dimension from `start` on; nothing if there are no values. Collective
/// if all ranks write their parts together.
enum class Together { no, yes };
void write_part(const Dataset& variable, std::span<const hsize_t> start, std::span<const hsize_t> count,
                std::span<const double> values, Together together);

}  // namespace bathline::hdf5
