// The recipes that are installed with the program.
#pragma once

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

/// The recipes below `experiments/`, or below BATHLINE_EXPERIMENTS if that is set, sorted by name.
std::vector<LibraryRecipe> library_recipes();

/// The path of the recipe `name`: the file of that path if it exists, else the installed recipe of that name. If there
/// is neither, UsageError with the nearest names.
/// @note Collective.
std::string find_recipe(const std::string& name, const Communicator& communicator);

/// A valid recipe, or all elements of its sweep.
struct NamedRecipe {
  std::vector<Recipe> elements;
  bool is_sweep = false;
};

/// Reads the recipe of that path or name with these settings. Throws UsageError with its mistakes. @note Collective.
NamedRecipe read_recipe(const std::string& name, const std::vector<std::string>& settings, const Program& program);

/// The text of `bathline describe NAME` for such a recipe. Throws UsageError with its mistakes. @note Collective.
std::string describe_recipe(const std::string& name, const Program& program);

}  // namespace bathline
