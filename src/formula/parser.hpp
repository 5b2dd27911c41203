// Formulas as text -> expressions.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "formula/expression.hpp"
#include "formula/table.hpp"

namespace bathline {

/// An error in a formula, with its position.
class FormulaError : public std::runtime_error {
 public:
  FormulaError(std::size_t offset, const std::string& message) : std::runtime_error(message), offset_(offset) {}
  /// Position of the character concerned, in bytes from 0.
  std::size_t offset() const { return offset_; }

 private:
  std::size_t offset_;
};

/// The names that a formula may use besides functions and constants.
using FormulaNames = std::map<std::string, Expression, std::less<>>;

/// The interpolant of a file, cubic or linear. Throws std::runtime_error with what is wrong with the file.
using TableReader = std::function<TableNumber(const std::string& file, bool is_linear)>;

/// Maximum length of a formula, in bytes, and maximum nesting depth of parentheses, signs and powers.
constexpr std::size_t max_formula_bytes = 65'536;
constexpr int max_formula_depth = 200;

/// Reads sums, products, powers, signs, calls of functions, numbers and names; throws FormulaError, and FormulaTooLarge
/// where the graph is full. Powers bind before signs and to the right: -x^2 = -(x^2), 2^3^2 = 2^9. Without
/// `tables` there is no function `table`.
Expression parse_formula(std::string_view text, const FormulaNames& names, ExpressionGraph& graph,
                         const TableReader& tables = {});

/// A call of `table` in a formula.
struct TableCall {
  std::string file;
  std::string text;    ///< the whole call
  std::size_t offset;  ///< of the call in the formula, in bytes
};
/// All calls of `table` in a formula, also where the formula is wrong; a call that is not closed goes to its end.
std::vector<TableCall> table_calls_of(std::string_view formula);

/// Position of the first occurrence of a name in a formula, in bytes, or std::string_view::npos.
std::size_t find_name(std::string_view formula, std::string_view name);

/// Whether a name is that of a function or constant.
bool is_reserved_in_formulas(std::string_view name);

/// The text of `bathline describe formula` on the language itself.
std::string describe_formulas();

}  // namespace bathline
