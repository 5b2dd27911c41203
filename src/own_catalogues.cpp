// All that this program brings along.
// Tested by tests/command_line/commands_test.py.
#include "own_catalogues.hpp"

#include "study/catalogue.hpp"

namespace bathline {

Catalogues own_catalogues() {
  return {.systems = systems(),
          .potentials = potentials(),
          .environments = environments(),
          .integrators = methods(),
          .studies = studies()};
}

}  // namespace bathline
