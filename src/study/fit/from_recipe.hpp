// The keys of a fit, and what they say.
#pragma once

#include <vector>

#include "study/fit/search.hpp"

namespace bathline {

struct FitPlan {
  Recipe recipe;  ///< with the texts of its files
  MeasuredValues data;
  std::vector<FitParameter> parameters;
  FitOptions options;
  int starts = 1;       ///< searches
  double spread = 0.5;  ///< of their starts, over the scales of parameters
  bool halve_step = true;
  std::int64_t repeats = 0;
};

std::vector<Parameter> fit_parameters();

/// Adds a mistake for everything that is wrong; the plan is valid only without any. Reads files, and lets PETSc query
/// the options of the search. @note Collective.
FitPlan read_fit_plan(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes);

}  // namespace bathline
