// What studies need of a recipe: checks, and the sentences for users.
// Tested by tests/command_line/formula_test.py.
// Tested by tests/command_line/mistakes_test.py.
#include "study/shared_checks.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bathline {

void check_needs(const StudyNeeds& needs, const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  const std::string study = fmt::format("a study of the kind `{}`", recipe.study.text("kind"));
  for (const char* key : {"force", "drive", "drive_file", "magnetic_field"}) {
    if (!needs.no_external_forces || !recipe.system.has(key)) continue;
    mistakes.add(recipe.system.where(key), fmt::format("{}: {} supports no external forces", key, study));
  }
  if (needs.linear_system && !experiment.system().is_linear()) {
    mistakes.add(recipe.study.where("kind"),
                 study + " needs a linear system, but the potential of this one is not quadratic");
  }
  for (const Case& this_case : experiment.cases()) {
    if (!needs.linear_couplings || (!this_case.closed && experiment.system().damping)) continue;
    const Problem problem = experiment.make_closed_problem(this_case, this_case.step);
    for (const auto& environment : problem.environments()) {
      if (environment->attachment().nonlinear() == nullptr) continue;
      mistakes.add(this_case.options.where("name"),
                   fmt::format("{}: {} is for linear couplings, but the `couple` of `{}` is not linear", this_case.name,
                               study, environment->name()));
    }
  }
  if (!needs.has_examined) {
    mistakes.add(recipe.study.where("kind"),
                 fmt::format("{} examines {}, but this recipe has none", study, needs.examined));
  }
  for (const Section& integrator : recipe.integrators) {
    const std::string& name = integrator.text("name");
    if (std::ranges::find(needs.reserved_names, name) == needs.reserved_names.end()) continue;
    mistakes.add(integrator.where("name"),
                 fmt::format("name = \"{}\": the results of {} contain another group of this name; choose another one",
                             name, study));
  }
}

}  // namespace bathline
