// The interface of result files: attributes, small arrays, lists of texts.
#include "record/result_file.hpp"

#include "record/hdf5_layout.hpp"
#include "record/open_file.hpp"
#include "record/dimension_scale.hpp"

namespace bathline {

namespace {

OpenFile& open_file(const std::shared_ptr<OpenFile>& file) {
  if (!file) throw std::logic_error("the result file is closed already");
  return *file;
}

/// HDF5 requires that all ranks change metadata in the same way, so that rank 0's value is written, even if the values
/// of other ranks differ.
template <class Value>
void write_attribute(OpenFile& file, const std::string& name, const Value& value, const std::string& object,
                     std::size_t bytes) {
  const std::string operation = "attribute " + name + " of " + object;
  if (object != "/" && !hdf5::exists(file.id(), object)) throw std::logic_error(operation + ": no such object");
  file.reserve(operation, static_cast<std::int64_t>(bytes), Purpose::metadata);
  file.run_collectively(operation, [&] {
    const hdf5::Object holder(hdf5::check(H5Oopen(file.id(), object.c_str(), H5P_DEFAULT), "opening"));
    hdf5::write_attribute(holder.id(), name, value);
  });
}

}  // namespace

ResultFile::ResultFile(const std::string& path, const Communicator& communicator, bool overwrite)
    : state_(std::make_shared<State>(State{std::make_shared<OpenFile>(path, communicator, overwrite)})) {}

ResultFile::ResultFile(const std::string& path, const Communicator& communicator)
    : state_(std::make_shared<State>(State{std::make_shared<OpenFile>(path, communicator)})) {}

ResultFile::~ResultFile() = default;
ResultFile::ResultFile(ResultFile&&) noexcept = default;
ResultFile& ResultFile::operator=(ResultFile&&) noexcept = default;

void ResultFile::attribute(const std::string& name, const std::string& value, const std::string& object) {
  OpenFile& file = open_file(state_->file);
  const std::string agreed = file.communicator().broadcast(value);
  write_attribute(file, name, agreed, object, agreed.size());
}

void ResultFile::attribute(const std::string& name, std::int64_t value, const std::string& object) {
  OpenFile& file = open_file(state_->file);
  file.communicator().broadcast(std::span<std::int64_t>(&value, 1));
  write_attribute(file, name, value, object, sizeof value);
}

void ResultFile::attribute(const std::string& name, double value, const std::string& object) {
  OpenFile& file = open_file(state_->file);
  file.communicator().broadcast(std::span<double>(&value, 1));
  write_attribute(file, name, value, object, sizeof value);
}

namespace {

/// Creates a variable over dimensions on all ranks by `create`; `write` gives it rank 0's values. Both take `bytes`.
void write_variable(OpenFile& file, const hdf5::DatasetPath& target, std::span<const Dimension> dimensions,
                    std::int64_t bytes, const std::function<hdf5::Dataset()>& create,
                    const std::function<void(const hdf5::Dataset&)>& write) {
  for (const auto& dimension : dimensions) {
    bytes += static_cast<std::int64_t>(dimension.values.size()) * 8 + hdf5::bytes_of(dimension.names);
  }
  const std::string operation = "creating " + target.path();
  file.reserve(operation, bytes);
  std::vector<NewScale> scales;
  hdf5::Dataset dataset;
  file.run_collectively(operation, [&] {
    dataset = create();
    attach_scales(file.id(), target.group, dimensions, dataset, 0, scales);
  });
  file.on_root("writing " + target.path(), [&] {
    for (const auto& scale : scales) hdf5::write_all(scale.dataset, scale.values);
    write(dataset);
  });
}

}  // namespace

void ResultFile::array(const std::string& group, const Variable& variable, std::span<const Dimension> dimensions,
                       std::span<const double> values) {
  OpenFile& file = open_file(state_->file);
  const auto target = hdf5::dataset_path(group, variable.name);
  const std::int64_t expected = require_new(file.id(), target, dimensions);
  const bool complete = !file.communicator().is_root() || static_cast<std::int64_t>(values.size()) == expected;
  if (!file.communicator().broadcast(complete))
    throw std::logic_error(target.path() + ": the number of values does not match the shape");
  std::vector<hsize_t> shape;
  for (const auto& dimension : dimensions) shape.push_back(dimension.length());
  const auto create = [&] {
    return hdf5::create(file.id(), target, variable.is_flag ? H5T_STD_I8LE : H5T_IEEE_F64LE, variable.units,
                        variable.long_name, shape);
  };
  write_variable(file, target, dimensions, expected * 8, create,
                 [&](const hdf5::Dataset& dataset) { hdf5::write_all(dataset, values); });
}

void ResultFile::number(const std::string& group, const std::string& name, const std::string& units,
                        const std::string& long_name, double value, bool may_be_undefined) {
  array(group, {name, units, long_name, {}}, {}, std::span<const double>(&value, 1));
  if (std::isnan(value) && !may_be_undefined)
    state_->undetermined += (state_->undetermined.empty() ? "" : ", ") + group + "/" + name;
}

const std::string& ResultFile::undetermined() const { return state_->undetermined; }

void ResultFile::texts(const std::string& group, const std::string& name, const std::string& dimension,
                       std::span<const std::string> values, const std::string& long_name) {
  OpenFile& file = open_file(state_->file);
  const Communicator& ranks = file.communicator();
  const auto target = hdf5::dataset_path(group, name);
  std::vector<std::string> texts(values.begin(), values.end());
  auto count = static_cast<std::int64_t>(texts.size());
  ranks.broadcast(std::span<std::int64_t>(&count, 1));
  texts.resize(static_cast<std::size_t>(count));
  for (std::string& text : texts) text = ranks.broadcast(text);
  const Dimension along[] = {counted_dimension(dimension, texts.size(), dimension)};
  require_new(file.id(), target, along);
  const auto create = [&] { return hdf5::create_texts(file.id(), target, "1", long_name, texts); };
  write_variable(file, target, along, hdf5::bytes_of(texts), create, [](const hdf5::Dataset&) {});
}

void ResultFile::numbers(const std::string& path, std::span<const double> values) {
  const Communicator& ranks = open_file(state_->file).communicator();
  auto count = static_cast<std::int64_t>(values.size());
  ranks.broadcast(std::span<std::int64_t>(&count, 1));
  write_distributed(path, ranks.is_root() ? values : std::span<const double>(), 0, count);
}

void ResultFile::reserve(std::int64_t bytes) { open_file(state_->file).reserve("reserving space", bytes); }

void ResultFile::remove(const std::string& group) {
  OpenFile& file = open_file(state_->file);
  file.run_collectively("removing " + group, [&] {
    if (hdf5::exists(file.id(), group))
      hdf5::check(H5Ldelete(file.id(), group.c_str(), H5P_DEFAULT), "removing a group");
  });
}

void ResultFile::flush() { open_file(state_->file).flush(); }

void ResultFile::close() {
  open_file(state_->file).close();
  state_->file.reset();
}

const std::string& ResultFile::path() const { return open_file(state_->file).path(); }

}  // namespace bathline
