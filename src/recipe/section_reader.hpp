// One section of a recipe -> validated Sections.
#pragma once

#include <string>
#include <vector>

#include <toml++/toml.h>

#include "recipe/mistakes.hpp"
#include "recipe/recipe_schema.hpp"
#include "recipe/section.hpp"
#include "recipe/toml_reader.hpp"
#include "recipe/catalogue_schema.hpp"

namespace bathline {

/// Reads the sections of a parsed recipe and collects mistakes.
class SectionReader {
 public:
  SectionReader(const toml::table& recipe, const std::string& file, const CatalogueSchema& catalogue_schema,
                const Constants& constants, Mistakes& mistakes)
      : recipe_(recipe),
        file_(file),
        catalogue_schema_(catalogue_schema),
        mistakes_(mistakes),
        reader_(file, mistakes, constants) {}

  /// The keys outside of all sections; reports unknown sections.
  Section read_top();

  /// From here on the sections of the motion are left out, because the study has this key; none if it is empty.
  void leave_out_motion(const std::string& key) { standalone_key_ = key; }

  /// The tables of a section: exactly one if it is not repeated, with its defaults if it is absent, without keys if it
  /// is left out.
  std::vector<Section> read(const SectionSchema& schema);

 private:
  std::vector<Section> read_absent(const SectionSchema& schema);
  Section read_table(const toml::table& table, const SectionSchema& schema);
  // `misspelt` receives the keys that unknown keys probably mean.
  Section read_keys(const toml::table& table, const SectionSchema& schema, std::vector<std::string>& misspelt);
  void add_missing(const SectionSchema& schema, Location where);

  const toml::table& recipe_;
  const std::string& file_;
  const CatalogueSchema& catalogue_schema_;
  Mistakes& mistakes_;
  TomlReader reader_;
  std::string standalone_key_;
  std::vector<std::string> misspelt_;  // sections that unknown keys of the recipe probably mean
};

}  // namespace bathline
