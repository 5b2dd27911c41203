// Writing, finding and checking checkpoints.
#include "record/checkpoint_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

#include "record/disk_space.hpp"

namespace bathline {

namespace {

namespace fs = std::filesystem;

constexpr const char* last_line = "bathline checkpoint of {:020d} bytes with checksum {:016x}\n";
constexpr std::int64_t last_line_length = 81;
constexpr const char* unfinished = ".unfinished";
/// The group with a file's bytes, eight in every number: HDF5 hands numbers of our own kind on as they are.
constexpr const char* copy_of_result = "copy_of_result";

/// Throws FileError on every rank where `work` has failed on any, with the first such rank's reason. @note Collective.
void everywhere(const Communicator& communicator, const std::function<void()>& work) {
  std::string reason;
  try {
    work();
  } catch (const std::exception& error) {
    reason = error.what();
    if (reason.empty()) reason = "unknown failure";
  }
  // The largest number belongs to the lowest rank that failed.
  const double vote =
      communicator.max(reason.empty() ? -1.0 : static_cast<double>(communicator.size() - communicator.rank()));
  if (vote < 0.0) return;
  throw FileError(communicator.broadcast(reason, communicator.size() - static_cast<int>(vote)));
}

std::uint64_t mixed(std::uint64_t value) {  // the finaliser of splitmix64
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

std::uint64_t hash_of(const char* bytes, std::size_t count) {
  std::uint64_t hash = 0x9e3779b97f4a7c15u ^ count;
  for (std::size_t i = 0; i < count; i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + i, std::min<std::size_t>(8, count - i));
    hash = (std::rotl(hash, 27) ^ word) * 0xff51afd7ed558ccdu;
  }
  return mixed(hash);
}

/// Checksum of the first `size` bytes: the sum over blocks of hashes that know their block, so that any number of ranks
/// gets the same. @note Collective.
std::uint64_t checksum(const std::string& path, std::int64_t size, const Communicator& communicator) {
  constexpr std::int64_t block = std::int64_t{1} << 20;
  std::uint64_t sum = 0;
  everywhere(communicator, [&] {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) throw FileError(fmt::format("cannot read {}: {}", path, words_of_error(errno)));
    std::vector<char> bytes(block);
    std::string reason;
    for (std::int64_t i = communicator.rank(); i * block < size && reason.empty(); i += communicator.size()) {
      const std::int64_t count = std::min(block, size - i * block);
      std::int64_t done = 0;
      while (done < count) {
        const ssize_t got =
            pread(descriptor, bytes.data() + done, static_cast<std::size_t>(count - done), i * block + done);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
          reason = got < 0 ? words_of_error(errno) : "it is cut short";
          break;
        }
        done += got;
      }
      sum += mixed(hash_of(bytes.data(), static_cast<std::size_t>(count)) + static_cast<std::uint64_t>(i));
    }
    ::close(descriptor);
    if (!reason.empty()) throw FileError(fmt::format("cannot read {}: {}", path, reason));
  });
  return static_cast<std::uint64_t>(communicator.sum(static_cast<std::int64_t>(sum)));
}

std::int64_t size_of(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) throw FileError(fmt::format("cannot read {}: {}", path, words_of_error(errno)));
  if (!S_ISREG(found.st_mode)) throw FileError(fmt::format("cannot read {}: it is not a regular file", path));
  return found.st_size;
}

/// Whether HDF5 finds its way to all that is in a result.
bool is_sound(const std::string& result) {
  try {
    const ResultReader reader(result);
    for (const std::string& name : reader.attribute_names()) reader.attribute(name);
    for (const std::string& group : reader.names("/")) {
      if (!reader.is_group(group)) continue;
      for (const std::string& name : reader.names(group)) {
        const std::string path = fmt::format("{}/{}", group, name);
        if (reader.is_variable(path)) reader.shape(path);
      }
    }
    return true;
  } catch (const FileError&) {
    return false;
  }
}

/// "out" of "folder/out.h5".
std::string stem_of(const std::string& result) {
  const fs::path path(result);
  return path.extension() == ".h5" ? path.stem().string() : path.filename().string();
}

fs::path folder_of(const std::string& result) {
  const fs::path folder = fs::path(result).parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

/// What stands between `<result>.checkpoint.` and `ending` in a file name, if it is a number.
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

std::vector<FoundCheckpoint> find_checkpoints(const std::string& result) {
  std::vector<FoundCheckpoint> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_of(result), error)) {
    const auto step = step_in(entry.path().filename().string(), stem_of(result) + ".checkpoint.", ".h5");
    if (step) found.push_back({*step, checkpoint_name(result, *step)});
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.step > b.step; });
  return found;
}

void prune_checkpoints(const std::string& result, std::int64_t step, std::int64_t keep) {
  std::error_code ignored;
  for (const FoundCheckpoint& one : find_checkpoints(result)) {
    if (one.step <= step && keep-- > 0) continue;
    fs::remove(one.path, ignored);
  }
  std::vector<fs::path> remains;
  for (const auto& entry : fs::directory_iterator(folder_of(result), ignored)) {
    const std::string name = entry.path().filename().string();
    if (step_in(name, stem_of(result) + ".checkpoint.", std::string(".h5") + unfinished))
      remains.push_back(entry.path());
  }
  for (const fs::path& path : remains) fs::remove(path, ignored);
}

CheckpointWriter::CheckpointWriter(const std::string& path, const Communicator& communicator)
    : path_(path), scratch_(path + unfinished), communicator_(communicator) {
  if (communicator.is_root()) std::remove(scratch_.c_str());  // of a writer that was killed
  file_ = std::make_unique<ResultFile>(scratch_, communicator, true);
}

CheckpointWriter::~CheckpointWriter() {
  if (scratch_.empty()) return;
  file_.reset();
  if (communicator_.is_root()) std::remove(scratch_.c_str());
}

void seal_checkpoint(const std::string& path, const Communicator& communicator) {
  std::int64_t size[] = {0};
  everywhere(communicator, [&] {
    if (communicator.is_root()) size[0] = size_of(path);
  });
  communicator.broadcast(std::span<std::int64_t>(size));
  const std::uint64_t sum = checksum(path, size[0], communicator);
  everywhere(communicator, [&] {
    if (!communicator.is_root()) return;
    const std::string line = fmt::format(last_line, size[0], sum);
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    bool good = descriptor >= 0 && write(descriptor, line.data(), line.size()) == static_cast<ssize_t>(line.size());
    // On the disk before it takes the place of an older one.
    good = good && fsync(descriptor) == 0;
    const int error = errno;
    if (descriptor >= 0) ::close(descriptor);
    if (!good) throw FileError(fmt::format("cannot write {}: {}", path, words_of_error(error)));
  });
}

void CheckpointWriter::commit() {
  file_->close();
  file_.reset();
  seal_checkpoint(scratch_, communicator_);
  everywhere(communicator_, [&] {
    if (communicator_.is_root() && std::rename(scratch_.c_str(), path_.c_str()) != 0) {
      throw FileError(fmt::format("cannot write {}: {}", path_, words_of_error(errno)));
    }
  });
  scratch_.clear();
}

void CheckpointWriter::keep_copy(const std::string& result) {
  std::vector<double> words;
  std::int64_t size[] = {0};
  everywhere(communicator_, [&] {
    if (!communicator_.is_root()) return;
    size[0] = size_of(result);
    if (size[0] > largest_copy) return;
    words.resize(static_cast<std::size_t>((size[0] + 7) / 8));
    std::ifstream file(result, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(words.data()), size[0])) {
      throw FileError(fmt::format("cannot read {}: {}", result, words_of_error(errno)));
    }
  });
  communicator_.broadcast(std::span<std::int64_t>(size));
  if (size[0] > largest_copy) return;
  const double bytes[] = {static_cast<double>(size[0])};
  numbers(copy_of_result + std::string("/bytes"), bytes);
  numbers(copy_of_result + std::string("/words"), words);
}

CheckpointReader::CheckpointReader(const std::string& path, const Communicator& communicator)
    : path_(path), communicator_(communicator) {
  std::int64_t size[] = {0};
  std::string line;
  everywhere(communicator, [&] {
    if (!communicator.is_root()) return;
    size[0] = size_of(path) - last_line_length;
    line.assign(last_line_length, '\0');
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) throw FileError(fmt::format("cannot read {}: {}", path, words_of_error(errno)));
    if (size[0] >= 0 && pread(descriptor, line.data(), last_line_length, size[0]) != last_line_length) line.clear();
    ::close(descriptor);
    if (line.starts_with("bathline checkpoint of ")) return;
    throw FileError(fmt::format("{} is not a checkpoint, or not all of one: it does not end with its checksum", path));
  });
  communicator.broadcast(std::span<std::int64_t>(size));
  const std::uint64_t sum = checksum(path, size[0], communicator);
  everywhere(communicator, [&] {
    if (communicator.is_root() && line != fmt::format(last_line, size[0], sum)) {
      throw FileError(fmt::format("{} is damaged: its checksum is another one", path));
    }
    reader_ = std::make_unique<ResultReader>(path);
    if (!reader_->has_attribute("checkpoint_format")) throw FileError(path + " is not a checkpoint");
  });
}

std::string CheckpointReader::attribute(const std::string& name, const std::string& object) const {
  std::string value;
  everywhere(communicator_, [&] {
    if (communicator_.is_root()) value = reader_->attribute(name, object);
  });
  return communicator_.broadcast(value);
}

std::vector<std::string> CheckpointReader::names(const std::string& group) const {
  std::string all;  // names hold no line ends
  everywhere(communicator_, [&] {
    if (!communicator_.is_root() || !reader_->has(group)) return;
    for (const std::string& name : reader_->names(group)) all += name + "\n";
  });
  std::istringstream lines(communicator_.broadcast(all));
  std::vector<std::string> names;
  for (std::string name; std::getline(lines, name);) names.push_back(name);
  return names;
}

std::vector<double> CheckpointReader::numbers(const std::string& path) const {
  std::vector<double> values;
  everywhere(communicator_, [&] {
    if (communicator_.is_root()) values = reader_->read(path).values;
  });
  std::int64_t count[] = {static_cast<std::int64_t>(values.size())};
  communicator_.broadcast(std::span<std::int64_t>(count));
  values.resize(static_cast<std::size_t>(count[0]));
  communicator_.broadcast(std::span<double>(values));
  return values;
}

bool CheckpointReader::rescue(const std::string& result) const {
  std::int64_t rescued[] = {0};
  everywhere(communicator_, [&] {
    const std::string group = copy_of_result;
    if (!communicator_.is_root() || !reader_->has(group)) return;
    // What is not there, or not to be read by this user, is no case for a copy: whoever opens it says so.
    if (!fs::is_regular_file(result) || access(result.c_str(), R_OK) != 0 || is_sound(result)) return;
    const std::vector<double> words = reader_->read(group + "/words").values;
    const std::int64_t size = count_of(reader_->read(group + "/bytes").values.at(0));
    if (size > 8 * static_cast<std::int64_t>(words.size())) throw FileError(path_ + " holds half a result");
    const std::string scratch = result + unfinished;
    std::ofstream file(scratch, std::ios::binary);
    file.write(reinterpret_cast<const char*>(words.data()), size);
    file.close();
    const bool good = static_cast<bool>(file) && std::rename(result.c_str(), (result + ".unreadable").c_str()) == 0 &&
                      std::rename(scratch.c_str(), result.c_str()) == 0;
    if (!good) throw FileError(fmt::format("cannot write {}: {}", result, words_of_error(errno)));
    rescued[0] = 1;
  });
  communicator_.broadcast(std::span<std::int64_t>(rescued));
  return rescued[0] != 0;
}

std::int64_t CheckpointReader::count(const std::string& path) const {
  const std::vector<double> values = numbers(path);
  try {
    if (values.size() == 1) return count_of(values.front());
  } catch (const std::out_of_range&) {
  }
  throw FileError(fmt::format("{} of {} is not a count", path, path_));
}

std::int64_t count_of(double number) {
  constexpr double largest = 9007199254740992.0;  // beyond it not all whole numbers are there
  if (!(number >= 0.0 && number <= largest) || number != std::floor(number)) throw std::out_of_range("not a count");
  return static_cast<std::int64_t>(number);
}

std::vector<double> CheckpointReader::piece(const std::string& path, std::int64_t first, std::int64_t count) const {
  std::vector<double> values;
  everywhere(communicator_, [&] {
    if (count > 0) values = reader_->read_rows(path, first, count).values;
    // Rows of a table would be more than the caller has room for.
    if (static_cast<std::int64_t>(values.size()) != count) throw FileError(path_ + " has another shape of " + path);
  });
  return values;
}

}  // namespace bathline
