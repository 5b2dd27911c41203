// For studies whose theory knows nothing that acts from outside.
// Tested by tests/command_line/formula_test.py.
#include "study/outside.hpp"

#include <fmt/format.h>

namespace bathline {

void refuse_outside(const Recipe& recipe, Mistakes& mistakes) {
  for (const char* key : {"force", "drive", "magnetic_field"}) {
    if (!recipe.system.has(key)) continue;
    mistakes.add(recipe.system.where(key),
                 fmt::format("{}: a study of the kind `{}` is about systems that nothing acts on from outside", key,
                             recipe.study.text("kind")));
  }
}

}  // namespace bathline
