// Checks of several studies: external forces, and names of integrators that clash with others in the results.
// Tested by tests/command_line/formula_test.py.
// Tested by tests/command_line/mistakes_test.py.
#include "study/shared_checks.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bathline {

void refuse_external_forces(const Recipe& recipe, Mistakes& mistakes) {
  for (const char* key : {"force", "drive", "drive_file", "magnetic_field"}) {
    if (!recipe.system.has(key)) continue;
    mistakes.add(recipe.system.where(key), fmt::format("{}: a study of the kind `{}` supports no external forces", key,
                                                       recipe.study.text("kind")));
  }
}

void refuse_nonlinear_couplings(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  for (const Case& this_case : experiment.cases()) {
    if (!this_case.closed && experiment.system().damping) continue;
    const Problem problem = experiment.make_closed_problem(this_case, this_case.step);
    for (const auto& environment : problem.environments()) {
      if (environment->attachment().nonlinear() == nullptr) continue;
      mistakes.add(
          this_case.options.where("name"),
          fmt::format("{}: a study of the kind `{}` is for linear couplings, but the `couple` of `{}` is not linear",
                      this_case.name, recipe.study.text("kind"), environment->name()));
    }
  }
}

void refuse_reserved_names(const Recipe& recipe, const std::vector<std::string>& names, Mistakes& mistakes) {
  for (const Section& integrator : recipe.integrators) {
    const std::string& label = integrator.text("name");
    if (std::find(names.begin(), names.end(), label) == names.end()) continue;
    mistakes.add(
        integrator.where("name"),
        fmt::format(
            "name = \"{}\": the results of a study of the kind `{}` contain another group of this name; choose another "
            "one",
            label, recipe.study.text("kind")));
  }
}

}  // namespace bathline
