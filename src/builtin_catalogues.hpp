// All that this program brings along.
#pragma once  // Public: programs of others may include this header.

#include "driver/program.hpp"

namespace bathline {

/// Its systems, potentials, environments, integrators and studies.
Catalogues builtin_catalogues();

}  // namespace bathline
