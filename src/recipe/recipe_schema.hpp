// The layout of a recipe: its sections and the keys that do not depend on what is chosen in them.
// The validation, the resolved text and `bathline describe recipe` all read this one description.
#pragma once

#include <string>
#include <vector>

#include "recipe/catalogue_schema.hpp"

namespace bathline {

/// Keys that stand for one another. Exactly one of `keys` must be given where `when` is given, and none where it is
/// not; an empty `when` means always. `--set` of one takes the others out of the recipe.
struct ExclusiveKeys {
  std::string when;
  std::vector<std::string> keys;
};

/// One section of a recipe: `[name]`, or `[[name]]` where it is repeated.
struct SectionSchema {
  std::string name;
  std::string doc;  ///< one sentence
  bool repeated = false;
  bool required = false;     ///< at least one where it is repeated
  std::string chooser = {};  ///< key that names an entry of the vocabulary; empty where there is none
  std::vector<CatalogueEntry> CatalogueSchema::*entries = nullptr;  ///< the entries that `chooser` names
  std::string catalogue_name = {};         ///< argument of `bathline list` that shows these entries
  std::vector<Parameter> parameters = {};  ///< the keys always known, `chooser` among them
  std::vector<ExclusiveKeys> exclusive_keys = {};

  /// "[name]" or "[[name]]".
  std::string header() const { return repeated ? "[[" + name + "]]" : "[" + name + "]"; }
};

/// The keys outside of all sections.
const std::vector<Parameter>& recipe_keys();

/// All sections in the order in which they are written.
const std::vector<SectionSchema>& recipe_sections();

/// The section called `name`; it must exist.
const SectionSchema& recipe_section(const std::string& name);

/// The text of `bathline describe recipe`.
std::string describe_recipe();

}  // namespace bathline
