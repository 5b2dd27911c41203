// The HDF5 file of a run: groups of variables with dimension scales and attributes, readable by xarray.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "parallel/communicator.hpp"

namespace bathline {

/// A file cannot be written or read: no such directory, no permission, disk full. Thrown on every rank.
class FileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  template <class... Values>
  requires(sizeof...(Values) > 0) explicit FileError(fmt::format_string<Values...> message, Values&&... values)
      : std::runtime_error(fmt::format(message, std::forward<Values>(values)...)) {}
};

/// A file contains links to other files, or cyclic links.
class ExternalLinks : public FileError {
 public:
  using FileError::FileError;
};

/// Whether a file is an HDF5 file or empty, as a run leaves it that was killed early. Other files, such as the recipe,
/// must not be replaced by mistake.
bool may_be_a_result(const std::string& path);

/// One dimension of a variable: its name, and the values of its scale.
struct Dimension {
  std::string name;
  std::vector<double> values;
  std::string units;
  std::string long_name;
  std::vector<std::string> names = {};  ///< labels instead of values; empty for a numeric scale

  std::size_t length() const { return names.empty() ? values.size() : names.size(); }
};

/// A variable of a time series; its dimensions after `time` refer to `SeriesLayout::dimensions` by name.
struct Variable {
  std::string name;
  std::string units;
  std::string long_name;
  std::vector<std::string> dimensions;  ///< after the time dimension; empty for a scalar series
  bool is_flag = false;                 ///< whether values, 0 or 1, are stored as integers; of arrays only
};

/// The layout of a group of time series.
struct SeriesLayout {
  std::string group;          ///< "closed"
  std::string time = "time";  ///< name of the unlimited dimension
  std::vector<Dimension> dimensions;
  std::vector<Variable> variables;
};

/// Writes rows of small variables whose values are on rank 0 (trajectories of particles, the energy ledger). `append`
/// buffers a row; `flush`, which is collective, writes the buffered rows.
class SeriesWriter {
 public:
  /// Appends one row of values on rank 0, in the order of the layout's variables, each in row-major order.
  void append(double time, std::span<const double> row);
  /// @note Collective. Throws FileError on every rank if rank 0 cannot write.
  void flush();
  std::size_t buffered_rows() const;

 private:
  friend class ResultFile;
  struct State;
  std::shared_ptr<State> state_;
};

/// Writes one variable (snapshot_time, site) whose sites are distributed over the ranks.
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
  /// Creates the file. Throws UsageError if it exists, unless `overwrite`; the old file is then replaced only after the
  /// new one has been created. Throws FileError with the reason if that fails. @note Collective.
  ResultFile(const std::string& path, const Communicator& communicator, bool overwrite);
  /// Opens an existing file to continue it. Throws FileError if that fails. @note Collective.
  ResultFile(const std::string& path, const Communicator& communicator);
  ~ResultFile();
  ResultFile(ResultFile&&) noexcept;
  ResultFile& operator=(ResultFile&&) noexcept;

  /// Writes an attribute of the root group, of `group` or of `group/variable`, replacing one of the same name. Texts
  /// may have any length. @note Collective; rank 0's value is written.
  void attribute(const std::string& name, const std::string& value, const std::string& object = "/");
  void attribute(const std::string& name, std::int64_t value, const std::string& object = "/");
  void attribute(const std::string& name, double value, const std::string& object = "/");

  /// Creates the variables; in a file that is continued, existing ones are extended. The writers refer to the file;
  /// destroy them before `close`. @note Collective.
  SeriesWriter series(const SeriesLayout& layout);
  /// Creates `variable` and, if the group does not have them, the scales `site_dimension` and `snapshot_time`, which
  /// all variables of a group share; a time is written by the first variable that has a row for it. The sites of all
  /// ranks must be complete, `total` in number. In a file that is continued, an existing variable is extended. @note
  /// Collective.
  SnapshotWriter snapshots(const std::string& group, const std::string& variable, const std::string& units,
                           const std::string& long_name, std::span<const double> sites_of_this_rank, std::int64_t first,
                           std::int64_t total, const std::string& site_dimension = "site");

  /// Writes a small array of fixed shape (row-major, values on rank 0; other ranks may pass nothing) over dimensions of
  /// its group. Missing dimension scales are created, existing ones must have the same length. Without dimensions it is
  /// a scalar. The names of the array and of `group` may be paths ("midpoint/order_q"); the scales are created in the
  /// array's group. `variable.dimensions` is ignored. @note Collective.
  void array(const std::string& group, const Variable& variable, std::span<const Dimension> dimensions,
             std::span<const double> values);
  /// Writes a scalar. NaN is remembered as a number that could not be determined, unless the value `may_be_undefined`.
  /// @note Collective.
  void number(const std::string& group, const std::string& name, const std::string& units, const std::string& long_name,
              double value, bool may_be_undefined = false);
  /// The paths of the scalars that could not be determined, separated by commas, on rank 0.
  const std::string& undetermined() const;
  /// Writes rank 0's list of texts along `dimension`, as UTF-8 of variable length; xarray reads str, h5py bytes, or str
  /// by `.asstr()`. @note Collective.
  void texts(const std::string& group, const std::string& name, const std::string& dimension,
             std::span<const std::string> values, const std::string& long_name);

  /// Writes a list of rank 0's values without scales; groups on `path` are created. @note Collective.
  void numbers(const std::string& path, std::span<const double> values);
  /// Writes a list of `total` values without scales; every rank writes its own from index `first`. @note Collective.
  void write_distributed(const std::string& path, std::span<const double> values, std::int64_t first,
                         std::int64_t total);
  /// Reserves disk space, so that what is written next is written whole or not at all. @note Collective.
  void reserve(std::int64_t bytes);
  /// Removes a group, if there is one. @note Collective.
  void remove(const std::string& group);

  /// Data written before survive if the program is killed. @note Collective.
  void flush();
  /// @note Collective. Throws FileError on every rank if the last data cannot be written.
  void close();
  const std::string& path() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// A dimension whose values are `first`, first + 1, ...
Dimension counted_dimension(const std::string& name, std::size_t count, const std::string& long_name,
                            double first = 0.0);

/// Writes small arrays to one group of a file. Members are those of ResultFile, for this group, and collective.
class GroupWriter {
 public:
  GroupWriter(ResultFile& file, std::string path) : file_(file), path_(std::move(path)) {}
  void array(const std::string& name, const std::string& units, const std::string& long_name,
             const std::vector<Dimension>& dimensions, std::span<const double> values) const {
    file_.array(path_, {name, units, long_name, {}}, dimensions, values);
  }
  void number(const std::string& name, const std::string& units, const std::string& long_name, double value,
              bool may_be_undefined = false) const {
    file_.number(path_, name, units, long_name, value, may_be_undefined);
  }

 private:
  ResultFile& file_;
  std::string path_;
};

/// A result file open for reading by one process.
class ResultReader {
 public:
  explicit ResultReader(const std::string& path);  ///< throws FileError, also if it is not HDF5 or has external links

  struct Array {
    std::vector<std::int64_t> shape;
    std::vector<double> values;  ///< row-major
    std::string units;
  };
  bool has(const std::string& path) const;
  bool is_group(const std::string& path) const;
  bool is_variable(const std::string& path) const;
  /// Throws FileError if there is no such variable.
  bool holds_numbers(const std::string& path) const;
  std::vector<std::string> names(const std::string& group) const;  ///< in a group, in alphabetical order

  Array read(const std::string& path) const;  ///< "closed/energy_total"; integers are converted
  /// `count` entries of the first dimension from `first`, all of the others.
  Array read_rows(const std::string& path, std::int64_t first, std::int64_t count) const;
  std::vector<std::int64_t> shape(const std::string& path) const;
  bool grows(const std::string& path) const;  ///< whether the first dimension is unlimited, as time is
  /// Path of the scale of dimension `index`, "" if it has none.
  std::string scale(const std::string& path, std::size_t index) const;
  std::vector<std::string> read_texts(const std::string& path) const;

  std::string attribute(const std::string& name, const std::string& object = "/") const;  ///< numbers as text
  std::vector<std::string> attribute_names() const;  ///< of the root group, in alphabetical order
  bool has_attribute(const std::string& name, const std::string& object = "/") const;
  /// Reads every attribute, and every value of the variables whose paths begin with `prefix`, and calls `report` with
  /// the object that is being read. Throws FileError naming the first object that cannot be read.
  void read_everything(const std::string& prefix, const std::function<void(const std::string&)>& report) const;
  const std::string& path() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace bathline
