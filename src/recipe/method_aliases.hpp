// Aliases of methods, such as `leapfrog`, in the tables of [[integrators]].
#pragma once

#include <string>

#include <toml++/toml.h>

#include "recipe/catalogue_schema.hpp"
#include "recipe/mistakes.hpp"

namespace bathline {

/// Replaces every alias by its method and the keys that it sets, and makes the alias the name of the results if the
/// recipe gives none. A key that contradicts the alias is a mistake.
void resolve_aliases(toml::table& recipe, const std::string& file, const CatalogueSchema& catalogue_schema,
                     Mistakes& mistakes);

}  // namespace bathline
