// What several studies refuse: what acts from outside, and labels that are names of their own.
// Tested by tests/command_line/formula_test.py.
// Tested by tests/command_line/mistakes_test.py.
#include "study/shared_checks.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bathline {

void refuse_external_forces(const Recipe& recipe, Mistakes& mistakes) {
  for (const char* key : {"force", "drive", "magnetic_field"}) {
    if (!recipe.system.has(key)) continue;
    mistakes.add(recipe.system.where(key),
                 fmt::format("{}: a study of the kind `{}` is about systems that nothing acts on from outside", key,
                             recipe.study.text("kind")));
  }
}

void refuse_labels(const Recipe& recipe, const std::vector<std::string>& names, Mistakes& mistakes) {
  for (const Section& integrator : recipe.integrators) {
    const std::string& label = integrator.text("name");
    if (std::find(names.begin(), names.end(), label) == names.end()) continue;
    mistakes.add(integrator.where("name"),
                 fmt::format("label = \"{}\": something else is called so in the results of a study of the kind `{}`",
                             label, recipe.study.text("kind")));
  }
}

}  // namespace bathline
