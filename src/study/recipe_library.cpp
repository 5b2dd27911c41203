// The recipes that come with the program.
#include "study/recipe_library.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace bathline {

namespace {

namespace fs = std::filesystem;

fs::path experiments_folder() {
  if (const char* folder = std::getenv("BATHLINE_EXPERIMENTS")) return folder;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path("experiments") : program.parent_path().parent_path() / "experiments";
}

/// The text of the recipe's `title`, which stands on a line of its own near the top.
std::string read_title(const fs::path& path) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("title", 0) != 0) continue;
    const std::size_t open = line.find('"');
    const std::size_t close = line.rfind('"');
    if (open != std::string::npos && close > open) return line.substr(open + 1, close - open - 1);
  }
  return "";
}

}  // namespace

std::vector<LibraryRecipe> library_recipes() {
  std::vector<LibraryRecipe> recipes;
  std::error_code error;
  const fs::path folder = experiments_folder();
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder, error)) {
    if (entry.path().extension() != ".toml") continue;
    recipes.push_back({fs::relative(entry.path(), folder).replace_extension().string(), read_title(entry.path()),
                       entry.path().string()});
  }
  std::sort(recipes.begin(), recipes.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return recipes;
}

}  // namespace bathline
