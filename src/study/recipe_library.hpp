// The recipes that come with the program.
#pragma once

#include <string>
#include <vector>

namespace bathline {

struct LibraryRecipe {
  std::string name;  ///< "limebeer2020/fig04"
  std::string title;
  std::string path;
};

/// The recipes below `experiments/`, sorted by name. That folder is found beside the folder of the program, or where
/// the environment variable BATHLINE_EXPERIMENTS says.
std::vector<LibraryRecipe> library_recipes();

}  // namespace bathline
