// Walks from a section through tables and lists to one number.
// Tested by tests/recipe/number_at_test.cpp.
#include "recipe/number_at.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <span>
#include <sstream>
#include <stdexcept>

#include "recipe/recipe_schema.hpp"
#include "text/printable_text.hpp"

namespace bathline {

namespace {

using Path = std::span<const std::string>;

struct NoNumber : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The index that is `path`'s only word, below `count`.
std::size_t index_of(Path path, std::size_t count) {
  std::size_t index = 0;
  if (path.size() == 1) {
    const char* const end = path[0].data() + path[0].size();
    const auto [rest, error] = std::from_chars(path[0].data(), end, index);
    if (error == std::errc{} && rest == end && index < count) return index;
  }
  throw NoNumber(count == 1 ? "it is a list of one number: add `.0`"
                            : fmt::format("it is a list: add an index from 0 to {}", count - 1));
}

double& number_in(std::vector<double>& numbers, Path path) { return numbers[index_of(path, numbers.size())]; }

double& number_in(Section::Rows& rows, Path path) {
  std::vector<double>& row = rows[index_of(path.first(std::min<std::size_t>(path.size(), 1)), rows.size())];
  if (row.size() == 1 && path.size() == 1) return row[0];
  return number_in(row, path.subspan(1));
}

std::size_t position_of(const std::vector<Section>& tables, Path path) {
  for (std::size_t i = 0; i < tables.size() && !path.empty(); ++i) {
    if (tables[i].holds<std::string>("name") && tables[i].text("name") == path[0]) return i;
  }
  return index_of(path.first(std::min<std::size_t>(path.size(), 1)), tables.size());
}

/// What is at `path` in a table with these keys: returns its former value, and replaces it if there is a new one.
double exchange(Section& section, std::span<const Parameter> parameters, Path path, const double* replacement,
                Bound& bound) {
  if (path.empty() || !section.has(path[0])) {
    throw NoNumber(path.empty() ? "it is a table: add one of its keys"
                                : fmt::format("there is no key `{}`", printable(path[0])));
  }
  const std::string& key = path[0];
  const Path rest = path.subspan(1);
  Parameter parameter;
  for (const Parameter& candidate : parameters) {
    if (candidate.name == key || (candidate.name == wildcard_key && parameter.name.empty())) parameter = candidate;
  }
  bound = parameter.bound;
  Section::Value value = section.value(key);
  double former = 0.0;
  const auto exchange_number = [&](double& number) {
    former = number;
    if (replacement != nullptr) number = *replacement;
  };
  if (auto* number = std::get_if<double>(&value); number != nullptr && rest.empty()) {
    exchange_number(*number);
  } else if (auto* numbers = std::get_if<std::vector<double>>(&value)) {
    exchange_number(number_in(*numbers, rest));
  } else if (auto* rows = std::get_if<Section::Rows>(&value)) {
    exchange_number(number_in(*rows, rest));
  } else if (auto* tables = std::get_if<std::vector<Section>>(&value)) {
    const bool is_list = parameter.type == ValueType::tables;
    Section& table = (*tables)[is_list ? position_of(*tables, rest) : 0];
    std::vector<Parameter> members = parameter.members;
    if (!parameter.catalogue_name.empty()) members = keys_of_kind(*find_entry(*parameter.kinds, table.text("kind")));
    former = exchange(table, members, rest.subspan(is_list ? 1 : 0), replacement, bound);
  } else {
    throw NoNumber(std::holds_alternative<double>(value) ? "it is one number, without an index" : "it is no number");
  }
  if (replacement != nullptr) section.set(key, std::move(value), section.where(key));
  return former;
}

std::vector<Parameter> keys_of(const std::string& name, const Section& section,
                               const std::vector<CatalogueEntry>& all) {
  std::vector<Parameter> keys = recipe_section(name).parameters;
  const std::vector<Parameter>& own = find_entry(all, section.text("kind"))->parameters;
  keys.insert(keys.end(), own.begin(), own.end());
  return keys;
}

/// The section where the path begins, and the rest of it.
std::pair<Section*, Path> beginning_of(Path path, Recipe& recipe) {
  if (path[0] == "system") return {&recipe.system, path.subspan(1)};
  if (path[0] != "environments") throw NoNumber("it must begin with `system.` or `environments.`");
  if (recipe.environments.empty()) throw NoNumber("the recipe has no [[environments]]");
  return {&recipe.environments[position_of(recipe.environments, path.subspan(1))], path.subspan(2)};
}

}  // namespace

NumberAt::NumberAt(const std::string& path, const Recipe& recipe, const CatalogueSchema& catalogue_schema) {
  std::istringstream words(path);
  for (std::string word; std::getline(words, word, '.');) path_.push_back(word);
  if (path_.empty()) path_.emplace_back();
  Recipe copy = recipe;
  const auto [section, rest] = beginning_of(path_, copy);
  const bool is_system = path_[0] == "system";
  if (!is_system) environment_ = section->text("name");
  keys_ = keys_of(path_[0], *section, is_system ? catalogue_schema.systems : catalogue_schema.environments);
  value_ = exchange(*section, keys_, rest, nullptr, bound_);
}

std::pair<double, double> NumberAt::limits() const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  switch (bound_) {
    case Bound::positive:
    case Bound::nonnegative:
      return {0.0, infinity};
    case Bound::negative:
      return {-infinity, 0.0};
    case Bound::unit_interval:
      return {0.0, 1.0};
    case Bound::any:
      break;
  }
  return {-infinity, infinity};
}

void NumberAt::set(Recipe& recipe, double value) const {
  const auto [section, rest] = beginning_of(path_, recipe);
  Bound bound = Bound::any;
  exchange(*section, keys_, rest, &value, bound);
}

}  // namespace bathline
