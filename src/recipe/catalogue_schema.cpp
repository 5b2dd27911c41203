// Look-up of names in the catalogue schema.
#include "recipe/catalogue_schema.hpp"

#include <cmath>

#include <algorithm>
#include <cctype>

namespace bathline {

Parameter required(std::string name, ValueType type, std::string units, std::string doc, Bound bound) {
  Parameter parameter = optional(std::move(name), type, std::move(units), std::move(doc), bound);
  parameter.required = true;
  return parameter;
}

Parameter optional(std::string name, ValueType type, std::string units, std::string doc, Bound bound) {
  return {.name = std::move(name), .type = type, .units = std::move(units), .doc = std::move(doc), .bound = bound};
}

Parameter defaulted(std::string name, ValueType type, std::string units, std::string default_value, std::string doc,
                    Bound bound) {
  Parameter parameter = optional(std::move(name), type, std::move(units), std::move(doc), bound);
  parameter.default_value = std::move(default_value);
  return parameter;
}

Parameter choice(std::string name, std::vector<std::string> choices, std::string doc, std::string default_value) {
  return {.name = std::move(name),
          .type = ValueType::text,
          .doc = std::move(doc),
          .default_value = std::move(default_value),
          .choices = std::move(choices)};
}

const char* broken_bound(double value, Bound bound) {
  if (!std::isfinite(value)) return "must be finite";
  switch (bound) {
    case Bound::positive:
      return value > 0 ? nullptr : "must be positive";
    case Bound::nonnegative:
      return value >= 0 ? nullptr : "must not be negative";
    case Bound::negative:
      return value < 0 ? nullptr : "must be negative";
    case Bound::unit_interval:
      return value >= 0 && value <= 1 ? nullptr : "must lie between 0 and 1";
    case Bound::any:
      break;
  }
  return nullptr;
}

const CatalogueEntry* find_entry(std::span<const CatalogueEntry> entries, const std::string& name) {
  const auto entry = std::find_if(entries.begin(), entries.end(), [&](const CatalogueEntry& e) {
    return e.name == name || find_alias(e, name) != nullptr;
  });
  return entry == entries.end() ? nullptr : &*entry;
}

const Alias* find_alias(const CatalogueEntry& entry, const std::string& name) {
  const auto alias =
      std::find_if(entry.aliases.begin(), entry.aliases.end(), [&](const Alias& a) { return a.name == name; });
  return alias == entry.aliases.end() ? nullptr : &*alias;
}

std::vector<const CatalogueEntry*> entries_by_keyword(std::span<const CatalogueEntry> entries,
                                                      const std::string& word) {
  const auto plain = [](const std::string& text) {
    std::string letters;
    for (const char c : text) {
      if (c != ' ' && c != '-' && c != '_') letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return letters;
  };
  const auto matches = [&](const std::string& text) { return plain(text) == plain(word); };
  std::vector<const CatalogueEntry*> result;
  for (const CatalogueEntry& entry : entries) {
    if (std::any_of(entry.keywords.begin(), entry.keywords.end(), matches)) result.push_back(&entry);
  }
  return result;
}

std::vector<Parameter> keys_of_kind(const CatalogueEntry& entry) {
  std::vector<Parameter> keys = {
      {.name = "kind", .type = ValueType::text, .doc = "Kind of the entry.", .required = true}};
  keys.insert(keys.end(), entry.parameters.begin(), entry.parameters.end());
  return keys;
}

bool is_name(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return !text.empty() && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return is_letter(c) || is_digit(c); });
}

std::vector<Parameter> named_parameters(std::span<const Parameter> parameters, std::span<const std::string> keys) {
  std::vector<Parameter> named;
  for (const Parameter& parameter : parameters) {
    if (parameter.name != wildcard_key) {
      named.push_back(parameter);
      continue;
    }
    for (const std::string& key : keys) {
      const auto is_key = [&](const Parameter& other) { return other.name == key; };
      if (std::any_of(parameters.begin(), parameters.end(), is_key)) continue;
      named.push_back(parameter);
      named.back().name = key;
    }
  }
  return named;
}

}  // namespace bathline
