// Unpacking the input files that a result or a checkpoint contains, so that its recipe can be read again.
// Tested by tests/command_line/commands_test.py.
#include "driver/unpacked_inputs.hpp"

#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <vector>

#include "model/table_file.hpp"
#include "parallel/text_file.hpp"
#include "text/printable_text.hpp"
#include "recipe/recipe.hpp"

namespace bathline {

namespace {

namespace fs = std::filesystem;

constexpr const char* prefix = "input_file:";

/// Whether `path` is a regular file with this content. Other kinds of files are not read: they may be pipes or devices.
bool has_content(const fs::path& path, const std::string& text) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && fs::file_size(path, ignored) == text.size() &&
         read_text_file(path) == text;
}

/// Throws FileError if an input file that the recipe names is not in the file: otherwise a forged result could make the
/// program read another file of this machine.
void require_all_files(const ResultReader& file, const CatalogueSchema& catalogue_schema) {
  Mistakes mistakes;
  const Recipe recipe = parse_recipe(file.attribute("recipe_resolved"), file.path(), {}, catalogue_schema, mistakes);
  for (const std::string& name : files_of(recipe)) {
    if (file.has_attribute(prefix + name)) continue;
    throw FileError("the recipe of {} names the input file {}, which it does not contain", file.path(),
                    printable(name));
  }
}

}  // namespace

UnpackedInputs::UnpackedInputs(const ResultReader* file, const Program& program) {
  const Communicator& communicator = program.communicator();
  std::string reason;
  if (communicator.is_root()) {
    try {
      unpack(*file, program.catalogue_schema());
    } catch (const std::exception& error) {
      reason = error.what();
    }
  }
  reason = communicator.broadcast(reason);
  recipe_ = communicator.broadcast(recipe_.string());
  if (reason.empty()) return;
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
  throw UsageError(reason);
}

UnpackedInputs::~UnpackedInputs() {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

void UnpackedInputs::unpack(const ResultReader& file, const CatalogueSchema& catalogue_schema) {
  require_all_files(file, catalogue_schema);
  std::string pattern = (fs::temp_directory_path() / "bathline-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    throw FileError("cannot create {}: {}", pattern, std::generic_category().message(errno));
  }
  folder_ = pattern;
  std::vector<std::string> names;
  std::ptrdiff_t upwards = 0;
  for (const std::string& attribute : file.attribute_names()) {
    if (!attribute.starts_with(prefix)) continue;
    names.push_back(attribute.substr(std::string(prefix).size()));
    const fs::path path(names.back());
    upwards = std::max(upwards, static_cast<std::ptrdiff_t>(std::count(path.begin(), path.end(), "..")));
  }
  // The recipe is nested as deeply as the paths of the files go upwards, so that none leaves the folder.
  fs::path recipe_folder = folder_;
  for (std::ptrdiff_t i = 0; i < upwards; ++i) recipe_folder /= "recipe";
  fs::create_directories(recipe_folder);
  recipe_ = recipe_folder / "recipe.toml";
  for (const std::string& name : names) {
    const std::string text = file.attribute(prefix + name);
    const fs::path path = recipe_folder / name;  // an absolute path stays as it is
    if (fs::path(name).is_absolute()) {
      if (has_content(path, text)) continue;
      throw FileError("the recipe names {}, which has changed or is missing since {} was computed", printable(name),
                      file.path());
    }
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    if (!has_content(path, text)) throw FileError("cannot write {}", path.string());
  }
}

}  // namespace bathline
