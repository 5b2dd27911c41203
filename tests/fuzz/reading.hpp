// All that a program does to a recipe before it computes anything.
#pragma once

#include <string>
#include <vector>

#include "fuzz_world.hpp"
#include "recipe/recipe.hpp"
#include "recipe/sweep.hpp"
#include "record/quantity.hpp"
#include "study/experiment.hpp"
#include "study/study.hpp"
#include "study/vocabulary.hpp"

namespace bathline {

inline void read_and_validate(const std::string& text, const std::vector<std::string>& settings) {
  Mistakes mistakes, of_sweep;
  const Recipe recipe = parse_recipe(text, "fuzz.toml", settings, vocabulary(), mistakes);
  for (const SweepElement& element : expand_sweep(text, "fuzz.toml", settings, of_sweep)) {
    require(!element.empty());
  }
  if (recipe.is_toml && mistakes.empty()) {
    // What a result file keeps of it must lead to the same run.
    Mistakes again;
    require(parse_recipe(recipe.resolved, "resolved.toml", {}, vocabulary(), again).resolved == recipe.resolved);
    require(again.empty());
    for (const Section& claim : recipe.claims) {
      ParsedQuantity quantity;
      std::string why;
      require(parse_quantity(claim.text("quantity"), quantity, why) || !why.empty());
    }
  }
  if (recipe.is_toml) {
    const Experiment experiment(recipe, FuzzWorld::communicator(), mistakes);
    try {
      find_study(recipe.study.text("kind"))->check(experiment, mistakes);
    } catch (const UnreadableValue&) {
      require(!mistakes.empty());
    }
  }
  require(mistakes.empty() == mistakes.report().empty());
}

}  // namespace bathline
