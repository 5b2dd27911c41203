// Writing a variable (snapshot_time, site); each rank writes its own columns.
#include <algorithm>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include "record/extendible_dataset.hpp"
#include "record/open_file.hpp"
#include "record/dimension_scale.hpp"

namespace bathline {

namespace {

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
