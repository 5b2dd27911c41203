// The HDF5 file of a run: groups of variables over dimension scales, attributes, all of it readable by xarray.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "parallel/communicator.hpp"

namespace bathline {

/// The file cannot be written: no such directory, no permission, disk full. Thrown on every rank alike.
class FileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One dimension of a variable: its name, and the values of its scale.
struct Dimension {
  std::string name;
  std::vector<double> values;
  std::string units;
  std::string long_name;
  std::vector<std::string> names = {};  ///< where there are any, they stand in the place of the values, as many

  std::size_t length() const { return names.empty() ? values.size() : names.size(); }
};

/// A variable of a group that grows with time: its dimensions after `time` refer to `SeriesLayout::dimensions` by name.
struct Variable {
  std::string name;
  std::string units;
  std::string long_name;
  std::vector<std::string> dimensions;  ///< after the time dimension; empty for a scalar series
};

/// What a group of growing variables looks like.
struct SeriesLayout {
  std::string group;          ///< "closed"
  std::string time = "time";  ///< name of the unlimited dimension
  std::vector<Dimension> dimensions;
  std::vector<Variable> variables;
};

/// Rows of small variables, all of whose values live on rank 0 (the particles' path, the energy ledger).
/// Rows are buffered; `flush` writes them and is collective, `append` writes nothing.
class SeriesWriter {
 public:
  /// Values of one row on rank 0, in the order of the layout's variables, each in row-major order.
  void append(double time, std::span<const double> row);
  /// @note Collective. Throws FileError on every rank when rank 0 could not write.
  void flush();
  std::size_t buffered_rows() const;

 private:
  friend class ResultFile;
  struct State;
  std::shared_ptr<State> state_;
};

/// One variable (snapshot_time, site) whose sites are spread over the ranks.
class SnapshotWriter {
 public:
  /// Writes one row: `values` are this rank's columns [first, first + values.size()).
  /// @note Collective; a rank without columns passes an empty span.
  void append(double time, std::span<const double> values, std::int64_t first);

 private:
  friend class ResultFile;
  struct State;
  std::shared_ptr<State> state_;
};

/// A result file open for writing on all ranks.
class ResultFile {
 public:
  /// Creates the file. An existing file is refused (UsageError) unless `overwrite`; then it stays in its place until
  /// the new one could be created. Throws FileError where it cannot be, naming the reason. @note Collective.
  ResultFile(const std::string& path, const Communicator& communicator, bool overwrite);
  /// Opens a file that is there, to go on writing it. Throws FileError where that cannot be. @note Collective.
  ResultFile(const std::string& path, const Communicator& communicator);
  ~ResultFile();
  ResultFile(ResultFile&&) noexcept;
  ResultFile& operator=(ResultFile&&) noexcept;

  /// Attributes of the root group, or of `group` or `group/variable`; one of the same name is replaced. Texts may be of
  /// any length. @note Collective; rank 0's value counts.
  void attribute(const std::string& name, const std::string& value, const std::string& object = "/");
  void attribute(const std::string& name, std::int64_t value, const std::string& object = "/");
  void attribute(const std::string& name, double value, const std::string& object = "/");

  /// With `rows`, the group is in the file already, is cut to so many rows and grows from there.
  /// @note Collective. The writers hold on to the file; destroy them before `close`.
  SeriesWriter series(const SeriesLayout& layout, std::optional<std::int64_t> rows = std::nullopt);
  /// Creates `variable` and, where the group lacks them, the scales `site_dimension` and `snapshot_time`. Several
  /// variables of a group share these; a time is that of whichever was first to have a row for it. The ranks' sites
  /// make up all of `total`. `rows` as for `series`. @note Collective.
  SnapshotWriter snapshots(const std::string& group, const std::string& variable, const std::string& units,
                           const std::string& long_name, std::span<const double> sites_of_this_rank, std::int64_t first,
                           std::int64_t total, const std::string& site_dimension = "site",
                           std::optional<std::int64_t> rows = std::nullopt);

  /// A small fixed array (row-major, values on rank 0; other ranks may pass nothing) over dimensions of its group.
  /// A dimension scale that the group lacks is created, one that it has must have the same length. No dimensions:
  /// a scalar. The array's own name and `group` may lead through further groups ("midpoint/order_q"); the scales stand
  /// beside the array. `variable.dimensions` is not looked at. @note Collective.
  void array(const std::string& group, const Variable& variable, std::span<const Dimension> dimensions,
             std::span<const double> values);
  /// An array of no dimensions. @note Collective.
  void number(const std::string& group, const std::string& name, const std::string& units, const std::string& long_name,
              double value) {
    array(group, {name, units, long_name, {}}, {}, std::span<const double>(&value, 1));
  }
  /// A list of texts along `dimension`, rank 0's count. They are stored as UTF-8 of the width of the longest (parallel
  /// HDF5 cannot write data of variable length); xarray gives str, h5py bytes, or str by `.asstr()`. @note Collective.
  void texts(const std::string& group, const std::string& name, const std::string& dimension,
             std::span<const std::string> values, const std::string& long_name);

  /// A plain list of rank 0's values; `path` may lead through groups, which are created. @note Collective.
  void numbers(const std::string& path, std::span<const double> values);
  /// A plain list of `total` values of which every rank writes its own from `first` on. @note Collective.
  void write_distributed(const std::string& path, std::span<const double> values, std::int64_t first,
                         std::int64_t total);
  /// Removes everything but the groups named. @note Collective.
  void remove_all_but(const std::vector<std::string>& groups);

  /// Everything written so far survives the death of the program after this. @note Collective.
  void flush();
  /// @note Collective. Throws FileError on every rank when the last data could not be written.
  void close();
  const std::string& path() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// A result file open for reading by one process.
class ResultReader {
 public:
  explicit ResultReader(const std::string& path);  ///< throws FileError, also where it is not HDF5 or leads elsewhere

  struct Array {
    std::vector<std::int64_t> shape;
    std::vector<double> values;  ///< row-major
    std::string units;
  };
  bool has(const std::string& path) const;
  bool is_group(const std::string& path) const;
  bool is_variable(const std::string& path) const;
  /// Throws FileError where there is no such variable.
  bool holds_numbers(const std::string& path) const;
  std::vector<std::string> names(const std::string& group) const;  ///< what a group holds, in alphabetical order

  Array read(const std::string& path) const;  ///< "closed/energy_total"; integers are converted
  /// `count` entries of the first dimension from `first`, all of the others.
  Array read_rows(const std::string& path, std::int64_t first, std::int64_t count) const;
  std::vector<std::int64_t> shape(const std::string& path) const;
  bool grows(const std::string& path) const;  ///< whether the first dimension is without limit, as time is
  /// Path of the scale of dimension `index`, "" where it has none.
  std::string scale(const std::string& path, std::size_t index) const;
  std::vector<std::string> read_texts(const std::string& path) const;

  std::string attribute(const std::string& name, const std::string& object = "/") const;  ///< numbers as text
  std::vector<std::string> attribute_names() const;  ///< of the root group, in alphabetical order
  bool has_attribute(const std::string& name, const std::string& object = "/") const;
  const std::string& path() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace bathline
