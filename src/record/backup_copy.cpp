// Telling a torn result from everything else, and replacing it.
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

/// Whether this is what a kill can leave of a result: nothing, or a beginning as HDF5 writes it, or one that never came
/// to the disk; and, where HDF5 finds its beginning, a recipe.
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

/// The bytes of the copy that a checkpoint holds, in numbers, and how many they are.
std::pair<std::vector<double>, std::size_t> read_copy(const ResultReader& checkpoint) {
  const std::string group = copy_of_result;
  std::vector<double> words = checkpoint.read(group + "/words").values;
  const std::int64_t size = count_of(checkpoint.read(group + "/bytes").values.at(0));
  if (size > 8 * static_cast<std::int64_t>(words.size())) throw FileError(checkpoint.path() + " holds half a result");
  return {std::move(words), static_cast<std::size_t>(size)};
}

/// Puts the copy of a result, which `checkpoint` holds, in its place, and keeps what is there under the name `kept`,
/// if that is not empty.
void put_in_place_of(const std::string& result, const std::string& kept, const ResultReader& checkpoint) {
  const auto [words, size] = read_copy(checkpoint);
  const std::string_view bytes(reinterpret_cast<const char*>(words.data()), size);
  const auto refuse = [&](const std::string& why) { throw FileError(fmt::format("cannot write {}: {}", result, why)); };
  if (!kept.empty() && fs::symlink_status(kept).type() != fs::file_type::not_found) {
    refuse(fmt::format("what is there cannot be read and would be kept as {}, which exists already", kept));
  }
  // Created anew, so that nothing that is there, and nothing that a link leads to, is written over.
  std::string scratch = result + ".unfinished-XXXXXX";
  const int descriptor = mkostemp(scratch.data(), O_CLOEXEC);
  if (descriptor < 0) refuse(system_error_message(errno));
  std::string why;
  for (std::size_t done = 0; done < bytes.size() && why.empty();) {
    const ssize_t count = write(descriptor, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno != EINTR) why = system_error_message(errno);
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  struct stat old {};
  if (why.empty() && (stat(result.c_str(), &old) != 0 || fchmod(descriptor, old.st_mode & 0777) != 0)) {
    why = system_error_message(errno);
  }
  if (::close(descriptor) != 0 && why.empty()) why = system_error_message(errno);
  try {
    if (why.empty() && ResultReader(scratch).attribute("recipe_resolved") != checkpoint.attribute("recipe_resolved")) {
      why = fmt::format("the copy in {} is of another recipe", checkpoint.path());
    }
  } catch (const FileError& error) {
    why = fmt::format("the copy in {} is no result: {}", checkpoint.path(), error.what());
  }
  if (why.empty() && ((!kept.empty() && std::rename(result.c_str(), kept.c_str()) != 0) ||
                      std::rename(scratch.c_str(), result.c_str()) != 0)) {
    why = system_error_message(errno);
  }
  if (why.empty()) return;
  std::remove(scratch.c_str());
  refuse(why);
}

}  // namespace

bool restore_unreadable_from_copy(const std::string& result, const ResultReader& checkpoint) {
  if (!checkpoint.has(copy_of_result)) return false;
  // What is not there, or not to be read by this user, is no case for a copy: whoever opens it says so. Neither is what
  // was never a result.
  if (!fs::is_regular_file(result) || access(result.c_str(), R_OK) != 0) return false;
  if (!may_be_torn(result)) return false;
  if (why_unreadable(result).empty()) return false;
  put_in_place_of(result, result + ".unreadable", checkpoint);
  return true;
}

bool roll_back_to_copy(const std::string& result, const ResultReader& checkpoint) {
  if (!checkpoint.has(copy_of_result)) return false;
  put_in_place_of(result, "", checkpoint);
  return true;
}

}  // namespace bathline
