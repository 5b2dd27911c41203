// Recipes with one of their environments in another form.
#pragma once

#include <string>
#include <vector>

#include "driver/program.hpp"

namespace bathline {

struct ConvertRequest {
  std::string recipe;                 ///< path
  std::vector<std::string> settings;  ///< of it
  std::string environment;            ///< its name
  std::string to;                     ///< "star", "chain" or "exponentials"
  std::string output;                 ///< path of the recipe to write; "": beside the recipe, <recipe>-<name>-<to>.toml
  bool overwrite = false;
};

/// Writes the recipe with all its values resolved and the environment as a star, a chain or modes, and beside it
/// the table that this is read from. Throws UsageError where that cannot be. @note Collective.
void convert_recipe(const ConvertRequest& request, const Program& program);

}  // namespace bathline
