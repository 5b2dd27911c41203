// The key `attach` of environments, a number or a list.
#pragma once

#include <string>
#include <vector>

#include "recipe/catalogue_schema.hpp"
#include "recipe/section.hpp"

namespace bathline {

/// The particles that the key `attach` names.
std::vector<long> attached_particles(const Section& section);
/// Its description, without a default.
Parameter attach_key(std::string doc);

}  // namespace bathline
