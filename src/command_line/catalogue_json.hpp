// The catalogues and the keys of recipes as JSON, of which experiments/reference.py makes the reference.
#pragma once

#include <string>

#include "driver/program.hpp"

namespace bathline {

/// An object with `top` (keys above all sections), `sections`, and by the plural of their category the entries of all
/// catalogues, in the order of `bathline list`.
std::string catalogue_json(const Program& program);

}  // namespace bathline
