// Values of formulas, and errors of invalid text.
#include "formula/parser.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "formula/program.hpp"

namespace bathline::parser_test {
namespace {

using testing::HasSubstr;

/// At x = 3, y = -0.5, with the number k = 2.
double value_of(const std::string& text) {
  ExpressionGraph graph;
  const FormulaNames names = {{"x", graph.variable(0)}, {"y", graph.variable(1)}, {"k", graph.constant(2.0)}};
  const Expression expression = parse_formula(text, names, graph);
  const double variables[] = {3.0, -0.5};
  return FormulaProgram(graph, {&expression, 1}, 2).run(variables);
}

TEST(FormulaParser, HasThePrecedenceOfMathematics) {
  EXPECT_EQ(value_of("1 + 2*x^2"), 19.0);
  EXPECT_EQ(value_of("(1 + 2)*x^2"), 27.0);
  EXPECT_EQ(value_of("-x^2"), -9.0);
  EXPECT_EQ(value_of("2^-x"), 0.125);
  EXPECT_EQ(value_of("2^3^2"), 512.0);
  EXPECT_EQ(value_of("12/x/k"), 2.0);
  EXPECT_EQ(value_of("12/x*k"), 8.0);
  EXPECT_EQ(value_of("10 - x - k"), 5.0);
  EXPECT_EQ(value_of("- -x + +y"), 2.5);
  EXPECT_EQ(value_of("x*-y"), 1.5);
  EXPECT_EQ(value_of("\tx\n + 1e-1*10."), 4.0);
  EXPECT_EQ(value_of(".5*k"), 1.0);
  EXPECT_EQ(value_of("pi"), std::numbers::pi);
}

TEST(FormulaParser, KnowsEveryFunction) {
  const double x = 3.0, y = -0.5;
  const std::vector<std::pair<std::string, double>> cases = {
      {"sin(x)", std::sin(x)},
      {"cos(x)", std::cos(x)},
      {"tan(x)", std::tan(x)},
      {"asin(y)", std::asin(y)},
      {"acos(y)", std::acos(y)},
      {"atan(x)", std::atan(x)},
      {"atan2(y, x)", std::atan2(y, x)},
      {"sinh(x)", std::sinh(x)},
      {"cosh(x)", std::cosh(x)},
      {"tanh(y)", std::tanh(y)},
      {"exp(x)", std::exp(x)},
      {"log(x)", std::log(x)},
      {"sqrt(x)", std::sqrt(x)},
      {"pow(x, y)", std::pow(x, y)},
      {"min(x, y)", y},
      {"max(x, y)", x},
      {"abs(y)", 0.5},
      {"sign(y)", -1.0},
      {"step(y) + step(x) + step(0)", 2.0},
      {"where(x < y, 1, 0) + where(x > y, 2, 0) + where(x <= y, 4, 0) + where(x >= y, 8, 0)", 10.0},
      {"where(x == y, 1, 0) + where(x != y, 2, 0) + where(x == 3, 4, 0) + where(x != 3, 8, 0)", 6.0},
      {"where(x <= 3, 1, 0) + where(x >= 3, 2, 0) + where(x < 3, 4, 0) + where(x > 3, 8, 0)", 3.0},
      {"where(0 < x, where(x < 2*y + 1, x, y), 7)", y},
      {"bessel_j(0, x)", -0.26005195490193343762},  // abramowitz1964, tables 9.1, 9.2, 9.8
      {"bessel_j(1, -x)", -0.33905895852593645893},
      {"bessel_y(1, x)", 0.32467442479179997},
      {"bessel_i(1, -x)", -3.9533702174026093965},
      {"bessel_k(0, x)", 0.034739504386279248},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_NEAR(value_of(text), expected, 4e-15 * std::max(1.0, std::abs(expected))) << text;
  }
  for (const FormulaFunction& function : formula_functions()) {
    if (function.operation == Operation::table) continue;  // in derivative_test.cpp
    const auto is_tried = [&](const auto& this_case) {
      return this_case.first.find(std::string(function.name) + "(") == 0;
    };
    EXPECT_TRUE(std::any_of(cases.begin(), cases.end(), is_tried)) << function.name;
    EXPECT_THAT(describe_formulas(), HasSubstr(std::string("  ") + std::string(function.name) + " "));
  }
}

struct InvalidFormula {
  std::string text;
  std::size_t offset;
  std::string message;
};

TEST(FormulaParser, PointsAtMistakes) {
  const std::vector<InvalidFormula> cases = {
      {"x + sni(y)", 4, "unknown function `sni`; did you mean `sin`?"},
      {"x + kk", 4, "unknown name `kk`; did you mean `k`?"},
      {"x + bathline", 4, "known are `k`, `x`, `y`, `pi`"},
      {"sin(x, y)", 0, "`sin` takes 1 argument, not 2"},
      {"2*atan2(x)", 2, "`atan2` takes 2 arguments, not 1"},
      {"sin()", 0, "`sin` takes 1 argument, not 0"},
      {"table('a', x)", 6, "formulas here cannot read tables"},
      {"table('a, x)", 6, "expected a file's name in quotes"},
      {"sin x", 0, "needs its argument in parentheses"},
      {"x(y)", 1, "`x` is not a function"},
      {"2x", 1, "products are written with `*`"},
      {"x y", 2, "an operator is missing"},
      {"x**2", 1, "powers are written with `^`"},
      {"(x + y", 6, "`(` at character 1 is not closed"},
      {"x + y)", 5, "`)` without a matching"},
      {"sin(x", 5, "not closed"},
      {"x, y", 1, "outside of the arguments"},
      {"x = y", 2, "only the right-hand side"},
      {"x + ", 4, "ends where"},
      {"x + * y", 4, "not `*`"},
      {"", 0, "empty"},
      {" ", 0, "empty"},
      {"1e999", 0, "outside the range of a double"},
      {"1.2.3", 3, "follows a number"},
      {"x + \xc3\xa4", 4, "not `\xc3\xa4`"},
      {"bessel_j(0.5, x)", 9, "whole number"},
      {"x*(x < 1)", 5, "where(x < 1, a, b)"},
      {"x*(x >= 1)", 5, "`step(x)` is 1 for x >= 0"},
      {"x == 0", 2, "the first argument of `where`"},
      {"(y == 0)", 3, "the first argument of `where`"},
      {"!x", 0, "the first argument of `where`"},
      {"if(x < 1, x, y)", 0, "the first argument of `where`"},
      {"x if x < 1 else y", 2, "the first argument of `where`"},
      {"x < 1 ? x : y", 2, "the first argument of `where`"},
      {"where(0 < x < 1, x, y)", 12, "one comparison"},
      {"where(x > 0 and x < 1, x, y)", 12, "also nested"},
      {"where(x, x, y)", 7, "the first argument of `where` is a comparison"},
      {"where(x = 1, x, y)", 8, "equality is written `==`"},
      {"where(x < 1, x)", 0, "`where` takes 3 arguments, not 2"},
      {"heaviside(x)", 0, "write `step(x)`"},
      {"sech(x)^2", 0, "write `1/cosh(x)`"},
      {"bessel_j(x, 1)", 9, "whole number"},
  };
  for (const InvalidFormula& invalid : cases) {
    try {
      value_of(invalid.text);
      ADD_FAILURE() << invalid.text;
    } catch (const FormulaError& error) {
      EXPECT_EQ(error.offset(), invalid.offset) << invalid.text;
      EXPECT_THAT(error.what(), HasSubstr(invalid.message)) << invalid.text;
    }
  }
}

TEST(FormulaParser, BoundsLengthAndDepth) {
  EXPECT_THROW(value_of(std::string(50'000, '(')), FormulaError);
  EXPECT_THROW(value_of(std::string(50'000, '-') + "x"), FormulaError);
  std::string powers = "x";
  for (int i = 0; i < 10'000; ++i) powers += "^x";
  EXPECT_THROW(value_of(powers), FormulaError);
  EXPECT_THROW(value_of(std::string(max_formula_bytes, ' ') + "x"), FormulaError);
  // A long sum is not deeply nested.
  std::string sum = "x";
  for (int i = 0; i < 10'000; ++i) sum += "+y";
  EXPECT_EQ(value_of(sum), 3.0 - 5'000.0);
}

TEST(FormulaParser, KnowsReservedNames) {
  EXPECT_TRUE(is_reserved_in_formulas("pi"));
  EXPECT_TRUE(is_reserved_in_formulas("sin"));
  EXPECT_FALSE(is_reserved_in_formulas("x"));
}

}  // namespace
}  // namespace bathline::parser_test
