// Writing rows of small variables, which are buffered on rank 0.
#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "record/extendible_dataset.hpp"
#include "record/open_file.hpp"
#include "record/dimension_scale.hpp"

namespace bathline {

namespace {

constexpr hsize_t max_rows_of_a_chunk = 1024;
constexpr hsize_t max_values_of_a_chunk = (std::size_t{1} << 20) / sizeof(double);

/// Allowance for the headers and attributes of a variable.
constexpr std::int64_t metadata_of_a_variable = 8 * 1024;

/// Chunks of at most 1 MiB. A row that is larger is divided along its slowest dimensions, so that chunks stay
/// contiguous.
std::vector<hsize_t> chunk_for(std::span<const hsize_t> row) {
  std::vector<hsize_t> chunk{1};
  chunk.insert(chunk.end(), row.begin(), row.end());
  hsize_t values = 1;
  for (const auto length : row) values *= length;
  for (std::size_t i = 1; i < chunk.size() && values > max_values_of_a_chunk; ++i) {
    const hsize_t inner = values / chunk[i];
    chunk[i] = std::max<hsize_t>(1, max_values_of_a_chunk / inner);
    values = inner * chunk[i];
  }
  chunk[0] = std::clamp<hsize_t>(max_values_of_a_chunk / values, 1, max_rows_of_a_chunk);
  return chunk;
}

const Dimension& dimension_of(const SeriesLayout& layout, const std::string& name) {
  for (const auto& dimension : layout.dimensions) {
    if (dimension.name == name) return dimension;
  }
  throw std::logic_error(fmt::format("the layout of {} has no dimension {}", layout.group, name));
}

/// Dimensions of a variable after time.
std::vector<Dimension> dimensions_of(const SeriesLayout& layout, const Variable& variable) {
  std::vector<Dimension> dimensions;
  for (const auto& name : variable.dimensions) dimensions.push_back(dimension_of(layout, name));
  return dimensions;
}

}  // namespace

struct SeriesWriter::State {
  std::shared_ptr<OpenFile> file;
  std::string group;
  std::vector<ExtendibleDataset> columns;  // the first one is the time
  std::int64_t row_width = 0;              // values in a row, without the time
  std::vector<double> times, rows;         // on rank 0: rows that are not yet in the file

  void write(std::int64_t first, std::size_t count) const;
};

/// Sorts the buffered rows by variable and writes them.
void SeriesWriter::State::write(std::int64_t first, std::size_t count) const {
  columns.front().write_rows(first, times);
  std::vector<double> values;
  std::size_t offset = 0;
  for (std::size_t c = 1; c < columns.size(); ++c) {
    const auto width = static_cast<std::size_t>(columns[c].width());
    values.resize(count * width);
    for (std::size_t row = 0; row < count; ++row) {
      std::copy_n(rows.data() + row * static_cast<std::size_t>(row_width) + offset, width, values.data() + row * width);
    }
    columns[c].write_rows(first, values);
    offset += width;
  }
}

SeriesWriter ResultFile::series(const SeriesLayout& layout) {
  if (!state_->file) throw std::logic_error("the result file is closed already");
  OpenFile& file = *state_->file;
  const auto time = hdf5::dataset_path(layout.group, layout.time);
  if (file.is_continued() && hdf5::exists(file.id(), time.path())) {
    SeriesWriter writer;
    writer.state_ = std::make_shared<SeriesWriter::State>();
    SeriesWriter::State& state = *writer.state_;
    state.file = state_->file;
    state.group = layout.group;
    file.run_collectively("resuming " + layout.group, [&] {
      state.columns.emplace_back(file.id(), time);
      for (const auto& variable : layout.variables) {
        state.columns.emplace_back(file.id(), hdf5::dataset_path(layout.group, variable.name));
        state.row_width += state.columns.back().width();
      }
    });
    return writer;
  }
  require_absent(file.id(), time.path());
  const std::size_t variables = layout.dimensions.size() + layout.variables.size();
  auto bytes = static_cast<std::int64_t>(variables) * metadata_of_a_variable;
  for (const auto& dimension : layout.dimensions) bytes += static_cast<std::int64_t>(dimension.length()) * 8;
  for (const auto& variable : layout.variables) {
    require_absent(file.id(), hdf5::dataset_path(layout.group, variable.name).path());
    const auto dimensions = dimensions_of(layout, variable);
    if (require_consistent(file.id(), layout.group, dimensions) == 0) {
      throw std::logic_error(layout.group + "/" + variable.name + " has an empty dimension");
    }
  }

  SeriesWriter writer;
  writer.state_ = std::make_shared<SeriesWriter::State>();
  auto& state = *writer.state_;
  state.file = state_->file;
  state.group = layout.group;
  const std::string operation = "creating the variables of " + layout.group;
  file.reserve(operation, bytes);
  std::vector<NewScale> scales;
  file.run_collectively(operation, [&] {
    state.columns.emplace_back(file.id(), time, std::vector<hsize_t>{}, std::vector<hsize_t>{max_rows_of_a_chunk}, "s",
                               "time");
    hdf5::make_dimension_scale(state.columns.front().dataset(), time.name);
    for (const auto& variable : layout.variables) {
      const auto dimensions = dimensions_of(layout, variable);
      std::vector<hsize_t> row;
      for (const auto& dimension : dimensions) row.push_back(dimension.length());
      state.columns.emplace_back(file.id(), hdf5::dataset_path(layout.group, variable.name), row, chunk_for(row),
                                 variable.units, variable.long_name);
      const auto& column = state.columns.back();
      hdf5::attach(column.dataset(), state.columns.front().dataset(), 0);
      for (unsigned i = 0; i < dimensions.size(); ++i) {
        attach_scale(file.id(), layout.group, dimensions[i], column.dataset(), i + 1, scales);
      }
      state.row_width += column.width();
    }
  });
  file.on_root("writing the dimensions of " + layout.group, [&] {
    for (const auto& scale : scales) write_all(scale);
  });
  return writer;
}

void SeriesWriter::append(double time, std::span<const double> row) {
  if (!state_->file->communicator().is_root()) return;
  if (static_cast<std::int64_t>(row.size()) != state_->row_width) {
    throw std::logic_error(
        fmt::format("a row of {} has {} values, not {}", state_->group, state_->row_width, row.size()));
  }
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

}  // namespace bathline
