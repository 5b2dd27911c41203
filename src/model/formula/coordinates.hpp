// Coordinates of the user's own.
#pragma once

#include "model/formula/scope.hpp"

namespace bathline {

/// The parameter `coordinates`: their names.
Parameter coordinates_parameter();

/// A scope with the coordinates of a section, then their velocities `x_dot`, then the time `t`, as variables, and the
/// numbers of its `parameters`.
FormulaScope read_coordinates(const Section& section, Mistakes& mistakes);

}  // namespace bathline
