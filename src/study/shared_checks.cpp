// What studies need of a recipe: checks, and the sentences for users.
// Tested by tests/command_line/formula_test.py.
// Tested by tests/command_line/mistakes_test.py.
#include "study/shared_checks.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bathline {

void check_needs(const StudyNeeds& needs, const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  const std::string study = fmt::format("a study of the kind `{}`", recipe.study.text("kind"));
  const ParticleSystem& system = experiment.system();
  if (needs.no_external_forces && (system.force || system.is_driven() || system.magnetic_field != 0.0)) {
    // A kind may imply a force that no key states.
    Location where = recipe.system.where("kind");
    std::string name = recipe.system.text("kind");
    if (recipe.system.has("controls"))
      where = recipe.system.tables("controls").front().where("name"), name = "controls";
    for (const char* key : {"force", "drive", "drive_file", "magnetic_field"}) {
      if (recipe.system.has(key)) where = recipe.system.where(key), name = key;
    }
    mistakes.add(where,
                 fmt::format("{}: {} supports no external forces, nor internal ones beside the potential and the "
                             "damping matrix",
                             name, study));
  }
  if (needs.linear_system && !system.lagrangian && !system.potential->is_quadratic()) {
    mistakes.add(
        recipe.study.where("kind"),
        study +
            " needs a linear system, but the potential of this one is not quadratic around the origin, V = q^T K q / 2 "
            "without other terms; count positions from the equilibrium if a uniform field shifts it");
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
