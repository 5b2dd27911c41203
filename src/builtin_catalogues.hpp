// The built-in catalogues.
#pragma once  // Public: programs of others may include this header.

#include "driver/program.hpp"

namespace bathline {

/// All built-in systems, potentials, environments, integrators and studies.
Catalogues builtin_catalogues();

}  // namespace bathline
