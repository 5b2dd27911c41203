// What `bathline list` and `bathline describe` print.
#pragma once

#include <string>
#include <vector>

#include "driver/program.hpp"

namespace bathline {

/// Everything that recipes can name, or that of one kind: "systems", ..., "recipes".
std::string list_names(const std::string& what, const CatalogueSchema& catalogue_schema);

/// All names that `describe` knows but those of recipes.
std::vector<std::string> names_to_describe(const CatalogueSchema& catalogue_schema);

/// The description of a name. Throws UsageError where nothing is called that. @note Collective.
std::string describe_name(const std::string& name, const Program& program);

}  // namespace bathline
