// Methods that a message about an unsupported one names.
#pragma once

#include <string>

#include "driver/experiment.hpp"

namespace bathline {

/// The end of a message: the methods, up to three, that support what the method of a case does not, and whether it runs
/// without noise; "" if there are none. Each is tried. @note Collective.
std::string replacement_methods(const Recipe& recipe, const Experiment& experiment, const Case& this_case);

}  // namespace bathline
