// Recipes in tests: text that is read with the program's own schema, and its mistakes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "driver/experiment.hpp"
#include "driver/feasibility.hpp"
#include "builtin_catalogues.hpp"
#include "test_world.hpp"

namespace bathline {

/// The program with all its catalogues, on all ranks.
inline const Program& test_program() {
  static const Program program(builtin_catalogues(), test_world());
  return program;
}

struct ReadRecipe {
  std::unique_ptr<Recipe> recipe = std::make_unique<Recipe>();
  Mistakes mistakes;
  std::unique_ptr<Experiment> experiment;    ///< where the text is TOML
  std::unique_ptr<Feasibility> feasibility;  ///< likewise

  std::string report() const { return mistakes.report(); }
};

/// Reads a recipe called "r.toml". @note Collective.
inline ReadRecipe read_recipe(const std::string& text, const std::vector<std::string>& settings = {}) {
  ReadRecipe result;
  *result.recipe = parse_recipe(text, "r.toml", settings, test_program().catalogue_schema(), result.mistakes);
  if (result.recipe->is_toml) {
    result.experiment = std::make_unique<Experiment>(*result.recipe, test_program(), result.mistakes);
    result.feasibility = std::make_unique<Feasibility>(*result.recipe, *result.experiment, result.mistakes);
  }
  return result;
}

}  // namespace bathline
