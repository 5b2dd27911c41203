// Reads the keys that a section may have, given the chosen entry.
#include "recipe/section_reader.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "recipe/exclusive_keys.hpp"
#include "recipe/toml_document.hpp"
#include "recipe/value_reader.hpp"

namespace bathline {

namespace {

std::vector<std::string> names_of(const std::vector<Parameter>& parameters) {
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters) names.push_back(parameter.name);
  return names;
}

}  // namespace

Section SectionReader::read_top() {
  std::vector<std::string> known = names_of(recipe_keys());
  for (const SectionSchema& schema : recipe_sections()) known.push_back(schema.name);
  known.push_back("sweep");      // already removed from the recipe
  known.push_back("constants");  // likewise
  misspelt_ = reader_.reject_unknown_keys(recipe_, known, "the recipe");
  return reader_.read(recipe_, recipe_keys(), "the recipe", misspelt_);
}

std::vector<Section> SectionReader::read(const SectionSchema& schema) {
  const auto entry = recipe_.find(schema.name);
  if (schema.is_of_motion && !standalone_key_.empty()) {
    const Location where = entry == recipe_.end() ? Location{file_, 0, 0} : location_of(entry->first.source(), file_);
    if (entry != recipe_.end()) {
      mistakes_.add(
          where,
          fmt::format("{} has no meaning beside `{}` of [study], which computes no motion; leave one of them out",
                      schema.header(), standalone_key_));
    }
    if (schema.repeated) return {};
    return {Section(where)};
  }
  if (entry == recipe_.end()) return read_absent(schema);
  const toml::node& node = entry->second;
  const auto* list = node.as_array();
  const bool is_list_of_tables = list != nullptr && (list->empty() || node.is_array_of_tables());
  if (schema.repeated ? !is_list_of_tables : !node.is_table()) {
    const Location where = location_of(entry->first.source(), file_);
    mistakes_.add(where,
                  fmt::format("{} must be {}, not {}: write {}", schema.name,
                              schema.repeated ? "a list of tables" : "a table", type_found(node), schema.header()));
    return {Section(where)};
  }
  if (!schema.repeated) return {read_table(*node.as_table(), schema)};
  if (schema.required && list->empty()) add_missing(schema, location_of(entry->first.source(), file_));
  std::vector<Section> sections;
  for (const toml::node& table : *list) sections.push_back(read_table(*table.as_table(), schema));
  return sections;
}

std::vector<Section> SectionReader::read_absent(const SectionSchema& schema) {
  const Location nowhere{file_, 0, 0};
  const bool is_misspelt = std::find(misspelt_.begin(), misspelt_.end(), schema.name) != misspelt_.end();
  if (schema.required && !is_misspelt) add_missing(schema, nowhere);
  if (schema.required || is_misspelt) return {Section(nowhere)};
  if (schema.repeated) return {};
  return {read_table(toml::table(), schema)};
}

void SectionReader::add_missing(const SectionSchema& schema, Location where) {
  const char* expected = schema.repeated ? "at least one table" : "the table";
  mistakes_.add(std::move(where), fmt::format("the recipe needs {} {}: {}", expected, schema.header(), schema.doc));
}

Section SectionReader::read_table(const toml::table& table, const SectionSchema& schema) {
  std::vector<std::string> misspelt;
  Section section = read_keys(table, schema, misspelt);
  check_exclusive_keys(table, schema, misspelt, file_, mistakes_);
  return section;
}

Section SectionReader::read_keys(const toml::table& table, const SectionSchema& schema,
                                 std::vector<std::string>& misspelt) {
  std::vector<Parameter> keys = schema.parameters;
  if (schema.entries != nullptr) {
    const auto is_chooser = [&](const Parameter& key) { return key.name == schema.chooser; };
    const std::string& default_value = std::find_if(keys.begin(), keys.end(), is_chooser)->default_value;
    const CatalogueEntry* entry =
        reader_.chosen_entry(table, schema.chooser, default_value, catalogue_schema_.*schema.entries, keys,
                             schema.catalogue_name, schema.header());
    if (entry == nullptr) {
      // The choice has been reported; without it only the common keys can be checked.
      std::erase_if(keys, is_chooser);
      return reader_.read(table, keys, schema.header());
    }
    keys.insert(keys.end(), entry->parameters.begin(), entry->parameters.end());
  }
  misspelt = reader_.reject_unknown_keys(table, names_of(keys), schema.header());
  return reader_.read(table, keys, schema.header(), misspelt);
}

}  // namespace bathline
