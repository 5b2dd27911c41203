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
    for (const auto& scale : scales) write_all(scale);
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

}  // namespace bathline
