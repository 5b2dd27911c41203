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

/// Reads tables of one recipe. Every mistake is added with its place and reading goes on, so that one pass finds all
/// of them; a key with a mistake is marked in the Section as unreadable.
class TomlReader {
 public:
  TomlReader(std::string file, Mistakes& mistakes) : file_(std::move(file)), mistakes_(mistakes), values_(mistakes) {}

  /// The values that `parameters` describe, defaults filled in. `header` ("[time]") names the table in messages. A key
  /// among `misspelt` is not called missing, and has no default.
  Section read(const toml::table& table, std::span<const Parameter> parameters, const std::string& header,
               std::span<const std::string> misspelt = {});

  /// Reports every key of `table` that is not among `known`. Returns the known ones that they seem to stand for.
  std::vector<std::string> reject_unknown_keys(const toml::table& table, std::span<const std::string> known,
                                               const std::string& header);

  /// The entry that the text at `key` names, or that `default_value` (TOML) names where the key is absent. A mistake
  /// there is reported and gives nullptr; so is an unknown key that seems to stand for the absent one, where the table
  /// may have the keys `common` besides those of the entries. `catalogue_name` is what `bathline list` calls the
  /// entries.
  const CatalogueEntry* chosen_entry(const toml::table& table, const std::string& key, const std::string& default_value,
                                     std::span<const CatalogueEntry> entries, std::span<const Parameter> common,
                                     const std::string& catalogue_name, const std::string& header);

  /// Where a table or value stands.
  Location place(const toml::node& node) const;

 private:
  using Value = Section::Value;

  std::optional<Value> read_value(const toml::node& node, const Parameter& parameter, const Location& where,
                                  const std::string& header);
  std::optional<Value> read_default(const Parameter& parameter, const Location& where, const std::string& header);
  std::optional<Value> read_tables(const toml::node& node, const Parameter& parameter, const Location& where,
                                   const std::string& header);
  std::optional<Section::Rows> read_rows(const toml::node& node, const Parameter& parameter, const Location& where);

  // Where the lines of a text, or of every text of a list, begin in the recipe; nothing where that is not known.
  std::vector<std::vector<Location>> lines_of_texts(const toml::node& node) const;
  std::vector<Location> lines_of_text(const toml::node& node) const;

  // Calls `read(element, name, place)` for every element, also after a mistake in one of them.
  template <class T, class Read>
  std::optional<std::vector<T>> read_list(const toml::node& node, const std::string& name, const std::string& kind,
                                          const Location& where, Read read);

  std::string file_;
  Mistakes& mistakes_;
  ValueReader values_;
  // While a default is read: the table it is filled into, because the default stands nowhere in the recipe.
  std::optional<Location> place_of_default_;
};

}  // namespace bathline
