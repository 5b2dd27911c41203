// Formulas of a recipe.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "formula/parser.hpp"
#include "recipe/mistakes.hpp"
#include "recipe/section.hpp"
#include "recipe/catalogue_schema.hpp"

namespace bathline {

/// What the formulas of one table have in common: the names that they may use, and the graph that they are part of.
struct FormulaScope {
  ExpressionGraph graph;
  FormulaNames names;
  int variables = 0;

  /// Gives the next variable a name.
  void add_variable(const std::string& name);
};

/// The parameter `key`, a table of numbers whose names the user chooses.
Parameter formula_parameters(const std::string& key = "parameters");

/// Adds the numbers of a table, but for the keys `except`, as names. A name that formulas know already is a mistake.
void add_numbers(const Section& table, std::span<const std::string> except, FormulaScope& scope, Mistakes& mistakes);

/// Whether a name is free in the scope; `key` of the section, where it comes from, is told if not.
bool check_formula_name(const Section& section, const std::string& key, const std::string& name,
                        const FormulaScope& scope, Mistakes& mistakes);

/// The formula that is the text `key` of a section, or element `index` of its list of texts. Nothing, and a mistake
/// that points into the formula, where it is none.
std::optional<Expression> read_formula(const Section& section, const std::string& key, FormulaScope& scope,
                                       Mistakes& mistakes, std::size_t index = 0);

/// Whether the expressions, which are what `what` says of the formula, have finite values; adds a mistake if not.
bool check_finite(const Section& section, const std::string& key, const std::string& what, const FormulaScope& scope,
                  std::span<const Expression> expressions, std::span<const double> variables, Mistakes& mistakes,
                  std::size_t index = 0);

}  // namespace bathline
