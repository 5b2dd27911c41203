// A recursive-descent parser for the grammar
//
//   sum      product (('+' | '-') product)*
//   product  signed (('*' | '/') signed)*
//   signed   ('+' | '-') signed | power
//   power    primary ('^' signed)?
//   primary  number | name | name '(' sum (',' sum)* ')' | '(' sum ')' | 'where' '(' condition ',' sum ',' sum ')'
//            | 'table' '(' text ',' sum (',' text)? ')'
//   condition  sum ('<' | '<=' | '>' | '>=' | '==' | '!=') sum
#include "formula/parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <optional>

#include "text/printable_text.hpp"
#include "text/spelling.hpp"

namespace bathline {

namespace {

constexpr std::string_view pi_name = "pi";
constexpr std::string_view condition_advice =
    "a condition is one comparison, the first argument of `where`: where(x < 1, a, b) is a for x < 1 and b elsewhere, "
    "also nested; `step(x)` is 1 for x >= 0 and 0 elsewhere";

/// Functions of other languages, as formulas write them.
struct ForeignFunction {
  std::string_view name, formula;
};
constexpr ForeignFunction foreign_functions[] = {{"ifelse", "where(x < 1, a, b)"},
                                                 {"select", "where(x < 1, a, b)"},
                                                 {"piecewise", "where(x < 1, a, b)"},
                                                 {"heaviside", "step(x)"},
                                                 {"Heaviside", "step(x)"},
                                                 {"sech", "1/cosh(x)"},
                                                 {"csch", "1/sinh(x)"},
                                                 {"coth", "1/tanh(x)"},
                                                 {"ln", "log(x)"}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_quote(char c) { return c == '"' || c == '\''; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

class Parser {
 public:
  Parser(std::string_view text, const FormulaNames& names, ExpressionGraph& graph, const TableReader& tables)
      : text_(text), names_(names), graph_(graph), tables_(tables) {}

  Expression parse() {
    if (text_.size() > max_formula_bytes) {
      fail(0,
           fmt::format("a formula may have at most {} characters, this one has {}", max_formula_bytes, text_.size()));
    }
    skip_blanks();
    if (at_end()) fail(0, "the formula is empty");
    const Expression result = sum();
    if (at_end()) return result;
    if (peek() == ')') fail(position_, "`)` without a matching `(`");
    if (peek() == ',') fail(position_, "`,` outside of the arguments of a function");
    refuse_condition();
    if (is_letter(peek()) || is_digit(peek()) || peek() == '(' || peek() == '.') {
      fail(position_, "an operator is missing before this; products are written with `*`");
    }
    if (peek() == '=') fail(position_, "`=` is not allowed: a formula is only the right-hand side");
    fail(position_, fmt::format("unexpected `{}`", character()));
  }

 private:
  [[noreturn]] static void fail(std::size_t offset, const std::string& message) { throw FormulaError(offset, message); }

  bool at_end() const { return position_ >= text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[position_]; }
  /// The current UTF-8 character, printable.
  std::string character() const {
    std::size_t length = 1;
    while (position_ + length < text_.size() && (static_cast<unsigned char>(text_[position_ + length]) & 0xc0) == 0x80)
      ++length;
    return printable(text_.substr(position_, length));
  }
  void skip_blanks() {
    while (!at_end() && is_blank(peek())) ++position_;
  }
  /// Fails at a comparison, a logical operator or `?`, which only `where` takes or nothing does.
  void refuse_condition() const {
    constexpr std::string_view operators[] = {"<", ">", "==", "!", "&", "|", "?"};
    constexpr std::string_view words[] = {"and", "or", "not", "if", "else"};
    const std::string_view rest = text_.substr(std::min(position_, text_.size()));
    const auto begins = [&](std::string_view token) { return rest.starts_with(token); };
    const auto is_next_word = [&](std::string_view word) {
      return begins(word) &&
             (rest.size() == word.size() || !(is_letter(rest[word.size()]) || is_digit(rest[word.size()])));
    };
    if (std::none_of(std::begin(operators), std::end(operators), begins) &&
        std::none_of(std::begin(words), std::end(words), is_next_word)) {
      return;
    }
    fail(position_, std::string(condition_advice));
  }
  bool accept(char c) {
    if (at_end() || peek() != c) return false;
    ++position_;
    skip_blanks();
    return true;
  }

  /// Counts the nesting depth while it is in scope.
  class Level {
   public:
    explicit Level(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > max_formula_depth) {
        fail(parser_.position_,
             fmt::format("parentheses, signs and powers are nested more than {} deep", max_formula_depth));
      }
    }
    ~Level() { --parser_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Parser& parser_;
  };

  Expression sum() {
    Expression result = product();
    while (true) {
      if (accept('+')) {
        result = graph_.apply(Operation::add, result, product());
      } else if (accept('-')) {
        result = graph_.apply(Operation::subtract, result, product());
      } else {
        return result;
      }
    }
  }

  Expression product() {
    Expression result = with_sign();
    while (true) {
      const std::size_t begin = position_;
      if (accept('*')) {
        if (peek() == '*') fail(begin, "powers are written with `^`");
        result = graph_.apply(Operation::multiply, result, with_sign());
      } else if (accept('/')) {
        result = graph_.apply(Operation::divide, result, with_sign());
      } else {
        return result;
      }
    }
  }

  Expression with_sign() {
    const Level level(*this);
    if (accept('-')) return graph_.apply(Operation::negate, with_sign());
    if (accept('+')) return with_sign();
    const Expression base = primary();
    return accept('^') ? graph_.apply(Operation::power, base, with_sign()) : base;
  }

  Expression primary() {
    const std::size_t begin = position_;
    if (at_end()) fail(begin, "the formula ends where a number, a name or `(` is expected");
    if (is_digit(peek()) || peek() == '.') return number();
    if (is_letter(peek())) return name();
    if (accept('(')) {
      const Expression inside = sum();
      if (!accept(')')) {
        refuse_condition();
        fail(position_, fmt::format("`(` at character {} is not closed here", begin + 1));
      }
      return inside;
    }
    refuse_condition();
    fail(begin, fmt::format("expected a number, a name or `(`, not `{}`", character()));
  }

  Expression number() {
    double value = 0.0;
    const char* begin = text_.data() + position_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error == std::errc::result_out_of_range) fail(position_, "this number is outside the range of a double");
    if (error != std::errc{}) fail(position_, fmt::format("`{}` is not a number", character()));
    position_ += static_cast<std::size_t>(end - begin);
    if (is_letter(peek()) || peek() == '.') {
      fail(position_, fmt::format("`{}` follows a number; products are written with `*`", character()));
    }
    skip_blanks();
    return graph_.constant(value);
  }

  Expression name() {
    const std::size_t begin = position_;
    while (!at_end() && (is_letter(peek()) || is_digit(peek()))) ++position_;
    const std::string_view name = text_.substr(begin, position_ - begin);
    skip_blanks();
    const FormulaFunction* function = find_formula_function(name);
    if (peek() == '(' && function != nullptr) return call(*function, begin);
    if (function != nullptr) {
      fail(begin, fmt::format("`{}` is a function and needs its {} in parentheses", name,
                              function->arguments == 1 ? "argument" : "arguments"));
    }
    const auto entry = names_.find(name);
    const bool is_known = entry != names_.end() || name == pi_name;
    if (is_known && peek() == '(') {
      fail(position_, fmt::format("`{}` is not a function; a product is written `{}*(...)`", name, name));
    }
    if (entry != names_.end()) return entry->second;
    if (name == pi_name) return graph_.constant(std::numbers::pi);
    if (name == "if" || name == "not") fail(begin, std::string(condition_advice));
    fail(begin, unknown(std::string(name), peek() == '('));
  }

  std::string unknown(const std::string& name, bool is_called) const {
    for (const ForeignFunction& foreign : foreign_functions) {
      if (is_called && foreign.name == name)
        return fmt::format("unknown function `{}`; write `{}`", name, foreign.formula);
    }
    std::vector<std::string> known;
    if (is_called) {
      for (const FormulaFunction& function : formula_functions()) known.emplace_back(function.name);
    } else {
      for (const auto& [other, expression] : names_) known.push_back(other);
      known.emplace_back(pi_name);
    }
    return fmt::format("unknown {} `{}`{}", is_called ? "function" : "name", printable(name),
                       spelling_advice(name, known, '`'));
  }

  /// A text in quotes.
  std::string quoted(const char* what) {
    const char quote = peek();
    const std::size_t end = is_quote(quote) ? text_.find(quote, position_ + 1) : std::string_view::npos;
    if (end == std::string_view::npos) {
      fail(position_,
           fmt::format("expected {} in quotes: table(\"force.dat\", t), or table(\"force.dat\", t, \"linear\")", what));
    }
    std::string result(text_.substr(position_ + 1, end - position_ - 1));
    position_ = end + 1;
    skip_blanks();
    return result;
  }

  /// The rest of a call of `table`, of which `(` has been read.
  Expression table() {
    const std::size_t begin = position_;
    const std::string file = quoted("a file's name");
    if (!accept(',')) fail(position_, "`table` takes an argument after its file: table(\"force.dat\", t)");
    const Expression argument = sum();
    const std::size_t last = position_;
    const bool is_linear = accept(',');
    if (is_linear && quoted("\"linear\"") != "linear")
      fail(last, "the last argument of `table` is \"linear\" or left out");
    if (!accept(')')) fail(position_, "the arguments of `table` are not closed with `)` here");
    if (!tables_) fail(begin, "formulas here cannot read tables; those of [system] and of `couple` can");
    try {
      return graph_.interpolant(tables_(file, is_linear), argument);
    } catch (const FormulaTooLarge&) {
      throw;
    } catch (const std::runtime_error& error) {
      fail(begin, error.what());
    }
  }

  Expression call(const FormulaFunction& function, std::size_t begin) {
    const Level level(*this);
    accept('(');
    if (function.operation == Operation::table) return table();
    std::vector<Expression> arguments;
    const std::size_t first = position_;
    std::optional<Comparison> comparison;
    if (!accept(')')) {
      do {
        arguments.push_back(sum());
        if (function.operation == Operation::select && arguments.size() == 1) comparison = compare(arguments[0]);
      } while (accept(','));
      if (!accept(')')) {
        refuse_condition();
        fail(position_, fmt::format("the arguments of `{}` are not closed with `)` here", function.name));
      }
    }
    if (static_cast<int>(arguments.size()) != function.arguments) {
      fail(begin, fmt::format("`{}` takes {} argument{}, not {}", function.name, function.arguments,
                              function.arguments == 1 ? "" : "s", arguments.size()));
    }
    if (comparison) return where(*comparison, arguments[1], arguments[2]);
    arguments.resize(3);
    if (function.has_order) {
      const bool is_number = graph_.is_constant(arguments[0]);
      const double order = is_number ? graph_[arguments[0]].value : -1.0;
      if (!(order >= 0.0 && order <= 1000.0 && order == std::floor(order))) {
        fail(first, fmt::format("the order of `{}` must be a whole number from 0 to 1000", function.name));
      }
    }
    return graph_.apply(function.operation, arguments[0], arguments[1], arguments[2]);
  }

  /// left operator right.
  struct Comparison {
    Expression left;
    std::string_view operation;
    Expression right;
  };

  /// The rest of a condition, of which the left-hand side has been read.
  Comparison compare(Expression left) {
    for (const std::string_view operation : {"<=", ">=", "==", "!=", "<", ">"}) {
      if (!text_.substr(std::min(position_, text_.size())).starts_with(operation)) continue;
      position_ += operation.size();
      skip_blanks();
      return {left, operation, sum()};
    }
    if (peek() == '=') fail(position_, "equality is written `==`");
    fail(position_, "the first argument of `where` is a comparison, such as x < 1");
  }

  /// `a` where the comparison holds, else `b`.
  Expression where(const Comparison& comparison, Expression a, Expression b) {
    const auto [left, operation, right] = comparison;
    // x >= y where x - y >= 0.
    const auto select_where_not_below = [&](Expression x, Expression y, Expression then, Expression otherwise) {
      return graph_.apply(Operation::select, graph_.apply(Operation::subtract, x, y), then, otherwise);
    };
    if (operation == ">=") return select_where_not_below(left, right, a, b);
    if (operation == "<=") return select_where_not_below(right, left, a, b);
    if (operation == "<") return select_where_not_below(left, right, b, a);
    if (operation == ">") return select_where_not_below(right, left, b, a);
    if (operation == "!=") std::swap(a, b);
    return select_where_not_below(left, right, select_where_not_below(right, left, a, b), b);
  }

  std::string_view text_;
  const FormulaNames& names_;
  ExpressionGraph& graph_;
  const TableReader& tables_;
  std::size_t position_ = 0;
  int depth_ = 0;
};

}  // namespace

Expression parse_formula(std::string_view text, const FormulaNames& names, ExpressionGraph& graph,
                         const TableReader& tables) {
  return Parser(text, names, graph, tables).parse();
}

std::vector<TableCall> table_calls_of(std::string_view formula) {
  constexpr std::string_view name = "table";
  std::vector<TableCall> calls;
  const auto after_blanks = [&](std::size_t i) {
    while (i < formula.size() && is_blank(formula[i])) ++i;
    return i;
  };
  for (std::size_t i = 0; i < formula.size();) {
    const std::size_t found = find_name(formula.substr(i), name);
    if (found == std::string_view::npos) break;
    const std::size_t begin = i + found, bracket = after_blanks(begin + name.size());
    i = begin + name.size();
    if (bracket >= formula.size() || formula[bracket] != '(') continue;
    const std::size_t quote = after_blanks(bracket + 1);
    if (quote >= formula.size() || !is_quote(formula[quote])) continue;
    const std::size_t end = formula.find(formula[quote], quote + 1);
    if (end == std::string_view::npos) break;
    // The calls in the arguments of this one are found next.
    i = end + 1;
    std::size_t last = i;
    for (int depth = 1; last < formula.size() && depth > 0; ++last) {
      depth += formula[last] == '(' ? 1 : formula[last] == ')' ? -1 : 0;
    }
    calls.push_back({std::string(formula.substr(quote + 1, end - quote - 1)),
                     std::string(formula.substr(begin, last - begin)), begin});
  }
  return calls;
}

std::size_t find_name(std::string_view formula, std::string_view name) {
  const auto belongs_to_name = [&](std::size_t i) {
    return i < formula.size() && (is_letter(formula[i]) || is_digit(formula[i]));
  };
  for (std::size_t i = formula.find(name); i != std::string_view::npos; i = formula.find(name, i + 1)) {
    if ((i == 0 || !belongs_to_name(i - 1)) && !belongs_to_name(i + name.size())) return i;
  }
  return std::string_view::npos;
}

bool is_reserved_in_formulas(std::string_view name) {
  return name == pi_name || find_formula_function(name) != nullptr;
}

std::string describe_formulas() {
  std::string text =
      "formula (language)\n"
      "  A function as text, for every key of a recipe that takes a formula.\n"
      "\n"
      "Operators, from the lowest to the highest precedence\n"
      "  a + b, a - b   sum, difference\n"
      "  a * b, a / b   product, quotient; products need the operator: 2*x, not 2x\n"
      "  -a, +a         sign\n"
      "  a ^ b          power, right-associative: 2^3^2 = 2^9, and -x^2 = -(x^2)\n"
      "  ( ... )        parentheses\n"
      "\n"
      "Functions\n";
  for (const FormulaFunction& function : formula_functions()) {
    text += fmt::format("  {:<9} {}\n", function.name, function.doc);
  }
  return text +
         "\n"
         "Constants\n"
         "  pi\n"
         "\n"
         "Notes\n"
         "  Names consist of letters, digits and `_` and begin with a letter. The description of a key says which\n"
         "  names its formula may use: coordinates, velocities (`x_dot` of `x`), the time `t`, and parameters.\n"
         "  Derivatives are exact, not differences. Values and derivatives are finite wherever those of the function\n"
         "  are, even if a part of the formula overflows, as cosh(1000) in 1/cosh(1000)^2. A factor 0 of `step` "
         "removes\n"
         "  the other factors, even where these have no value. A formula without a finite value ends the run with a\n"
         "  numerical failure.\n";
}

}  // namespace bathline
