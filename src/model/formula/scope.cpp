// Reading formulas, with mistakes that point to the wrong character.
// Tested by tests/model/systems/formula_system_test.cpp.
#include "model/formula/scope.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "formula/table.hpp"
#include "model/table_file.hpp"
#include "text/printable_text.hpp"

namespace bathline {

namespace {

/// The name of the formula in messages: "V" or "force[1]".
std::string name_of(const Section& section, const std::string& key, std::size_t index) {
  return section.holds<std::string>(key) ? key : fmt::format("{}[{}]", key, index);
}

/// Reads the tables of formulas from the texts of the section's files.
TableReader tables_of(const Section& section) {
  if (!section.files) return {};
  return [&section](const std::string& file, bool is_linear) {
    const TableForm form{.row = "rows",
                         .first = {"place", "s", Bound::any},
                         .second = {"value", "N", Bound::any},
                         .rising = true,
                         .least = 2};
    try {
      const std::vector<std::vector<double>> columns = read_columns(section, file, form);
      return table_number(file, columns[0], columns[1], is_linear);
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(fmt::format("{}: {}", printable(file), error.what()));
    }
  };
}

}  // namespace

void FormulaScope::add_variable(const std::string& name) { names[name] = graph.variable(variables++); }

Parameter formula_parameters(const std::string& key) {
  return {.name = key,
          .type = ValueType::table,
          .doc = "named numbers for use in formulas, such as { F0 = 0.3, omega = 1.2 }",
          .members = {optional(wildcard_key, ValueType::number, "", "a number with a name of your choice")}};
}

bool check_formula_name(const Section& section, const std::string& key, const std::string& name,
                        const FormulaScope& scope, Mistakes& mistakes) {
  const bool is_reserved = is_reserved_in_formulas(name);
  if (!is_reserved && scope.names.find(name) == scope.names.end()) return true;
  mistakes.add(section.where(key), fmt::format("`{}` already has a meaning in formulas{}; choose another name",
                                               printable(name), is_reserved ? " (`bathline describe formula`)" : ""));
  return false;
}

void add_numbers(const Section& table, std::span<const std::string> except, FormulaScope& scope, Mistakes& mistakes) {
  for (const std::string& key : table.keys()) {
    if (std::find(except.begin(), except.end(), key) != except.end()) continue;
    if (!check_formula_name(table, key, key, scope, mistakes)) continue;
    scope.names[key] = scope.graph.constant(table.number(key));
  }
}

std::optional<Expression> read_formula(const Section& section, const std::string& key, FormulaScope& scope,
                                       Mistakes& mistakes, std::size_t index) {
  const std::string& text = section.holds<std::string>(key) ? section.text(key) : section.texts(key).at(index);
  const std::string name = name_of(section, key, index);
  try {
    return parse_formula(text, scope.names, scope.graph, tables_of(section));
  } catch (const FormulaError& error) {
    const Location where = section.where_in_text(key, error.offset(), index);
    // A text from the command line has no line and column.
    const std::string position = where.line > 0 ? "" : fmt::format(", character {}", error.offset() + 1);
    mistakes.add(where, fmt::format("{}{}: {}", name, position, error.what()));
  } catch (const FormulaTooLarge& error) {
    mistakes.add(section.where(key), fmt::format("{}: {}", name, error.what()));
  }
  return std::nullopt;
}

bool check_tables_at_end(const Section& section, double end, Mistakes& mistakes) {
  const std::size_t before = mistakes.count();
  FormulaScope scope;
  scope.add_variable("t");
  Mistakes reported_elsewhere;
  if (section.holds<std::vector<Section>>("parameters"))
    add_numbers(section.table("parameters"), {}, scope, reported_elsewhere);
  const auto check = [&](const std::string& key, const std::string& formula, std::size_t index) {
    for (const TableCall& call : table_calls_of(formula)) {
      try {
        const Expression value = parse_formula(call.text, scope.names, scope.graph, tables_of(section));
        const std::string part = find_nonfinite_subexpression(scope.graph, value, {&end, 1});
        if (part.empty()) continue;
        mistakes.add(
            section.where_in_text(key, call.offset, index),
            fmt::format("{}: has no value at the end of the run, t = {}: {}", name_of(section, key, index), end, part));
      } catch (const std::runtime_error&) {
        // The argument is no function of time, or the mistake is reported where the formula is read.
      }
    }
  };
  for (const std::string& key : section.keys()) {
    if (section.holds<std::string>(key)) check(key, section.text(key), 0);
    if (!section.holds<std::vector<std::string>>(key)) continue;
    for (std::size_t i = 0; i < section.texts(key).size(); ++i) check(key, section.texts(key)[i], i);
  }
  return mistakes.count() == before;
}

bool check_finite(const Section& section, const std::string& key, const std::string& what, const FormulaScope& scope,
                  const std::vector<FormulaOutput>& outputs, std::span<const double> variables, Mistakes& mistakes,
                  std::size_t index, const char* when) {
  for (const FormulaOutput& output : outputs) {
    const std::string part = find_nonfinite_subexpression(scope.graph, output, variables);
    if (part.empty()) continue;
    mistakes.add(section.where_in_text(key, 0, index), fmt::format("{}: {} has no finite value at the {}: {}",
                                                                   name_of(section, key, index), what, when, part));
    return false;
  }
  return true;
}

}  // namespace bathline
