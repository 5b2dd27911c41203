// Recipes in tests: text that is read with the program's own schema, and its mistakes.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
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

/// A text with `now` in place of the first `old`, which it must contain; then with further pairs, one after the other.
template <class... More>
std::string with(std::string text, const std::string& old, const std::string& now, const More&... more) {
  const std::size_t position = text.find(old);
  EXPECT_NE(position, std::string::npos) << old;
  if (position != std::string::npos) text.replace(position, old.size(), now);
  if constexpr (sizeof...(more) > 0) return with(std::move(text), more...);
  return text;
}

struct ReadRecipe {
  std::unique_ptr<Recipe> recipe = std::make_unique<Recipe>();
  Mistakes mistakes;
  std::unique_ptr<Experiment> experiment;    ///< where reading found no mistakes
  std::unique_ptr<Feasibility> feasibility;  ///< where the experiment has none

  std::string report() const { return mistakes.report(); }
};

/// Reads a recipe called "r.toml". @note Collective.
inline ReadRecipe read_recipe(const std::string& text, const std::vector<std::string>& settings = {}) {
  ReadRecipe result;
  *result.recipe = parse_recipe(text, "r.toml", settings, test_program().catalogue_schema(), result.mistakes);
  if (!result.mistakes.empty()) return result;
  result.experiment = std::make_unique<Experiment>(*result.recipe, test_program(), result.mistakes);
  if (!result.mistakes.empty()) return result;
  result.feasibility = std::make_unique<Feasibility>(*result.recipe, *result.experiment, result.mistakes);
  return result;
}

/// A recipe without mistakes. @note Collective.
inline ReadRecipe valid_recipe(const std::string& text) {
  ReadRecipe result = read_recipe(text);
  EXPECT_EQ(result.report(), "");
  return result;
}
inline std::string mistakes_in(const std::string& text) { return read_recipe(text).report(); }

}  // namespace bathline
