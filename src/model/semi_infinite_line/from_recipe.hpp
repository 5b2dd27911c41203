// Semi-infinite lines in recipes.
#pragma once

#include <memory>

#include "model/environment_catalogue.hpp"
#include "model/site_values.hpp"

namespace bathline {

/// Builds the line that `section` describes, with sites of `values`; invalid keys are added to `mistakes`.
/// @note Collective.
std::unique_ptr<Environment> build_semi_infinite_line(const Section& section, const SiteValues& values,
                                                      const RunTimes& run, Attachment attachment,
                                                      const Communicator& communicator, Mistakes& mistakes);

}  // namespace bathline
