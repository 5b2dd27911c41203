// Lines without end in recipes.
#pragma once

#include <memory>

#include "model/environment_catalogue.hpp"

namespace bathline {

/// Whether the section of a line asks for one. Throws UnreadableValue where that cannot be read.
bool is_endless(const Section& section);

/// The line of such a section, of sites of that mass and springs of that stiffness; what makes no sense for it is added
/// to the mistakes. @note Collective.
std::unique_ptr<Environment> build_infinite_line(const Section& section, double mass, double stiffness,
                                                 const RunTimes& run, Attachment attachment,
                                                 const Communicator& communicator, Mistakes& mistakes);

}  // namespace bathline
