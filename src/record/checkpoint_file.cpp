// Writing, finding and checking checkpoints.
// Tested by tests/command_line/resume_test.py.
#include "record/checkpoint_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

#include "record/checksum.hpp"
#include "record/disk_space.hpp"
#include "record/guarded_reader.hpp"
#include "record/on_all_ranks.hpp"

namespace bathline {

namespace {

namespace fs = std::filesystem;

constexpr const char* unfinished = ".unfinished";
constexpr const char* bytes_of_result = "bytes_of_result";

/// "out" of "folder/out.h5".
std::string stem_of(const std::string& result) {
  const fs::path path(result);
  return path.extension() == ".h5" ? path.stem().string() : path.filename().string();
}

fs::path folder_of(const std::string& result) {
  const fs::path folder = fs::path(result).parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

/// The number between `begin` and `ending` in a file name, if there is one.
std::optional<std::int64_t> step_in(const std::string& name, const std::string& begin, const std::string& ending) {
  if (!name.starts_with(begin) || !name.ends_with(ending) || name.size() <= begin.size() + ending.size()) return {};
  const std::string digits = name.substr(begin.size(), name.size() - begin.size() - ending.size());
  if (digits.size() > 18 || digits.find_first_not_of("0123456789") != std::string::npos) return {};
  return std::stoll(digits);
}

}  // namespace

std::string checkpoint_name(const std::string& result, std::int64_t step) {
  return (fs::path(result).parent_path() / fmt::format("{}.checkpoint.{}.h5", stem_of(result), step)).string();
}

CheckpointFiles find_checkpoint_files(const std::string& result) {
  CheckpointFiles files;
  std::error_code error;
  const std::string begin = stem_of(result) + ".checkpoint.";
  for (const auto& entry : fs::directory_iterator(folder_of(result), error)) {
    const std::string name = entry.path().filename().string();
    if (const auto step = step_in(name, begin, ".h5")) {
      files.complete.push_back({*step, checkpoint_name(result, *step)});
    } else if (step_in(name, begin, std::string(".h5") + unfinished)) {
      files.unfinished.push_back(entry.path().string());
    }
  }
  std::sort(files.complete.begin(), files.complete.end(), [](const auto& a, const auto& b) { return a.step > b.step; });
  return files;
}

std::vector<CheckpointEntry> find_checkpoints(const std::string& result) {
  return find_checkpoint_files(result).complete;
}

void prune_checkpoints(const CheckpointFiles& files, std::int64_t step, std::int64_t keep) {
  std::error_code ignored;
  for (const CheckpointEntry& checkpoint : files.complete) {
    if (checkpoint.step <= step && keep-- > 0) continue;
    fs::remove(checkpoint.path, ignored);
  }
  for (const std::string& path : files.unfinished) fs::remove(path, ignored);
}

CheckpointWriter::CheckpointWriter(const std::string& path, const Communicator& communicator)
    : path_(path), scratch_(path + unfinished), communicator_(communicator) {
  if (communicator.is_root()) std::remove(scratch_.c_str());  // left by a killed writer
  constexpr bool overwrite = true;
  file_ = std::make_unique<ResultFile>(scratch_, communicator, overwrite);
}

CheckpointWriter::~CheckpointWriter() {
  if (scratch_.empty()) return;
  file_.reset();
  if (communicator_.is_root()) std::remove(scratch_.c_str());
}

void append_checkpoint_checksum(const std::string& path, const Communicator& communicator) {
  // A checkpoint must be on the disk before an older one is removed.
  append_checksum(path, "checkpoint", Durability::synced, communicator);
}

void CheckpointWriter::commit(ResultFile& result) {
  result.flush();
  std::int64_t bytes = 0;
  on_root(communicator_, [&] { bytes = size_of_file(result.path()); });
  const double number[] = {static_cast<double>(bytes)};
  numbers(bytes_of_result, number);
  file_->close();
  file_.reset();
  on_root(communicator_, [&] { append_bytes(result.path(), 0, bytes, scratch_); });
  append_checkpoint_checksum(scratch_, communicator_);
  on_root(communicator_, [&] {
    if (std::rename(scratch_.c_str(), path_.c_str()) != 0)
      throw FileError("cannot write {}: {}", path_, system_error_message(errno));
  });
  scratch_.clear();
}

CheckpointReader::CheckpointReader(const std::string& path, GuardedReader& guard, const Communicator& communicator)
    : path_(path), communicator_(communicator) {
  const ChecksumState checksum_state = verify_checksum(path, "checkpoint", communicator);
  if (checksum_state == ChecksumState::missing) {
    throw FileError("{} is not a complete checkpoint: it does not end with its checksum", path);
  }
  if (checksum_state == ChecksumState::invalid) throw FileError("{} is damaged: its checksum does not match", path);
  on_root(communicator, [&] { guard.require_readable(path, GuardedReader::no_values); });
  on_all_ranks(communicator, [&] {
    reader_ = std::make_unique<ResultReader>(path);
    if (!reader_->has_attribute("checkpoint_format")) throw FileError(path + " is not a checkpoint");
  });
}

std::string CheckpointReader::attribute(const std::string& name, const std::string& object) const {
  std::string value;
  on_root(communicator_, [&] { value = reader_->attribute(name, object); });
  return communicator_.broadcast(value);
}

std::vector<std::string> CheckpointReader::names(const std::string& group) const {
  std::string joined;
  on_root(communicator_, [&] {
    if (!reader_->has(group)) return;
    for (const std::string& name : reader_->names(group)) joined += name + '\0';
  });
  std::istringstream lines(communicator_.broadcast(joined));
  std::vector<std::string> names;
  for (std::string name; std::getline(lines, name, '\0');) names.push_back(name);
  return names;
}

std::vector<double> CheckpointReader::numbers(const std::string& path) const {
  std::vector<double> values;
  on_root(communicator_, [&] { values = reader_->read(path).values; });
  std::int64_t count[] = {static_cast<std::int64_t>(values.size())};
  communicator_.broadcast(std::span<std::int64_t>(count));
  values.resize(static_cast<std::size_t>(count[0]));
  communicator_.broadcast(std::span<double>(values));
  return values;
}

void CheckpointReader::restore_result(const std::string& result, GuardedReader& guard) const {
  const std::int64_t bytes = count(bytes_of_result);
  on_root(communicator_, [&] {
    std::error_code ignored;
    const bool exists = fs::exists(result, ignored);
    const std::string target = exists ? fs::canonical(result).string() : result;
    const std::string scratch = target + unfinished;
    const std::int64_t first = size_without_checksum(path_, "checkpoint") - bytes;
    if (first < 0) throw FileError(path_ + " contains an incomplete copy of the result");
    try {
      fs::remove(scratch, ignored);  // left by a killed program
      append_bytes(path_, first, bytes, scratch);
      guard.require_readable(scratch, "");
      if (ResultReader(scratch).attribute("recipe_resolved") != reader_->attribute("recipe_resolved"))
        throw FileError("it belongs to a different recipe");
      if (exists) fs::permissions(scratch, fs::status(target).permissions(), ignored);
      if (std::rename(scratch.c_str(), target.c_str()) != 0)
        throw FileError("cannot write {}: {}", result, system_error_message(errno));
    } catch (const FileError& error) {
      fs::remove(scratch, ignored);
      throw FileError("cannot restore the copy of the result in {}: {}", path_, error.what());
    }
  });
}

std::int64_t CheckpointReader::count(const std::string& path) const {
  const std::vector<double> values = numbers(path);
  try {
    if (values.size() == 1) return count_of(values.front());
  } catch (const std::out_of_range&) {
  }
  throw FileError("{} of {} is not a count", path, path_);
}

std::int64_t count_of(double number) {
  constexpr double max_exact = 9007199254740992.0;  // 2^53: above it doubles do not represent all integers
  if (!(number >= 0.0 && number <= max_exact) || number != std::floor(number)) throw std::out_of_range("not a count");
  return static_cast<std::int64_t>(number);
}

std::vector<double> CheckpointReader::piece(const std::string& path, std::int64_t first, std::int64_t count) const {
  std::vector<double> values;
  on_all_ranks(communicator_, [&] {
    if (count > 0) values = reader_->read_rows(path, first, count).values;
    // A table, with several values per row, does not fit into the caller's memory.
    if (static_cast<std::int64_t>(values.size()) != count)
      throw FileError(path_ + " has an unexpected shape of " + path);
    const auto is_finite = [](double value) { return std::isfinite(value); };
    if (!std::all_of(values.begin(), values.end(), is_finite)) throw FileError(path_ + ": " + path + " is not finite");
  });
  return values;
}

}  // namespace bathline
