// The recipes that come with the program.
#include "driver/recipe_library.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include "driver/data_folder.hpp"
#include "driver/prepared_run.hpp"
#include "recipe/describe.hpp"
#include "recipe/spelling.hpp"
#include "recipe/sweep.hpp"

namespace bathline {

namespace {

namespace fs = std::filesystem;

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

std::string last_part(const std::string& name) { return fs::path(name).filename().string(); }

/// Names that are spelt almost like it, or that end with the same word in another paper's folder.
std::string unknown_recipe(const std::string& name, const std::vector<LibraryRecipe>& known) {
  const std::string missing = fmt::format("cannot read the recipe {}: No such file or directory", name);
  std::vector<std::string> names, same_end;
  for (const LibraryRecipe& recipe : known) {
    names.push_back(recipe.name);
    if (last_part(recipe.name) == last_part(name)) same_end.push_back("`" + recipe.name + "`");
  }
  const std::string close = closest_name(name, names);
  if (!close.empty()) return fmt::format("{}; did you mean `{}`?", missing, close);
  if (!same_end.empty()) return fmt::format("{}; did you mean {}?", missing, fmt::join(same_end, " or "));
  return missing + ", and `bathline list recipes` shows no recipe of this name";
}

}  // namespace

std::vector<LibraryRecipe> library_recipes() {
  std::vector<LibraryRecipe> recipes;
  std::error_code error;
  const fs::path folder = find_data_folder("experiments", "BATHLINE_EXPERIMENTS");
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder, error)) {
    if (entry.path().extension() != ".toml") continue;
    recipes.push_back({fs::relative(entry.path(), folder).replace_extension().string(), read_title(entry.path()),
                       entry.path().string()});
  }
  std::sort(recipes.begin(), recipes.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return recipes;
}

std::string find_recipe(const std::string& name, const Communicator& communicator) {
  std::string path;
  check_on_root(communicator, [&] {
    std::error_code ignored;
    if (fs::exists(name, ignored)) {
      path = name;
      return;
    }
    const std::vector<LibraryRecipe> known = library_recipes();
    const auto found = std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.name == name; });
    if (found == known.end()) throw UsageError(unknown_recipe(name, known));
    path = found->path;
  });
  return communicator.broadcast(path);
}

NamedRecipe read_recipe(const std::string& name, const std::vector<std::string>& settings, const Program& program) {
  const std::string path = find_recipe(name, program.communicator());
  const std::string text = read_text(path, program.communicator());
  Mistakes mistakes;
  std::vector<SweepElement> swept = expand_sweep(text, path, settings, mistakes);
  NamedRecipe found{.elements = {}, .is_sweep = !swept.empty()};
  if (!found.is_sweep) swept.emplace_back();
  for (const SweepElement& element : swept) {
    // What a sweep sets need not stand in the recipe besides.
    std::vector<std::string> all = settings;
    all.insert(all.end(), element.begin(), element.end());
    found.elements.push_back(parse_recipe(text, path, all, program.catalogue_schema(), mistakes));
    // The same mistake in every element is reported once.
    if (!mistakes.empty()) refuse(mistakes);
  }
  return found;
}

std::string describe_recipe(const std::string& name, const Program& program) {
  const NamedRecipe found = read_recipe(name, {}, program);
  return describe(found.elements.front(), name, program.catalogue_schema(), found.is_sweep ? found.elements.size() : 0);
}

}  // namespace bathline
