// Formulas as text -> expressions.
#pragma once

#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "formula/expression.hpp"

namespace bathline {

/// What is wrong with a formula, and where in it.
class FormulaError : public std::runtime_error {
 public:
  FormulaError(std::size_t offset, const std::string& message) : std::runtime_error(message), offset_(offset) {}
  /// Of the character that it is about, in bytes from 0.
  std::size_t offset() const { return offset_; }

 private:
  std::size_t offset_;
};

/// The names that a formula may use besides functions and constants.
using FormulaNames = std::map<std::string, Expression, std::less<>>;

/// Longest formula, in bytes, and how deep parentheses, signs and powers may stand in one another.
constexpr std::size_t max_formula_bytes = 65'536;
constexpr int max_formula_depth = 200;

/// Reads sums, products, powers, signs, calls of functions, numbers and names; throws FormulaError, and FormulaTooLarge
/// where the graph is full. Powers bind before signs and to the right: -x^2 = -(x^2), 2^3^2 = 2^9.
Expression parse_formula(std::string_view text, const FormulaNames& names, ExpressionGraph& graph);

/// Where in a formula a name stands first, in bytes; std::string_view::npos where it does not.
std::size_t find_name(std::string_view formula, std::string_view name);

/// Whether a name means something already: that of a function or constant.
bool is_reserved_in_formulas(std::string_view name);

/// The text of `bathline describe formula` on the language itself.
std::string describe_formulas();

}  // namespace bathline
