// The output of `bathline list` and `bathline describe`.
#pragma once

#include <string>
#include <vector>

#include "driver/program.hpp"

namespace bathline {

/// Names and summaries of everything that recipes can name, or of one kind: "systems", ..., "recipes".
std::string list_names(const std::string& what, const CatalogueSchema& catalogue_schema);

/// All names that `describe` accepts, except those of recipes.
std::vector<std::string> names_to_describe(const CatalogueSchema& catalogue_schema);

/// The description of a name. Throws UsageError for an unknown name. @note Collective.
std::string describe_name(const std::string& name, const Program& program);

}  // namespace bathline
