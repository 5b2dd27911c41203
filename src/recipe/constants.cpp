// Constants are evaluated in the order in which they depend on each other.
// Tested by tests/recipe/cases_test.cpp.
#include "recipe/constants.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "recipe/catalogue_schema.hpp"
#include "recipe/toml_document.hpp"
#include "text/printable_text.hpp"

namespace bathline {

namespace {

constexpr std::size_t max_constants = 200;

/// Whole numbers as integers, so that they may stand where integers are wanted.
void insert_number(toml::table& table, const std::string& name, double value) {
  if (std::trunc(value) == value && std::abs(value) < 1e15) {
    table.insert_or_assign(name, static_cast<std::int64_t>(value));
  } else {
    table.insert_or_assign(name, value);
  }
}

}  // namespace

Constants Constants::take_from(toml::table& recipe, const std::string& file, Mistakes& mistakes) {
  Constants constants;
  const auto section = recipe.find("constants");
  if (section == recipe.end()) return constants;
  const Location header = location_of(section->first.source(), file);
  const toml::table* table = section->second.as_table();
  std::vector<std::pair<std::string, const toml::node*>> open;
  if (table == nullptr || table->size() > max_constants) {
    mistakes.add(header, fmt::format("[constants] must be a table of at most {} numbers", max_constants));
  } else {
    for (const auto& [key, value] : *table) {
      const std::string name(key.str());
      if (!is_name(name) || is_reserved_in_formulas(name)) {
        mistakes.add(location_of(key.source(), file),
                     fmt::format("`{}` cannot be the name of a constant: use letters, digits and `_`, with a letter "
                                 "first, and no function or constant of formulas",
                                 printable(name)));
      } else if (value.is_number()) {
        insert_number(constants.values_, name, number_of(value));
      } else if (value.is_string()) {
        open.emplace_back(name, &value);
      } else {
        mistakes.add(location_of(key.source(), file),
                     fmt::format("the constant `{}` must be a number or an expression", name));
      }
    }
  }
  for (bool progress = true; progress && !open.empty();) {
    progress = false;
    for (auto next = open.begin(); next != open.end();) {
      std::optional<double> value;
      try {
        value = constants.value_of(next->second->value_or(std::string()));
      } catch (const FormulaError&) {
      }
      if (value) insert_number(constants.values_, next->first, *value);
      progress = progress || value;
      next = value ? open.erase(next) : next + 1;
    }
  }
  for (const auto& [name, value] : open) {
    try {
      constants.value_of(value->value_or(std::string()));
    } catch (const FormulaError& error) {
      mistakes.add(location_of(table->find(name)->first.source(), file),
                   fmt::format("the constant `{}`: {}", name, error.what()));
    }
  }
  recipe.erase(section);
  return constants;
}

double Constants::value_of(const std::string& expression) const {
  ExpressionGraph graph;
  FormulaNames names;
  for (const auto& [key, value] : values_) {
    names.emplace(std::string(key.str()), graph.constant(number_of(value)));
  }
  const Expression result = parse_formula(expression, names, graph);
  const double value = graph.is_constant(result) ? graph[result].value : std::nan("");
  if (!std::isfinite(value)) throw FormulaError(0, "the value is not finite");
  return value;
}

}  // namespace bathline
