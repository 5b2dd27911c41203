// The keys of the study `transport`, and the checks of what they ask for.
#pragma once

#include <vector>

#include "driver/experiment.hpp"
#include "recipe/catalogue.hpp"
#include "recipe/mistakes.hpp"
#include "recipe/recipe.hpp"
#include "study/transport/chains.hpp"

namespace bathline {

std::vector<Parameter> transport_parameters();

/// The options of a recipe; what cannot be observed becomes a mistake. @note Collective.
TransportOptions read_transport_options(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes);

}  // namespace bathline
