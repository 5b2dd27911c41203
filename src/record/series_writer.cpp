// Variables that grow along their first dimension: rows of small ones, which are buffered on rank 0, and variables
// (snapshot_time, site), of which each rank writes its own columns.
// Tested by tests/record/series_writer_test.cpp.
// Tested by tests/record/snapshot_writer_test.cpp.
#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include "record/dimension_scale.hpp"
#include "record/open_file.hpp"

namespace bathline {

/// A variable of doubles that is extended along its first dimension. Extending is collective; the caller decides which
/// ranks write.
class ExtendibleDataset {
 public:
  /// Takes over an open variable with chunks. Throws Failure if it has none.
  explicit ExtendibleDataset(hdf5::Dataset dataset)
      : dataset_(std::move(dataset)), shape_(hdf5::shape_of(dataset_)), chunk_(shape_.size()) {
    if (shape_.empty()) throw hdf5::Failure("a variable has no rows");
    const hdf5::PropertyList properties(hdf5::check(H5Dget_create_plist(dataset_.id()), "reading the chunks"));
    hdf5::check(H5Pget_chunk(properties.id(), static_cast<int>(chunk_.size()), chunk_.data()), "reading the chunks");
  }

  const hdf5::Dataset& dataset() const { return dataset_; }
  std::int64_t rows() const { return static_cast<std::int64_t>(shape_.front()); }
  /// Values in a row.
  std::int64_t width() const {
    return std::accumulate(shape_.begin() + 1, shape_.end(), std::int64_t{1}, std::multiplies<>());
  }
  /// Bytes by which the file grows for `rows` rows, including the padding of chunks.
  std::int64_t growth(std::int64_t rows) const { return bytes_for(rows) - bytes_for(this->rows()); }
  /// @note Collective.
  void resize(std::int64_t rows) {
    shape_.front() = static_cast<hsize_t>(rows);
    hdf5::check(H5Dset_extent(dataset_.id(), shape_.data()), "extending");
  }
  /// Writes whole rows from this process alone.
  void write_rows(std::int64_t first, std::span<const double> values) const {
    std::vector<hsize_t> start(shape_.size(), 0), count = shape_;
    start.front() = static_cast<hsize_t>(first);
    count.front() = values.size() / static_cast<hsize_t>(width());
    hdf5::write_part(dataset_, start, count, values, hdf5::Together::no);
  }

 private:
  std::int64_t bytes_for(std::int64_t rows) const {
    hsize_t values = (static_cast<hsize_t>(rows) + chunk_[0] - 1) / chunk_[0] * chunk_[0];
    for (std::size_t i = 1; i < shape_.size(); ++i) values *= (shape_[i] + chunk_[i] - 1) / chunk_[i] * chunk_[i];
    return static_cast<std::int64_t>(values * sizeof(double));
  }

  hdf5::Dataset dataset_;
  std::vector<hsize_t> shape_, chunk_;
};

namespace {

constexpr hsize_t max_rows_of_a_chunk = 1024;
constexpr hsize_t max_values_of_a_chunk = (std::size_t{1} << 20) / sizeof(double);

/// Allowance for the headers and attributes of a variable.
constexpr std::int64_t metadata_of_a_variable = 8 * 1024;

/// Chunks of at most 1 MiB. A row that is larger is divided along its slowest dimensions, so that chunks stay
/// contiguous. The first entry of `shape` is that of the rows.
std::vector<hsize_t> chunk_for(std::vector<hsize_t> chunk) {
  chunk[0] = 1;
  hsize_t values = 1;
  for (const auto length : chunk) values *= length;
  for (std::size_t i = 1; i < chunk.size() && values > max_values_of_a_chunk; ++i) {
    const hsize_t inner = values / chunk[i];
    chunk[i] = std::max<hsize_t>(1, max_values_of_a_chunk / inner);
    values = inner * chunk[i];
  }
  chunk[0] = std::clamp<hsize_t>(max_values_of_a_chunk / values, 1, max_rows_of_a_chunk);
  return chunk;
}

/// Dimensions of a variable after time.
std::vector<Dimension> dimensions_of(const SeriesLayout& layout, const Variable& variable) {
  std::vector<Dimension> dimensions;
  for (const auto& name : variable.dimensions) {
    const auto found = std::ranges::find(layout.dimensions, name, &Dimension::name);
    if (found == layout.dimensions.end())
      throw std::logic_error(fmt::format("the layout of {} has no dimension {}", layout.group, name));
    dimensions.push_back(*found);
  }
  return dimensions;
}

constexpr hsize_t max_columns_of_a_chunk = 65536;
constexpr hsize_t times_of_a_chunk = 1024;

/// Maximal number of values that a rank passes to HDF5 in one call: 512 MiB, because some MPI-IO implementations count
/// bytes in an int.
constexpr std::int64_t max_values_of_a_write = std::int64_t{1} << 26;

/// Every site must be written by one rank, because datasets are not initialised.
void require_complete(const Communicator& communicator, const hdf5::DatasetPath& target, std::size_t values,
                      std::int64_t first, std::int64_t total) {
  const auto local = static_cast<std::int64_t>(values);
  const bool is_outside = local > 0 && (first < 0 || first + local > total);
  if (communicator.any(is_outside) || communicator.sum(local) != total) {
    throw std::logic_error(fmt::format("{}: the ranks' sites are not the {} sites of the line", target.path(), total));
  }
}

/// Writes this rank's columns [first, ...) of `row`, or of a variable of one dimension if there is no row, with the
/// number of collective calls that the rank with most columns needs. @note Collective.
void write_columns(OpenFile& file, const std::string& operation, const hdf5::Dataset& variable,
                   std::optional<std::int64_t> row, std::int64_t first, std::span<const double> values) {
  const auto size = static_cast<std::int64_t>(values.size());
  // Lengths are below 2^53, so that they are exact as doubles.
  const auto max_size = static_cast<std::int64_t>(file.communicator().max(static_cast<double>(size)));
  for (std::int64_t done = 0; done < max_size; done += max_values_of_a_write) {
    const std::int64_t start = std::min(done, size);
    const std::int64_t count = std::min(max_values_of_a_write, size - start);
    file.run_collectively(operation, [&] {
      std::vector<hsize_t> begin{static_cast<hsize_t>(first + start)}, length{static_cast<hsize_t>(count)};
      if (row) {
        begin.insert(begin.begin(), static_cast<hsize_t>(*row));
        length.insert(length.begin(), 1);
      }
      const auto piece = values.subspan(static_cast<std::size_t>(start), static_cast<std::size_t>(count));
      hdf5::write_part(variable, begin, length, piece, hdf5::Together::yes);
    });
  }
}

}  // namespace

struct SeriesWriter::State {
  std::shared_ptr<OpenFile> file;
  std::string group;
  std::vector<ExtendibleDataset> columns;  // the first one is the time
  std::vector<double> times, rows;         // on rank 0: rows that are not yet in the file

  /// Values in a row, without the time.
  std::int64_t row_width() const {
    std::int64_t width = -1;
    for (const auto& column : columns) width += column.width();
    return width;
  }
  void write(std::int64_t first, std::size_t count) const;
};

/// Sorts the buffered rows by variable and writes them.
void SeriesWriter::State::write(std::int64_t first, std::size_t count) const {
  columns.front().write_rows(first, times);
  std::vector<double> values;
  std::size_t offset = 0;
  const auto row_size = static_cast<std::size_t>(row_width());
  for (std::size_t c = 1; c < columns.size(); ++c) {
    const auto width = static_cast<std::size_t>(columns[c].width());
    values.resize(count * width);
    for (std::size_t row = 0; row < count; ++row) {
      std::copy_n(rows.data() + row * row_size + offset, width, values.data() + row * width);
    }
    columns[c].write_rows(first, values);
    offset += width;
  }
}

SeriesWriter ResultFile::series(const SeriesLayout& layout) {
  if (!state_->file) throw std::logic_error("the result file is closed already");
  OpenFile& file = *state_->file;
  SeriesWriter writer;
  writer.state_ = std::make_shared<SeriesWriter::State>();
  SeriesWriter::State& state = *writer.state_;
  state.file = state_->file;
  state.group = layout.group;
  const auto time = hdf5::dataset_path(layout.group, layout.time);
  const auto target_of = [&](const Variable& variable) { return hdf5::dataset_path(layout.group, variable.name); };
  if (file.is_continued() && hdf5::exists(file.id(), time.path())) {
    file.run_collectively("resuming " + layout.group, [&] {
      state.columns.emplace_back(hdf5::open(file.id(), time.path()));
      for (const auto& variable : layout.variables)
        state.columns.emplace_back(hdf5::open(file.id(), target_of(variable).path()));
    });
    return writer;
  }
  require_new(file.id(), time, {});
  auto bytes = static_cast<std::int64_t>(layout.dimensions.size() + layout.variables.size()) * metadata_of_a_variable;
  for (const auto& dimension : layout.dimensions) bytes += static_cast<std::int64_t>(dimension.length()) * 8;
  for (const auto& variable : layout.variables) {
    if (require_new(file.id(), target_of(variable), dimensions_of(layout, variable)) == 0)
      throw std::logic_error(layout.group + "/" + variable.name + " has an empty dimension");
  }
  const std::string operation = "creating the variables of " + layout.group;
  file.reserve(operation, bytes);
  std::vector<NewScale> scales;
  file.run_collectively(operation, [&] {
    const auto add = [&](const hdf5::DatasetPath& target, const Variable& variable,
                         const std::vector<Dimension>& dimensions) {
      std::vector<hsize_t> shape{0};
      for (const auto& dimension : dimensions) shape.push_back(dimension.length());
      state.columns.emplace_back(
          hdf5::create(file.id(), target, H5T_IEEE_F64LE, variable.units, variable.long_name, shape, chunk_for(shape)));
      const hdf5::Dataset& column = state.columns.back().dataset();
      if (state.columns.size() == 1) return hdf5::make_dimension_scale(column, target.name);
      hdf5::attach(column, state.columns.front().dataset(), 0);
      attach_scales(file.id(), layout.group, dimensions, column, 1, scales);
    };
    add(time, {layout.time, "s", "time", {}}, {});
    for (const auto& variable : layout.variables) add(target_of(variable), variable, dimensions_of(layout, variable));
  });
  file.on_root("writing the dimensions of " + layout.group, [&] {
    for (const auto& scale : scales) hdf5::write_all(scale.dataset, scale.values);
  });
  return writer;
}

void SeriesWriter::append(double time, std::span<const double> row) {
  if (!state_->file->communicator().is_root()) return;
  if (const std::int64_t width = state_->row_width(); static_cast<std::int64_t>(row.size()) != width)
    throw std::logic_error(fmt::format("a row of {} has {} values, not {}", state_->group, width, row.size()));
  state_->times.push_back(time);
  state_->rows.insert(state_->rows.end(), row.begin(), row.end());
}

void SeriesWriter::flush() {
  OpenFile& file = *state_->file;
  auto count = static_cast<std::int64_t>(buffered_rows());
  file.communicator().broadcast(std::span<std::int64_t>(&count, 1));
  if (count == 0) return;
  const std::int64_t first = state_->columns.front().rows();
  const std::string operation = "extending " + state_->group;
  std::int64_t bytes = 0;
  for (const auto& column : state_->columns) bytes += column.growth(first + count);
  file.reserve(operation, bytes);
  file.run_collectively(operation, [&] {
    for (auto& column : state_->columns) column.resize(first + count);
  });
  file.on_root("writing " + state_->group, [&] { state_->write(first, static_cast<std::size_t>(count)); });
  file.flush();
  state_->times.clear();
  state_->rows.clear();
}

std::size_t SeriesWriter::buffered_rows() const { return state_->times.size(); }

struct SnapshotWriter::State {
  std::shared_ptr<OpenFile> file;
  hdf5::DatasetPath time, target;
  std::int64_t total = 0;
  std::optional<ExtendibleDataset> variable;
};

SnapshotWriter ResultFile::snapshots(const std::string& group, const std::string& variable, const std::string& units,
                                     const std::string& long_name, std::span<const double> sites_of_this_rank,
                                     std::int64_t first, std::int64_t total, const std::string& site_dimension) {
  if (!state_->file) throw std::logic_error("the result file is closed already");
  OpenFile& file = *state_->file;
  SnapshotWriter writer;
  writer.state_ = std::make_shared<SnapshotWriter::State>(
      SnapshotWriter::State{state_->file, hdf5::dataset_path(group, "snapshot_time"),
                            hdf5::dataset_path(group, variable), total, std::nullopt});
  auto& state = *writer.state_;
  const auto site = hdf5::dataset_path(group, site_dimension);
  const auto open = [&](const hdf5::DatasetPath& target) { return hdf5::open(file.id(), target.path()); };
  if (file.is_continued() && hdf5::exists(file.id(), state.target.path())) {
    file.run_collectively("resuming " + state.target.path(), [&] { state.variable.emplace(open(state.target)); });
    return writer;
  }
  require_new(file.id(), state.target, {});
  require_complete(file.communicator(), state.target, sites_of_this_rank.size(), first, total);
  if (total <= 0) throw std::logic_error(state.target.path() + ": a line without sites");
  const bool new_time = !hdf5::exists(file.id(), state.time.path());
  const bool new_site = !hdf5::exists(file.id(), site.path());
  const auto sites = static_cast<hsize_t>(total);
  if (!new_site && hdf5::shape_of(open(site)) != std::vector<hsize_t>{sites})
    throw std::logic_error(site.path() + " is in the file with a different number of sites");

  const std::string operation = "creating " + state.target.path();
  file.reserve(operation, new_site ? total * 8 : 0);
  file.run_collectively(operation, [&] {
    const auto create_scale = [&](const hdf5::DatasetPath& target, const char* units, const char* long_name,
                                  hsize_t length, std::span<const hsize_t> chunk) {
      const hdf5::Dataset scale =
          hdf5::create(file.id(), target, H5T_IEEE_F64LE, units, long_name, std::vector{length}, chunk);
      hdf5::make_dimension_scale(scale, target.name);
    };
    if (new_time) create_scale(state.time, "s", "time of the snapshot", 0, std::vector{times_of_a_chunk});
    if (new_site) create_scale(site, "1", "site of the line", sites, {});
    state.variable.emplace(hdf5::create(file.id(), state.target, H5T_IEEE_F64LE, units, long_name,
                                        std::vector<hsize_t>{0, sites},
                                        std::vector<hsize_t>{1, std::min(sites, max_columns_of_a_chunk)}));
    hdf5::attach(state.variable->dataset(), open(state.time), 0);
    hdf5::attach(state.variable->dataset(), open(site), 1);
  });
  if (new_site) write_columns(file, "writing " + site.path(), open(site), std::nullopt, first, sites_of_this_rank);
  return writer;
}

void ResultFile::write_distributed(const std::string& path, std::span<const double> values, std::int64_t first,
                                   std::int64_t total) {
  if (!state_->file) throw std::logic_error("the result file is closed already");
  OpenFile& file = *state_->file;
  const auto target = hdf5::dataset_path("", path);
  require_complete(file.communicator(), target, values.size(), first, total);
  file.reserve("creating " + path, total * 8);
  hdf5::Dataset dataset;
  file.run_collectively("creating " + path, [&] {
    const auto parent = hdf5::ensure_group(file.id(), target.group);
    dataset = hdf5::create(parent.id(), target.name, H5T_IEEE_F64LE, std::vector{static_cast<hsize_t>(total)});
  });
  write_columns(file, "writing " + path, dataset, std::nullopt, first, values);
}

void SnapshotWriter::append(double time, std::span<const double> values, std::int64_t first) {
  OpenFile& file = *state_->file;
  ExtendibleDataset& variable = *state_->variable;
  require_complete(file.communicator(), state_->target, values.size(), first, state_->total);
  const std::int64_t row = variable.rows();
  const std::string operation = "writing " + state_->target.path();
  // Another variable of the same group may have written this time already.
  ExtendibleDataset times(hdf5::open(file.id(), state_->time.path()));
  const bool new_time = times.rows() <= row;
  file.reserve(operation, variable.growth(row + 1) + times.growth(row + 1));
  file.run_collectively(operation, [&] {
    if (new_time) times.resize(row + 1);
    variable.resize(row + 1);
  });
  file.on_root(operation, [&] {
    if (new_time) times.write_rows(row, std::span<const double>(&time, 1));
  });
  write_columns(file, operation, variable.dataset(), row, first, values);
}

}  // namespace bathline
