// All steps from the text of a recipe to an experiment, without the run.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "driver/experiment.hpp"
#include "fuzz_world.hpp"
#include "recipe/recipe.hpp"
#include "recipe/sweep.hpp"
#include "record/quantity.hpp"

namespace bathline {

/// Whether its experiment is built in milliseconds: the stability analysis of large systems, of many methods and of any
/// Lobatto method takes seconds under the sanitizers.
inline bool is_small(const Recipe& recipe) {
  std::int64_t sites = 0;
  for (const Section& environment : recipe.environments) {
    for (const char* key : {"sites", "oscillators"}) {
      if (environment.holds<long>(key)) sites += std::min<std::int64_t>(1000, environment.integer(key));
    }
  }
  for (const Section& integrator : recipe.integrators) {
    if (integrator.text("name") == "lobatto") return false;
  }
  return sites <= 100 && recipe.integrators.size() <= 3;
}

inline void read_and_validate(const std::string& text, const std::vector<std::string>& settings) {
  Mistakes mistakes, sweep_mistakes;
  const Recipe recipe = parse_recipe(text, "fuzz.toml", settings, FuzzWorld::program().catalogue_schema(), mistakes);
  const Sweep sweep = read_sweep(text, "fuzz.toml", settings, sweep_mistakes);
  if (sweep.count > 0) require(!sweep.element(sweep.count - 1).empty());
  if (mistakes.empty()) {
    // The resolved recipe in the result file must lead to the same run.
    Mistakes again;
    require(
        parse_recipe(recipe.resolved, "resolved.toml", {}, FuzzWorld::program().catalogue_schema(), again).resolved ==
        recipe.resolved);
    require(again.empty());
    for (const Section& claim : recipe.claims) {
      ParsedQuantity quantity;
      std::string reason;
      require(parse_quantity(claim.text("quantity"), quantity, reason) || !reason.empty());
    }
  }
  if (mistakes.empty() && is_small(recipe)) {
    const Experiment experiment(recipe, FuzzWorld::program(), mistakes);
    const auto make_study = [&] {
      FuzzWorld::program().catalogues().studies.find(recipe.study.text("kind"))->make(recipe, experiment, mistakes);
    };
    if (mistakes.empty()) require(completes(make_study) || !mistakes.empty());
  }
  require(mistakes.empty() == mistakes.report().empty());
}

}  // namespace bathline
