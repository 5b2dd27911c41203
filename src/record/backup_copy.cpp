// Recognising a result that was torn by a kill, and replacing it by its copy.
// Tested by tests/command_line/resume_test.py.
#include "record/backup_copy.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "record/checkpoint_file.hpp"
#include "record/disk_space.hpp"
#include "record/external_links.hpp"
#include "record/result_integrity.hpp"
#include "record/run_in_child_process.hpp"

namespace bathline {

namespace {

namespace fs = std::filesystem;

/// Whether a kill can leave a result like this: an empty file, a file whose first bytes are zero because they were
/// never written, or an HDF5 file, which must contain a recipe if HDF5 can open it.
bool may_be_torn(const std::string& result) {
  std::ifstream file(result, std::ios::binary);
  char begin[8] = {};
  file.read(begin, sizeof begin);
  if (file.gcount() == 0) return true;
  if (std::all_of(std::begin(begin), std::end(begin), [](char byte) { return byte == 0; })) return true;
  if (file.gcount() < 8 || std::memcmp(begin, "\x89HDF\r\n\x1a\n", sizeof begin) != 0) return false;
  const std::string foreign = "foreign";
  return foreign != run_in_child_process([&](const auto&) {
           try {
             if (!ResultReader(result).has_attribute("recipe_resolved")) throw ExternalLinks(foreign);
           } catch (const ExternalLinks&) {
             throw FileError(foreign);
           } catch (const FileError&) {  // torn
           }
         });
}

/// The copy of the result in a checkpoint, as numbers of eight bytes each, and its size in bytes.
std::pair<std::vector<double>, std::size_t> read_copy(const ResultReader& checkpoint) {
  const std::string group = copy_of_result;
  std::vector<double> words = checkpoint.read(group + "/words").values;
  const std::int64_t size = count_of(checkpoint.read(group + "/bytes").values.at(0));
  if (size > 8 * static_cast<std::int64_t>(words.size()))
    throw FileError(checkpoint.path() + " contains an incomplete copy of the result");
  return {std::move(words), static_cast<std::size_t>(size)};
}

/// Replaces a result by its copy in `checkpoint`. The old file is renamed to `backup`, if that is not empty.
void replace_by_copy(const std::string& result, const std::string& backup, const ResultReader& checkpoint) {
  const auto [words, size] = read_copy(checkpoint);
  const std::string_view bytes(reinterpret_cast<const char*>(words.data()), size);
  const auto refuse = [&](const std::string& reason) {
    throw FileError(fmt::format("cannot write {}: {}", result, reason));
  };
  if (!backup.empty() && fs::symlink_status(backup).type() != fs::file_type::not_found) {
    refuse(fmt::format("the unreadable file would be renamed to {}, which exists already", backup));
  }
  // A new file, so that no existing file is overwritten, neither directly nor through a link.
  std::string scratch = result + ".unfinished-XXXXXX";
  const int descriptor = mkostemp(scratch.data(), O_CLOEXEC);
  if (descriptor < 0) refuse(system_error_message(errno));
  std::string reason;
  for (std::size_t done = 0; done < bytes.size() && reason.empty();) {
    const ssize_t count = write(descriptor, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno != EINTR) reason = system_error_message(errno);
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  struct stat old_status {};
  if (reason.empty() &&
      (stat(result.c_str(), &old_status) != 0 || fchmod(descriptor, old_status.st_mode & 0777) != 0)) {
    reason = system_error_message(errno);
  }
  if (::close(descriptor) != 0 && reason.empty()) reason = system_error_message(errno);
  try {
    if (reason.empty() &&
        ResultReader(scratch).attribute("recipe_resolved") != checkpoint.attribute("recipe_resolved")) {
      reason = fmt::format("the copy in {} belongs to a different recipe", checkpoint.path());
    }
  } catch (const FileError& error) {
    reason = fmt::format("the copy in {} is not a result: {}", checkpoint.path(), error.what());
  }
  if (reason.empty() && ((!backup.empty() && std::rename(result.c_str(), backup.c_str()) != 0) ||
                         std::rename(scratch.c_str(), result.c_str()) != 0)) {
    reason = system_error_message(errno);
  }
  if (reason.empty()) return;
  std::remove(scratch.c_str());
  refuse(reason);
}

}  // namespace

bool restore_unreadable_from_copy(const std::string& result, const ResultReader& checkpoint) {
  if (!checkpoint.has(copy_of_result)) return false;
  // A file that is missing, not permitted to read, or was never a result is not replaced; opening it reports the error.
  if (!fs::is_regular_file(result) || access(result.c_str(), R_OK) != 0) return false;
  if (!may_be_torn(result)) return false;
  if (why_unreadable(result).empty()) return false;
  replace_by_copy(result, result + ".unreadable", checkpoint);
  return true;
}

bool roll_back_to_copy(const std::string& result, const ResultReader& checkpoint) {
  if (!checkpoint.has(copy_of_result)) return false;
  replace_by_copy(result, "", checkpoint);
  return true;
}

}  // namespace bathline
