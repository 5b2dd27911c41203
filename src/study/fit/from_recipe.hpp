// The keys of a fit, and what they say.
#pragma once

#include <vector>

#include "study/fit/search.hpp"

namespace bathline {

struct FitPlan {
  Recipe recipe;  ///< with the texts of its files
  FitData data;
  std::vector<FitParameter> parameters;
  FitOptions options;
  bool halve_step = true;
  std::int64_t repeats = 0;
};

std::vector<Parameter> fit_parameters();

/// `data_file`, `observe`, `sigma` and `weights`, of which the first two may be required.
std::vector<Parameter> data_parameters(bool is_required);

/// The measured values that these keys of a section describe, with formulas in `variables`. Adds mistakes, and throws
/// InvalidValue after them. @note Collective.
FitData read_fit_data(Section study, const Experiment& experiment, const CostVariables& variables, FitData::Use use,
                      Mistakes& mistakes);

/// Adds a mistake for everything that is wrong; the plan is valid only without any. Reads files, and lets PETSc query
/// the options of the search. @note Collective.
FitPlan read_fit_plan(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes);

}  // namespace bathline
