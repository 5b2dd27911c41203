// The recipes that come with the program.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "driver/program.hpp"
#include "recipe/recipe.hpp"

namespace bathline {

struct LibraryRecipe {
  std::string name;  ///< "limebeer2020/fig04"
  std::string title;
  std::string path;
};

/// The recipes below `experiments/`, sorted by name; BATHLINE_EXPERIMENTS names another folder.
std::vector<LibraryRecipe> library_recipes();

/// The path of the recipe that a user calls `name`: the file of that path where there is one, else the recipe of that
/// name among those that come with the program. Where there is neither, UsageError with the nearest names.
/// @note Collective.
std::string find_recipe(const std::string& name, const Communicator& communicator);

/// Recipes without mistakes: one, or all elements of a sweep.
struct NamedRecipe {
  std::vector<Recipe> elements;
  bool is_sweep = false;
};

/// The recipe of that path or name with these settings. Throws UsageError with its mistakes. @note Collective.
NamedRecipe read_recipe(const std::string& name, const std::vector<std::string>& settings, const Program& program);

/// The text of `bathline describe NAME` for such a recipe. Throws UsageError with its mistakes. @note Collective.
std::string describe_recipe(const std::string& name, const Program& program);

}  // namespace bathline
