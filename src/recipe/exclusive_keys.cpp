// Checks and resolves the mutually exclusive keys of a section.
#include "recipe/exclusive_keys.hpp"
#include "text/spelling.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "recipe/toml_document.hpp"

namespace bathline {

namespace {

void remove_others(toml::table& table, const std::vector<ExclusiveKeys>& rules, const std::string& key) {
  for (const ExclusiveKeys& rule : rules) {
    if (std::find(rule.keys.begin(), rule.keys.end(), key) == rule.keys.end()) continue;
    for (const std::string& other : rule.keys) {
      if (other == key) continue;
      table.erase(other);
      // Keys that are only allowed beside the other are removed as well: the tolerances of `expect`.
      for (const ExclusiveKeys& dependent : rules) {
        if (dependent.when != other) continue;
        for (const std::string& name : dependent.keys) table.erase(name);
      }
    }
  }
}

}  // namespace

void check_exclusive_keys(const toml::table& table, const SectionSchema& schema, std::span<const std::string> misspelt,
                          const std::string& file, Mistakes& mistakes) {
  for (const ExclusiveKeys& rule : schema.exclusive_keys) {
    std::vector<std::string> given;
    for (const std::string& key : rule.keys) {
      if (table.contains(key)) given.push_back(key);
    }
    const std::string names = quoted_names(rule.keys, '`');
    const bool applies = rule.when.empty() || table.contains(rule.when);
    if (given.size() == (applies ? 1u : 0u)) continue;
    const bool is_reported = std::any_of(misspelt.begin(), misspelt.end(), [&](const std::string& key) {
      return key == rule.when || std::find(rule.keys.begin(), rule.keys.end(), key) != rule.keys.end();
    });
    if (is_reported) continue;
    if (applies && given.empty()) {
      const std::string because = rule.when.empty() ? "" : fmt::format(" beside `{}`", rule.when);
      mistakes.add(location_of(table, file),
                   fmt::format("{} needs one of the keys {}{}", schema.header(), names, because));
    } else {
      const std::string advice =
          applies ? fmt::format("one of {}, not more", names) : fmt::format("{} only beside `{}`", names, rule.when);
      mistakes.add(location_of(table.find(given.back())->first.source(), file),
                   fmt::format("{} must have {}", schema.header(), advice));
    }
  }
}

void remove_exclusive_keys(toml::table& table, const std::string& section, const std::string& key) {
  for (const SectionSchema& schema : recipe_sections()) {
    if (schema.name == section) remove_others(table, schema.exclusive_keys, key);
  }
}

}  // namespace bathline
