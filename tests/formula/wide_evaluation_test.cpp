// Formulas whose parts overflow, or have no value beside a factor that is zero, against values of mpmath with 1200
// digits and against limits.
#include "formula/wide_evaluation.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "formula/parser.hpp"
#include "formula/program.hpp"
#include "formula/wide_number.hpp"

namespace bathline::wide_evaluation_test {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// Value, gradient and Hessian by x and y (xx, xy, yx, yy), by machine code and by the interpreter.
std::vector<double> evaluate_formula(const std::string& text, double x, double y) {
  ExpressionGraph graph;
  const FormulaNames names = {{"x", graph.variable(0)}, {"y", graph.variable(1)}};
  const Expression value = parse_formula(text, names, graph);
  std::vector<FormulaOutput> outputs = {value};
  for (const FormulaOutput& output : gradient_of(graph, value, 0, 2)) outputs.push_back(output);
  for (const FormulaOutput& output : hessian_of(graph, value, 0, 2)) outputs.push_back(output);
  const FormulaProgram program(graph, outputs, 2);
  const double position[] = {x, y};
  std::vector<double> results(outputs.size()), interpreted(outputs.size());
  program.run(position, results.data());
  program.interpreted().run(position, interpreted.data());
  for (std::size_t i = 0; i < results.size(); ++i) {
    EXPECT_TRUE(std::bit_cast<std::uint64_t>(results[i]) == std::bit_cast<std::uint64_t>(interpreted[i]) ||
                (std::isnan(results[i]) && std::isnan(interpreted[i])))
        << text;
    // A part without a value is reported for exactly those outputs that have none.
    EXPECT_EQ(find_nonfinite_subexpression(graph, outputs[i], position).empty(), std::isfinite(results[i]))
        << text << " at " << x << ", " << y << ", output " << i;
  }
  return results;
}

/// Either may be without a finite value.
void expect_near(double actual, double expected, const std::string& what) {
  if (std::isnan(expected)) {
    EXPECT_FALSE(std::isfinite(actual)) << what << ": " << actual;
  } else {
    // Where terms of size 1 cancel their round-off is left, and finite results of doubles may have underflown.
    const double tolerance = expected == 0.0 ? 1e-13 : 1e-12 * std::abs(expected) + 1e-100;
    EXPECT_NEAR(actual, expected, tolerance) << what;
  }
}

TEST(WideEvaluation, FormulasAreFiniteWhereTheirPartsOverflow) {
  struct {
    std::string text;
    double x, value, first, second;
  } const cases[] = {
      {"-2/cosh(0.5*x)^2", -1600.0, 0.0, 0.0, 0.0},
      {"-2/cosh(0.5*x)^2", 800.0, 0.0, 0.0, 0.0},
      {"-2/cosh(0.5*x)^2", 1440.0, 0.0, 0.0, 0.0},
      {"1/(1 + exp(-x))", -800.0, 0.0, 0.0, 0.0},
      {"1/(1 + exp(-x))", -712.0, 0.0, 0.0, 0.0},
      {"1/(1 + exp(-x))", 800.0, 1.0, 0.0, 0.0},
      {"1/(1 + exp(-5*x))", -200.0, 0.0, 0.0, 0.0},
      {"-50/(1 + exp((x - 5)/0.25))", 400.0, 0.0, 0.0, 0.0},
      {"-50/(1 + exp((x - 5)/0.25))", -400.0, -50.0, 0.0, 0.0},
      {"-50/(1 + exp((x - 5)/0.25))", 184.5, 0.0, 0.0, 0.0},
      {"4/(exp(x) + exp(-x))^2", 400.0, 0.0, 0.0, 0.0},
      {"4/(exp(x) + exp(-x))^2", -800.0, 0.0, 0.0, 0.0},
      {"2*tanh(x) - 3/cosh(x)^2", 720.0, 2.0, 0.0, 0.0},
      {"2*tanh(x) - 3/cosh(x)^2", -720.0, -2.0, 0.0, 0.0},
      {"cosh(x)/sinh(x)", 800.0, 1.0, 0.0, 0.0},
      {"cosh(x)/sinh(x)", -800.0, -1.0, 0.0, 0.0},
      {"sinh(x)/cosh(x)", 800.0, 1.0, 0.0, 0.0},
      {"sinh(x)/cosh(x)^3", 500.0, 0.0, 0.0, 0.0},
      {"sinh(x)/cosh(x)^3", -340.0, -1.913428758812214e-295, -3.826857517624428e-295, -7.653715035248856e-295},
      {"1/tanh(exp(x))", 720.0, 1.0, 0.0, 0.0},
      {"log(1 + exp(x))", 800.0, 800.0, 1.0, 0.0},
      {"log(1 + exp(x))", -800.0, 0.0, 0.0, 0.0},
      {"log(1 + exp(x))", 3000.0, 3000.0, 1.0, 0.0},
      {"log(cosh(x))", 900.0, 899.3068528194401, 1.0, 0.0},
      {"log(cosh(x))", -900.0, 899.3068528194401, -1.0, 0.0},
      {"log(exp(x) + exp(-x))^2", 1000.0, 1000000.0, 2000.0, 2.0},
      {"x*exp(-x)/(1 + exp(-x))^2", -750.0, 0.0, 0.0, 0.0},
      {"x*exp(-x)/(1 + exp(-x))^2", -400.0, -7.660678386856023e-172, -7.641526690888882e-172, -7.622374994921742e-172},
      {"exp(-exp(-x))", -800.0, 0.0, 0.0, 0.0},
      {"(exp(x) + exp(-x))^-0.25", 1200.0, 5.148200222412013e-131, -1.2870500556030034e-131, 3.2176251390075084e-132},
      {"(exp(x) + exp(-x))^-0.25", -1200.0, 5.148200222412013e-131, 1.2870500556030034e-131, 3.2176251390075084e-132},
      {"(1 + exp(-x))^-0.5", -900.0, 3.693883068487256e-196, 1.846941534243628e-196, 9.23470767121814e-197},
      {"exp(x)/(1 + exp(x))^1.5", 800.0, 1.9151695967140057e-174, -9.575847983570028e-175, 4.787923991785014e-175},
      {"2^x/(1 + 2^x)", 2000.0, 1.0, 0.0, 0.0},
      {"x^x/(1 + x^x)", 400.0, 1.0, 0.0, 0.0},
      {"1/(1 + x^200)", 50.0, 0.0, 0.0, 0.0},
      {"x^4/(1 + x^4)", 1e+100, 1.0, 0.0, 0.0},
      {"atan(exp(x))", 800.0, 1.5707963267948966, 0.0, 0.0},
      {"exp(x - 700)*cosh(x)/cosh(x)", 711.0, 59874.14171519782, 59874.14171519782, 59874.14171519782},
  };
  for (const auto& [text, x, value, first, second] : cases) {
    const std::vector<double> actual = evaluate_formula(text, x, 0.0);
    const std::string what = text + " at " + std::to_string(x);
    expect_near(actual[0], value, what);
    expect_near(actual[1], first, what + ", first derivative");
    expect_near(actual[3], second, what + ", second derivative");
  }
}

TEST(WideEvaluation, AFactorThatVanishesInANeighbourhoodRemovesTheOthers) {
  struct {
    std::string text;
    double x, value, first, second;
  } const cases[] = {
      {"step(x)*log(x)", -1.0, 0.0, 0.0, 0.0},
      {"log(x)*step(x)", -1.0, 0.0, 0.0, 0.0},
      {"3*log(x)*step(x)*x^2/7", -1.0, 0.0, 0.0, 0.0},
      {"5 - step(x)*log(x)/x", 0.0 - 1.0, 5.0, 0.0, 0.0},
      {"step(x - 1)/x", 0.0, 0.0, 0.0, 0.0},
      {"step(x - 1)*(x - 1)^1.5", 0.5, 0.0, 0.0, 0.0},
      {"(step(x)*sqrt(x))^2", -4.0, 0.0, 0.0, 0.0},
      {"sqrt(step(x)*x)", -4.0, 0.0, 0.0, 0.0},
      {"(1 - step(x))*x^2 + step(x)*sqrt(x)", -2.0, 4.0, -4.0, 2.0},
      {"(1 - step(x))*sqrt(-x) + step(x)*x^3", 2.0, 8.0, 12.0, 12.0},
      {"(1 + sign(x))/2*sqrt(x) + x", -1.0, -1.0, 1.0, 0.0},
      {"step(x)*step(x - 2)*sqrt(x - 2) + x^2", 1.0, 1.0, 2.0, 2.0},
      {"step(x)*(x + step(x - 2)*sqrt(x - 2))", 1.0, 1.0, 1.0, 0.0},
      {"step(step(x) - 0.5)*log(x)", -1.0, 0.0, 0.0, 0.0},
      {"step(x)^2*log(x)", -1.0, 0.0, 0.0, 0.0},
      {"max(x, 0)*log(x)", -1.0, 0.0, 0.0, 0.0},
      {"min(0, x)*log(-x)", 1.0, 0.0, 0.0, 0.0},
      {"where(x > 0, 1, 0)*log(x)", -1.0, 0.0, 0.0, 0.0},
      {"where(x > 0, log(x), exp(-x)/(1 + exp(-x)))", -800.0, 1.0, 0.0, 0.0},
      {"step(x)/(exp(x) - 1) + 1/(1 + exp(-x))", -800.0, 0.0, 0.0, 0.0},
      // Nothing is removed here.
      {"x*log(x)", 0.0, none, none, none},
      {"step(x)*sqrt(x)", 0.0, 0.0, none, none},
      {"(x - 1)*sqrt(-x)", 1.0, none, none, none},
      {"where(sqrt(x) < 1, x^2, x^3)", -1.0, none, none, none},
      {"sign(x)*sqrt(abs(x))", 0.0, 0.0, none, none},
  };
  for (const auto& [text, x, value, first, second] : cases) {
    const std::vector<double> actual = evaluate_formula(text, x, 0.0);
    expect_near(actual[0], value, text);
    expect_near(actual[1], first, text + ", first derivative");
    expect_near(actual[3], second, text + ", second derivative");
  }
}

// r = sqrt(x^2 + y^2) has no gradient at the origin, but r^p has one for p > 1 and a Hessian for p > 2 and p = 2.
TEST(WideEvaluation, PowersOfADistanceHaveTheDerivativesThatExist) {
  struct {
    std::string text;
    double value, first, second;  ///< the gradient is (first, first), the Hessian second I
  } const cases[] = {
      {"30*step(sqrt(x^2 + y^2) - 0.4)*(sqrt(x^2 + y^2) - 0.4)^2", 0.0, 0.0, 0.0},
      {"step(sqrt(x^2 + y^2) - 0.4)*30*(sqrt(x^2 + y^2) - 0.4)^2", 0.0, 0.0, 0.0},
      {"(sqrt(x^2 + y^2) - 0.4)^2*step(sqrt(x^2 + y^2) - 0.4)/2", 0.0, 0.0, 0.0},
      {"where(sqrt(x^2 + y^2) > 0.4, (sqrt(x^2 + y^2) - 0.4)^2, 0)", 0.0, 0.0, 0.0},
      {"max(sqrt(x^2 + y^2) - 0.4, 0)^2", 0.0, 0.0, 0.0},
      {"sqrt(x^2 + y^2)^2", 0.0, 0.0, 2.0},
      {"sqrt(x^2 + y^2)*sqrt(x^2 + y^2)", 0.0, 0.0, 2.0},
      {"(sqrt(x^2 + y^2)^2 - 1)^2", 1.0, 0.0, -4.0},
      {"sqrt(x^2 + y^2)^3", 0.0, 0.0, 0.0},
      {"(x^2 + y^2)^1.25", 0.0, 0.0, 0.0},
      {"sqrt(x^2 + y^2)^1.9", 0.0, 0.0, none},
      {"(x^2 + y^2)^0.75", 0.0, 0.0, none},
      {"sqrt(x^2 + y^2)", 0.0, none, none},
      {"(x^2 + y^2)^0.25", 0.0, none, none},
      {"sqrt(x^2 + y^2)^-1", none, none, none},
      {"abs(x)^1.9 + abs(y)^1.9", 0.0, 0.0, none},
      {"abs(x)^1.5 + abs(y)^1.5", 0.0, 0.0, none},
      {"abs(x)^3 + abs(y)^3", 0.0, 0.0, 0.0},
      {"(x^2)^0.95 + (y^2)^0.95", 0.0, 0.0, none},
  };
  for (const auto& [text, value, first, second] : cases) {
    const std::vector<double> actual = evaluate_formula(text, 0.0, 0.0);
    expect_near(actual[0], value, text);
    for (const int i : {1, 2}) expect_near(actual[i], first, text + ", gradient");
    for (const int i : {3, 6}) expect_near(actual[i], second, text + ", Hessian");
    if (!std::isnan(second)) {
      expect_near(actual[4], 0.0, text + ", Hessian");
    }
  }
  // exp(-r) r^2 = r^2 - r^3 + ...
  expect_near(evaluate_formula("exp(-sqrt(x^2 + y^2))*(x^2 + y^2)", 0.0, 0.0)[1], 0.0, "gradient of exp(-r) r^2");
}

TEST(WideEvaluation, NamesThePartWithoutAValue) {
  const auto part = [](const std::string& text, double x) {
    ExpressionGraph graph;
    const FormulaNames names = {{"x", graph.variable(0)}};
    return find_nonfinite_subexpression(graph, parse_formula(text, names, graph), {&x, 1});
  };
  EXPECT_EQ(part("1/cosh(x)^2 + sqrt(x)", -800.0), "sqrt(-800)");
  EXPECT_EQ(part("step(x)*log(x) + x^0.25", -1.0), "(-1)^(0.25)");
  EXPECT_EQ(part("1/cosh(x)^2", -800.0), "");
}

TEST(WideNumber, IsADoubleWithAWiderExponent) {
  for (const double x : {0.3, -7.25, 1e-300, 4e300}) {
    EXPECT_EQ(WideNumber(x).value(), x);
    EXPECT_DOUBLE_EQ((WideNumber(x) * x / x).value(), x);
    EXPECT_EQ((WideNumber(x) + x).value(), 2.0 * x);
  }
  const WideNumber large = wide_exp(5000.0);
  EXPECT_EQ(large.value(), std::numeric_limits<double>::infinity());
  EXPECT_NEAR(wide_log(large).value(), 5000.0, 1e-11);
  EXPECT_NEAR(wide_log(wide_power(large, 1000.25)).value(), 5001250.0, 1e-8);
  EXPECT_NEAR(wide_log(wide_root(large)).value(), 2500.0, 1e-11);
  EXPECT_NEAR((wide_power(large, -2.0) * large * large).value(), 1.0, 1e-12);
  EXPECT_NEAR((wide_cosh(-5000.0) / large).value(), 0.5, 1e-15);
  EXPECT_NEAR(wide_atan2(large, WideNumber(2.0) * large).value(), std::atan(0.5), 1e-15);
  EXPECT_EQ((large + -large).value(), 0.0);
  EXPECT_EQ((WideNumber() * WideNumber::undefined()).value(), 0.0);
  EXPECT_TRUE(std::isnan((WideNumber(0.0) * WideNumber::undefined()).value()));
  EXPECT_EQ((WideNumber(0.0) * WideNumber::bounded()).value(), 0.0);
  EXPECT_TRUE(std::isnan((WideNumber(1.0) * WideNumber::bounded()).value()));
}

}  // namespace
}  // namespace bathline::wide_evaluation_test
