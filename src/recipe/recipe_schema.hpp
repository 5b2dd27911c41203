// The schema of a recipe: its sections, and the keys that do not depend on the chosen entries. The validation, the
// resolved text and `bathline describe recipe` all read this description.
#pragma once

#include <string>
#include <vector>

#include "recipe/catalogue_schema.hpp"

namespace bathline {

/// Mutually exclusive keys. Exactly one of `keys` must be given if `when` is given, and none otherwise; an empty `when`
/// means always. `--set` of one removes the others from the recipe.
struct ExclusiveKeys {
  std::string when;
  std::vector<std::string> keys;
};

/// One section of a recipe: `[name]`, or `[[name]]` if it is repeated.
struct SectionSchema {
  std::string name;
  std::string doc;  ///< one sentence
  bool repeated = false;
  bool required = false;                                            ///< at least one if it is repeated
  bool is_of_motion = false;                                        ///< absent where the study computes no motion
  std::string chooser = {};                                         ///< key that names a catalogue entry; may be empty
  std::vector<CatalogueEntry> CatalogueSchema::*entries = nullptr;  ///< the entries that `chooser` names
  std::string catalogue_name = {};         ///< argument of `bathline list` that shows these entries
  std::vector<Parameter> parameters = {};  ///< the common keys, `chooser` among them
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

/// The text of `bathline describe NAME` for a section.
std::string describe(const SectionSchema& section);

/// The text of `bathline describe recipe`.
std::string describe_recipe();

}  // namespace bathline
