// The recipes that are installed with the program.
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
#include "text/spelling.hpp"
#include "recipe/sweep.hpp"

namespace bathline {

namespace {

namespace fs = std::filesystem;

/// The recipe's `title`, which is on one line near the top.
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

/// The message for an unknown name; suggests names with similar spelling or with the same last part.
std::string unknown_recipe(const std::string& name, const std::vector<LibraryRecipe>& recipes) {
  const std::string missing = fmt::format("cannot read the recipe {}: No such file or directory", name);
  std::vector<std::string> names, same_end;
  for (const LibraryRecipe& recipe : recipes) {
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
    const std::vector<LibraryRecipe> recipes = library_recipes();
    const auto match =
        std::find_if(recipes.begin(), recipes.end(), [&](const auto& recipe) { return recipe.name == name; });
    if (match == recipes.end()) throw UsageError(unknown_recipe(name, recipes));
    path = match->path;
  });
  return communicator.broadcast(path);
}

NamedRecipe read_recipe(const std::string& name, const std::vector<std::string>& settings, const Program& program) {
  const std::string path = find_recipe(name, program.communicator());
  const std::string text = read_recipe_text(path, program.communicator());
  Mistakes mistakes;
  const Sweep sweep = read_sweep(text, path, settings, mistakes);
  NamedRecipe recipe{.elements = {}, .is_sweep = sweep.count > 0};
  for (std::size_t i = 0; i < std::max<std::size_t>(1, sweep.count); ++i) {
    // Keys that the sweep sets may be missing in the recipe itself.
    std::vector<std::string> all_settings = settings;
    for (std::string& setting : sweep.element(i)) all_settings.push_back(std::move(setting));
    recipe.elements.push_back(parse_recipe(text, path, all_settings, program.catalogue_schema(), mistakes));
    // The same mistake in every element is reported once.
    mistakes.throw_if_any();
  }
  return recipe;
}

std::string describe_recipe(const std::string& name, const Program& program) {
  const NamedRecipe recipe = read_recipe(name, {}, program);
  return describe(recipe.elements.front(), name, program.catalogue_schema(),
                  recipe.is_sweep ? recipe.elements.size() : 0);
}

}  // namespace bathline
