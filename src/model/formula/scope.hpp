// Reading the formulas of a recipe.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formula/parser.hpp"
#include "recipe/mistakes.hpp"
#include "recipe/section.hpp"
#include "recipe/catalogue_schema.hpp"

namespace bathline {

/// The scope of the formulas of one table: the names that they may use, and the graph that they are part of.
struct FormulaScope {
  ExpressionGraph graph;
  FormulaNames names;
  int variables = 0;

  /// Gives the next variable a name.
  void add_variable(const std::string& name);
};

/// The parameter `key`, a table of numbers whose names the user chooses.
Parameter formula_parameters(const std::string& key = "parameters");

/// Adds the numbers of a table, but for the keys `except`, to the names. A name with another meaning is a mistake.
void add_numbers(const Section& table, std::span<const std::string> except, FormulaScope& scope, Mistakes& mistakes);

/// Whether a name is free in the scope; adds a mistake at `key` of the section if not.
bool check_formula_name(const Section& section, const std::string& key, const std::string& name,
                        const FormulaScope& scope, Mistakes& mistakes);

/// The formula `key` of a section, or element `index` of the list of formulas there. Nothing, and a mistake that points
/// to the wrong character, where it is invalid.
std::optional<Expression> read_formula(const Section& section, const std::string& key, FormulaScope& scope,
                                       Mistakes& mistakes, std::size_t index = 0);

/// Whether all tables in the formulas of a section that have a function of `t` as argument reach to the end of the run
/// (s); adds a mistake for each that does not. The tables must have been read.
bool check_tables_at_end(const Section& section, double end, Mistakes& mistakes);

/// Whether the outputs have finite values; adds a mistake if not. `what` is how the message calls them: "the formula",
/// "a derivative".
bool check_finite(const Section& section, const std::string& key, const std::string& what, const FormulaScope& scope,
                  const std::vector<FormulaOutput>& outputs, std::span<const double> variables, Mistakes& mistakes,
                  std::size_t index = 0, const char* when = "start");

}  // namespace bathline
