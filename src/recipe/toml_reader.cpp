// Reads tables and lists by their description.
#include "recipe/toml_reader.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "recipe/describe.hpp"
#include "text/printable_text.hpp"
#include "recipe/retired_keys.hpp"
#include "text/spelling.hpp"
#include "recipe/toml_document.hpp"

namespace bathline {

namespace {

// "[system]" and "potential" -> "[system.potential]", in double brackets for a list of tables.
std::string inner_header(const std::string& outer, const std::string& key, bool repeated) {
  const auto first = outer.find_first_not_of('[');
  const std::string path = outer.substr(first, outer.find(']') - first) + "." + key;
  return repeated ? "[[" + path + "]]" : "[" + path + "]";
}

}  // namespace

ValueType TomlReader::type_of(const toml::node& node, const Parameter& parameter) const {
  const bool is_mostly_number = parameter.type == ValueType::integer || parameter.type == ValueType::number;
  for (const ValueType type : parameter.alternative_types) {
    const toml::array* list = node.as_array();
    const bool is_number = is_mostly_number && values_.is_expression(node);
    const bool fits = (type == ValueType::number && node.is_number()) ||
                      (type == ValueType::integer && list == nullptr) ||
                      (type == ValueType::text && node.is_string() && !is_number) ||
                      (type == ValueType::numbers && list != nullptr) ||
                      (type == ValueType::texts && list != nullptr && list->is_homogeneous<std::string>());
    if (fits) return type;
  }
  return parameter.type;
}

std::vector<std::vector<Location>> TomlReader::lines_of_texts(const toml::node& node) const {
  std::vector<std::vector<Location>> lines;
  if (const toml::array* list = node.as_array()) {
    for (const toml::node& element : *list) {
      if (!element.is_string()) return {};
      lines.push_back(lines_of_text(element));
    }
  } else if (node.is_string()) {
    lines.push_back(lines_of_text(node));
  }
  return lines;
}

std::vector<Location> TomlReader::lines_of_text(const toml::node& node) const {
  const std::string& text = node.as_string()->get();
  const toml::source_region& region = node.source();
  const Location begin = location(node, {});
  if (begin.line == 0) return {};
  const auto breaks = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  const auto last = region.end.line - region.begin.line;
  if (last == 0) {
    // The text has one quote on each side, or three; the region ends at or after the last quote.
    const bool has_three = region.end.column - region.begin.column >= text.size() + 5;
    return {{begin.file, begin.line, begin.column + (has_three ? 3 : 1)}};
  }
  // A line break directly after the three quotes does not belong to the text.
  std::vector<Location> lines;
  const bool begins_below = static_cast<int>(last) > breaks;
  lines.push_back(begins_below ? Location{begin.file, begin.line + 1, 1}
                               : Location{begin.file, begin.line, begin.column + 3});
  for (int line = 1; line <= breaks; ++line) lines.push_back({begin.file, lines.front().line + line, 1});
  return lines;
}

Location TomlReader::location(const toml::node& node, const Location& where) const {
  if (default_location_) return *default_location_;
  return node.source().begin || node.source().path ? location_of(node.source(), file_) : where;
}

Section TomlReader::read(const toml::table& table, std::span<const Parameter> parameters, const std::string& header,
                         std::span<const std::string> misspelt) {
  Section section(default_location_ ? *default_location_ : location_of(table, file_));
  std::vector<std::string> keys;
  for (const auto& [key, value] : table) {
    if (is_name(key.str())) keys.emplace_back(key.str());
  }
  for (const Parameter& parameter : named_parameters(parameters, keys)) {
    const auto entry = table.find(parameter.name);
    const bool present = entry != table.end();
    const bool in_recipe = present && !default_location_;
    const bool is_misspelt = std::find(misspelt.begin(), misspelt.end(), parameter.name) != misspelt.end();
    const Location where = in_recipe ? location_of(entry->first.source(), file_) : section.where();
    std::optional<Value> value;
    if (present) {
      value = read_value(entry->second, parameter, where, header);
    } else if (!is_misspelt) {
      if (parameter.default_value.empty() && !parameter.required) continue;
      if (!parameter.default_value.empty()) {
        value = read_default(parameter, where, header);
      } else {
        mistakes_.add(where, fmt::format("{} needs the key `{}` ({}): {}", header, parameter.name,
                                         value_kind(parameter), parameter.doc));
      }
    }
    if (value) {
      section.set(parameter.name, std::move(*value), where);
      if (in_recipe) section.set_lines_of_texts(parameter.name, lines_of_texts(entry->second));
    }
  }
  return section;
}

std::vector<std::string> TomlReader::reject_unknown_keys(const toml::table& table, std::span<const std::string> known,
                                                         const std::string& header) {
  std::vector<std::string> absent, intended;
  for (const std::string& name : known) {
    if (!table.contains(name)) absent.push_back(name);
  }
  for (const auto& [key, value] : table) {
    const std::string name(key.str());
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    if (std::find(known.begin(), known.end(), wildcard_key) != known.end()) {
      if (is_name(name)) continue;
      mistakes_.add(location_of(key.source(), file_),
                    fmt::format("`{}` in {} is not a valid name: use letters, digits and `_`, with a letter first",
                                printable(name), header));
      continue;
    }
    const std::string retired = retired_key_advice(header, name);
    if (!retired.empty()) {
      mistakes_.add(location_of(key.source(), file_), fmt::format("unknown key `{}` in {}{}", name, header, retired));
      continue;
    }
    // A key that is already given is not suggested first.
    const std::string closest = closest_name(name, absent);
    const std::string advice =
        closest.empty() ? spelling_advice(name, known, '`') : fmt::format("; did you mean `{}`?", closest);
    mistakes_.add(location_of(key.source(), file_),
                  fmt::format("unknown key `{}` in {}{}", printable(name), header, advice));
    intended.push_back(closest.empty() ? closest_name(name, known) : closest);
  }
  return intended;
}

const CatalogueEntry* TomlReader::chosen_entry(const toml::table& table, const std::string& key,
                                               const std::string& default_value,
                                               std::span<const CatalogueEntry> entries,
                                               std::span<const Parameter> common, const std::string& catalogue_name,
                                               const std::string& header) {
  const auto entry = table.find(key);
  if (entry == table.end()) {
    std::vector<std::string> known = {key};
    for (const Parameter& parameter : common) known.push_back(parameter.name);
    for (const CatalogueEntry& candidate : entries) {
      for (const Parameter& parameter : candidate.parameters) known.push_back(parameter.name);
    }
    const bool is_misspelt = std::any_of(table.begin(), table.end(), [&](const auto& given) {
      return closest_name(std::string(given.first.str()), known) == key;
    });
    if (is_misspelt) {
      reject_unknown_keys(table, known, header);
      return nullptr;
    }
  }
  if (entry == table.end() && !default_value.empty()) {
    return find_entry(entries, parse_toml_value(default_value, "")->get("value")->value_or(std::string()));
  }
  std::vector<std::string> names;
  for (const CatalogueEntry& candidate : entries) {
    names.push_back(candidate.name);
    for (const Alias& alias : candidate.aliases) names.push_back(alias.name);
  }
  if (entry == table.end()) {
    mistakes_.add(location_of(table, file_),
                  fmt::format("{} needs the key `{}`, one of {}", header, key, quoted_names(names, '"')));
    return nullptr;
  }
  const Location where = location_of(entry->first.source(), file_);
  const auto name = values_.text(entry->second, key, {}, where);
  if (!name) return nullptr;
  const CatalogueEntry* chosen = find_entry(entries, *name);
  if (chosen == nullptr) {
    std::vector<std::string> intended;
    for (const CatalogueEntry* other : entries_by_keyword(entries, *name)) intended.push_back(other->name);
    std::string advice = catalogue_name == "studies" ? retired_name_advice(*name) : "";
    if (advice.empty() && !intended.empty()) advice = fmt::format("; did you mean {}?", quoted_names(intended, '"'));
    if (advice.empty()) advice = spelling_advice(*name, names, '"');
    values_.reject(entry->second, key, where, "not one of the " + catalogue_name + advice);
  }
  return chosen;
}

std::optional<Section::Value> TomlReader::read_value(const toml::node& node, const Parameter& parameter,
                                                     const Location& where, const std::string& header) {
  const auto number = [&](const toml::node& n, const std::string& name, const Location& location) {
    return values_.number(n, name, parameter.bound, location, parameter.units);
  };
  const auto integer = [&](const toml::node& n, const std::string& name, const Location& location) {
    const std::span<const std::string> choices = parameter.choices;
    return values_.integer(n, name, parameter.bound, location,
                           parameter.alternative_types.empty() ? choices : choices.first(0));
  };
  const auto text = [&](const toml::node& n, const std::string& name, const Location& location) {
    const std::span<const std::string> choices = parameter.choices;
    const auto* word = n.as_string();
    const bool is_mostly_number = parameter.type == ValueType::integer || parameter.type == ValueType::number;
    if (is_mostly_number && !choices.empty() && word != nullptr &&
        std::find(choices.begin(), choices.end(), word->get()) == choices.end()) {
      const char* what = parameter.type == ValueType::integer ? "an integer" : "a number";
      values_.reject(n, name, location, fmt::format("must be {} or one of {}", what, quoted_names(choices, '"')));
      return std::optional<std::string>();
    }
    return values_.text(n, name, choices, location);
  };
  const std::string& name = parameter.name;
  const std::string kind = value_kind(parameter);
  switch (type_of(node, parameter)) {
    case ValueType::boolean:
      return values_.boolean(node, name, where);
    case ValueType::integer:
      return integer(node, name, where);
    case ValueType::number:
      return number(node, name, where);
    case ValueType::text:
      return text(node, name, where);
    case ValueType::numbers:
      return read_list<double>(node, name, kind, where, number);
    case ValueType::integers:
      return read_list<long>(node, name, kind, where, integer);
    case ValueType::texts:
      return read_list<std::string>(node, name, kind, where, text);
    case ValueType::rows:
      return read_rows(node, parameter, where);
    case ValueType::table:
    case ValueType::tables:
      break;
  }
  return read_tables(node, parameter, where, header);
}

std::optional<Section::Value> TomlReader::read_default(const Parameter& parameter, const Location& where,
                                                       const std::string& header) {
  const auto parsed = parse_toml_value(parameter.default_value, "");
  Mistakes mistakes;
  TomlReader reader(file_, mistakes);
  reader.default_location_ = where;
  auto value = parsed ? reader.read_value(*parsed->get("value"), parameter, where, header) : std::nullopt;
  if (!value || !mistakes.empty()) {
    throw std::logic_error(fmt::format("the default of `{}` in {} is invalid: {}", parameter.name, header,
                                       parsed ? mistakes.report() : "not TOML"));
  }
  return value;
}

std::optional<Section::Value> TomlReader::read_tables(const toml::node& node, const Parameter& parameter,
                                                      const Location& where, const std::string& header) {
  const bool repeated = parameter.type == ValueType::tables;
  const std::string inner = inner_header(header, parameter.name, repeated);
  std::vector<Section> sections;
  bool chosen = true;
  const auto add = [&](const toml::table& table) {
    std::vector<Parameter> members = parameter.members;
    if (!parameter.catalogue_name.empty()) {
      const CatalogueEntry* entry =
          chosen_entry(table, "kind", "", *parameter.kinds, {}, parameter.catalogue_name, inner);
      chosen = chosen && entry != nullptr;
      if (entry == nullptr) return;
      members = keys_of_kind(*entry);
    }
    std::vector<std::string> known;
    for (const Parameter& member : members) known.push_back(member.name);
    const std::vector<std::string> misspelt = reject_unknown_keys(table, known, inner);
    sections.push_back(read(table, members, inner, misspelt));
  };

  const bool is_list = node.is_array_of_tables() || (node.is_array() && node.as_array()->empty());
  if (repeated && is_list) {
    for (const toml::node& table : *node.as_array()) add(*table.as_table());
  } else if (!repeated && node.is_table()) {
    add(*node.as_table());
  } else {
    const char* expected = repeated ? "a list of tables" : "a table";
    values_.reject(node, parameter.name, where,
                   fmt::format("must be {}, not {}; it can be written as {}", expected, type_found(node), inner));
    return std::nullopt;
  }
  if (!chosen) return std::nullopt;
  return sections;
}

template <class T, class Read>
std::optional<std::vector<T>> TomlReader::read_list(const toml::node& node, const std::string& name,
                                                    const std::string& kind, const Location& where, Read read) {
  const toml::array* list = node.as_array();
  if (list == nullptr) {
    values_.reject(node, name, where, fmt::format("must be a list ({}), not {}", kind, type_found(node)));
    return std::nullopt;
  }
  std::vector<T> values;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const toml::node& element = *list->get(i);
    if (auto value = read(element, fmt::format("{}[{}]", name, i), location(element, where)))
      values.push_back(std::move(*value));
  }
  if (values.size() < list->size()) return std::nullopt;
  return values;
}

std::optional<Section::Rows> TomlReader::read_rows(const toml::node& node, const Parameter& parameter,
                                                   const Location& where) {
  const std::string kind = value_kind(parameter);
  const auto number = [&](const toml::node& n, const std::string& name, const Location& location) {
    return values_.number(n, name, parameter.bound, location, parameter.units);
  };
  const auto row = [&](const toml::node& n, const std::string& name,
                       const Location& location) -> std::optional<std::vector<double>> {
    if (n.is_array()) return read_list<double>(n, name, kind, location, number);
    const auto value = number(n, name, location);
    return value ? std::optional(std::vector{*value}) : std::nullopt;
  };
  auto rows = read_list<std::vector<double>>(node, parameter.name, kind, where, row);
  if (!rows) return std::nullopt;

  for (std::size_t i = 0; i < rows->size(); ++i) {
    const std::size_t length = (*rows)[i].size(), first = rows->front().size();
    if (length > 0 && length == first) continue;
    const std::string name = fmt::format("{}[{}]", parameter.name, i);
    const std::string message = length == 0
                                    ? name + " is an empty list: must hold at least one number"
                                    : fmt::format("{} has length {} but {}[0] has length {}: all must be equally long",
                                                  name, length, parameter.name, first);
    mistakes_.add(location(*node.as_array()->get(i), where), message);
    return std::nullopt;
  }
  return rows;
}

}  // namespace bathline
