// The built-in catalogues.
// Tested by tests/command_line/commands_test.py.
#include "builtin_catalogues.hpp"

#include "study/catalogue.hpp"

namespace bathline {

Catalogues builtin_catalogues() {
  return {.systems = systems(),
          .potentials = potentials(),
          .environments = environments(),
          .integrators = methods(),
          .studies = studies()};
}

}  // namespace bathline
