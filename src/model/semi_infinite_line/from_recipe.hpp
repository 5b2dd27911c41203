// Lines without end in recipes.
#pragma once

#include <memory>

#include "model/environment_catalogue.hpp"
#include "model/site_values.hpp"

namespace bathline {

/// The line of a section that asks for one, of such sites; what makes no sense for it is added to the mistakes. @note
/// Collective.
std::unique_ptr<Environment> build_semi_infinite_line(const Section& section, const SiteValues& values,
                                                      const RunTimes& run, Attachment attachment,
                                                      const Communicator& communicator, Mistakes& mistakes);

}  // namespace bathline
