// The built-in catalogues.
// Tested by tests/command_line/commands_test.py.
#include "builtin_catalogues.hpp"

#include "study/catalogue.hpp"
#include "study/with_costates/kinds.hpp"

namespace bathline {

namespace {

Catalogue<StudyKind> all_studies() {
  Catalogue<StudyKind> all = studies();
  all.add(gradient_kind());
  all.add(optimal_control_kind());
  return all;
}

}  // namespace

Catalogues builtin_catalogues() {
  return {.systems = systems(),
          .potentials = potentials(),
          .environments = environments(),
          .integrators = methods(),
          .studies = all_studies()};
}

}  // namespace bathline
