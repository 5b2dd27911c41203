// The vocabulary of recipes, put together from the catalogues.
#pragma once

#include "recipe/vocabulary.hpp"

namespace bathline {

/// Every system, potential, environment, integrator and study that the program knows.
const Vocabulary& vocabulary();

}  // namespace bathline
