// All that this program brings along.
#pragma once

#include "driver/program.hpp"

namespace bathline {

/// Its systems, potentials, environments, integrators and studies.
Catalogues own_catalogues();

}  // namespace bathline
