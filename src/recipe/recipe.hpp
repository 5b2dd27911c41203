// Text -> immutable, validated recipe.
#pragma once

#include <string>
#include <vector>

#include "recipe/mistakes.hpp"
#include "recipe/section.hpp"
#include "recipe/catalogue_schema.hpp"

namespace bathline {

/// One experiment, with valid keys and values of the right types. Whether the values fit together is checked when the
/// experiment is built from them.
struct Recipe {
  std::string file;      ///< path as given
  std::string text;      ///< as given, for the result file
  std::string resolved;  ///< TOML with `--set` applied and all defaults written out; parses to the same recipe
  std::string title;
  bool has_motion = true;  ///< false for studies of data alone, with empty sections of the motion
  Section top;             ///< title, seed
  Section paper;           ///< key, figure, note
  Section system;          ///< "kind" and the parameters of that kind
  std::vector<Section> environments;
  Section time;  ///< step and one of end, steps
  std::vector<Section> integrators;
  Section study;
  Section output;
  std::vector<Section> claims;
  Section figure;
};

/// Parses and validates a text from `with_extended_recipes`. `settings` are the arguments of `--set`,
/// "dotted.key=value", applied in order before validation; a value that is not TOML is taken as text. Every mistake is
/// added to `mistakes` with its location; after one nothing can be made of the returned recipe.
Recipe parse_recipe(const std::string& text, const std::string& file, const std::vector<std::string>& settings,
                    const CatalogueSchema& catalogue_schema, Mistakes& mistakes);

}  // namespace bathline
