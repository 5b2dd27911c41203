// TOML table + its description -> validated Section.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <toml++/toml.h>

#include "recipe/mistakes.hpp"
#include "recipe/section.hpp"
#include "recipe/value_reader.hpp"
#include "recipe/catalogue_schema.hpp"

namespace bathline {

/// Reads tables of one recipe. Every mistake is added with its location and reading continues, so that one pass finds
/// all of them; a key with a mistake is absent from the Section.
class TomlReader {
 public:
  TomlReader(std::string file, Mistakes& mistakes, Constants constants = {})
      : file_(std::move(file)), mistakes_(mistakes), values_(mistakes, std::move(constants)) {}

  /// The values that `parameters` describe, defaults filled in. `header` ("[time]") names the table in messages. Keys
  /// among `misspelt` are not reported as missing and get no default.
  Section read(const toml::table& table, std::span<const Parameter> parameters, const std::string& header,
               std::span<const std::string> misspelt = {});

  /// Reports every key of `table` that is not among `known`. Returns the known keys that they probably mean.
  std::vector<std::string> reject_unknown_keys(const toml::table& table, std::span<const std::string> known,
                                               const std::string& header);

  /// The entry that the text at `key` names, or `default_value` (TOML) if the key is absent. Mistakes are reported and
  /// give nullptr; so is an unknown key that probably means the absent one, in a table that may have the keys `common`
  /// besides those of the entries. `catalogue_name` is the name of the entries in `bathline list`.
  const CatalogueEntry* chosen_entry(const toml::table& table, const std::string& key, const std::string& default_value,
                                     std::span<const CatalogueEntry> entries, std::span<const Parameter> common,
                                     const std::string& catalogue_name, const std::string& header);

 private:
  using Value = Section::Value;

  std::optional<Value> read_value(const toml::node& node, const Parameter& parameter, const Location& where,
                                  const std::string& header);
  std::optional<Value> read_default(const Parameter& parameter, const Location& where, const std::string& header);
  std::optional<Value> read_tables(const toml::node& node, const Parameter& parameter, const Location& where,
                                   const std::string& header);
  std::optional<Section::Rows> read_rows(const toml::node& node, const Parameter& parameter, const Location& where);

  // Locations of the lines of a text, or of every text of a list, in the recipe; empty if unknown.
  std::vector<std::vector<Location>> lines_of_texts(const toml::node& node) const;
  std::vector<Location> lines_of_text(const toml::node& node) const;

  // Location of a table or value: `where` if it has none of its own, as in the cases of `for_each`.
  Location location(const toml::node& node, const Location& where) const;
  // The type, of those that `parameter` allows, by which `node` is read.
  ValueType type_of(const toml::node& node, const Parameter& parameter) const;

  // Calls `read(element, name, location)` for every element, also after a mistake in one of them.
  template <class T, class Read>
  std::optional<std::vector<T>> read_list(const toml::node& node, const std::string& name, const std::string& kind,
                                          const Location& where, Read read);

  std::string file_;
  Mistakes& mistakes_;
  ValueReader values_;
  // While a default is read: the location of its table, because the default is not in the recipe.
  std::optional<Location> default_location_;
};

}  // namespace bathline
