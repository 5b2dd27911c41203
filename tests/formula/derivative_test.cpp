// Derivatives against differences of values and against closed forms.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "differences.hpp"
#include "formula/parser.hpp"
#include "formula/program.hpp"
#include "formula/table.hpp"

namespace bathline::derivative_test {
namespace {

/// Of 1 + x - 2 x^2 + 0.5 x^3, whatever the file.
TableNumber cubic_table(const std::string& file, bool is_linear) {
  std::vector<double> knots = {-1.0, 0.0, 0.2, 0.5, 1.7, 2.0}, values;
  for (const double x : knots) values.push_back(1.0 + x * (1.0 + x * (-2.0 + 0.5 * x)));
  return table_number(file, knots, values, is_linear);
}

struct Formula {
  explicit Formula(const std::string& text) {
    const FormulaNames names = {{"x", graph.variable(0)}, {"y", graph.variable(1)}};
    value = parse_formula(text, names, graph, cubic_table);
  }
  Eigen::VectorXd run(const std::vector<FormulaOutput>& outputs, const Eigen::VectorXd& position) const {
    Eigen::VectorXd results(static_cast<Eigen::Index>(outputs.size()));
    FormulaProgram(graph, outputs, 2).run(position.data(), results.data());
    return results;
  }
  ExpressionGraph graph;
  Expression value;
};

/// The rules for symbols and those for wide numbers are written independently of each other.
void expect_same_in_wide_numbers(const Formula& formula, const std::vector<FormulaOutput>& outputs,
                                 const Eigen::VectorXd& position, const std::string& text) {
  const Eigen::VectorXd expected = formula.run(outputs, position);
  const WideEvaluation wide(formula.graph, outputs, 2);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    EXPECT_NEAR(wide.output(i, position.data()), expected[static_cast<Eigen::Index>(i)],
                2e-13 * std::max(1.0, expected.norm()))
        << text << ", output " << i;
  }
}

/// Differences of order six have a relative error of about 1e-11.
void expect_exact_derivatives(const std::string& text, const Eigen::VectorXd& position) {
  Formula formula(text);
  const std::vector<FormulaOutput> gradient = gradient_of(formula.graph, formula.value, 0, 2);
  const std::vector<FormulaOutput> hessian = hessian_of(formula.graph, formula.value, 0, 2);
  const auto values = [&](const Eigen::VectorXd& x) { return formula.run({formula.value}, x); };
  const auto gradient_at = [&](const Eigen::VectorXd& x) { return formula.run(gradient, x); };
  const Eigen::VectorXd expected = jacobian_of(values, position, 2e-3).transpose();
  EXPECT_LT((gradient_at(position) - expected).norm(), 1e-9 * std::max(1.0, expected.norm())) << text;
  const Eigen::MatrixXd second = jacobian_of(gradient_at, position, 2e-3);
  const Eigen::VectorXd actual = formula.run(hessian, position);
  EXPECT_LT((Eigen::Map<const Eigen::MatrixXd>(actual.data(), 2, 2) - second).norm(),
            1e-9 * std::max(1.0, second.norm()))
      << text;
  expect_same_in_wide_numbers(formula, {formula.value}, position, text);
  expect_same_in_wide_numbers(formula, gradient, position, text);
  expect_same_in_wide_numbers(formula, hessian, position, text);
}

TEST(FormulaDerivatives, OfEveryFunctionAreExact) {
  for (const FormulaFunction& function : formula_functions()) {
    // Inner derivatives that do not vanish, and values between 0 and 1, which are in the domain of all.
    const std::string u = "(0.2 + 0.5*x*y)", v = "(0.3 + 0.1*x + 0.2*y^2)", name(function.name);
    std::vector<std::string> calls;
    if (function.has_order) {
      for (const std::string order : {"0", "1", "2", "5"}) calls.push_back(name + "(" + order + ", " + v + ")");
    } else if (function.operation == Operation::select) {
      calls = {name + "(x < y, " + u + ", " + v + ")", name + "(x >= y, " + u + ", " + v + ")"};
    } else if (function.operation == Operation::table) {
      calls = {"table('a', " + v + ")", "table('a', " + v + ", 'linear')"};
    } else if (function.arguments == 1) {
      calls.push_back(name + "(" + u + ")");
    } else {
      calls = {name + "(" + u + ", " + v + ")", name + "(" + v + ", " + u + ")"};
    }
    for (const std::string& call : calls) expect_exact_derivatives("x*" + call + " + y", Eigen::Vector2d(0.6, 0.9));
  }
}

TEST(FormulaTables, OfACubicPolynomialAreTheCubic) {
  for (const double x : {-1.9, -1.0, -0.3, 0.1, 0.5, 1.0, 1.9, 2.3}) {
    Formula cubic("table('a', x)"), lines("table('a', x, 'linear')");
    std::vector<FormulaOutput> outputs = {cubic.value};
    for (int i = 0; i < 4; ++i) outputs.push_back(outputs.back().differentiated(cubic.graph, 0));
    const Eigen::VectorXd found = cubic.run(outputs, Eigen::Vector2d(x, 0.0));
    Eigen::VectorXd expected(5);
    expected << 1.0 + x - 2.0 * x * x + 0.5 * x * x * x, 1.0 - 4.0 * x + 1.5 * x * x, -4.0 + 3.0 * x, 3.0, 0.0;
    // Round-off of second differences over the smallest interval, 0.2.
    EXPECT_LT((found - expected).norm(), 1e-12) << x;
    const double a = x < 0.0 ? -1.0 : x < 0.2 ? 0.0 : x < 0.5 ? 0.2 : x < 1.7 ? 0.5 : 1.7;
    const double b = x < 0.0 ? 0.0 : x < 0.2 ? 0.2 : x < 0.5 ? 0.5 : x < 1.7 ? 1.7 : 2.0;
    const auto f = [](double y) { return 1.0 + y - 2.0 * y * y + 0.5 * y * y * y; };
    EXPECT_NEAR(lines.run({lines.value}, Eigen::Vector2d(x, 0.0))[0], f(a) + (f(b) - f(a)) * (x - a) / (b - a), 1e-14);
  }
  Formula cubic("table('a', x)");
  for (const double x : {-2.1, 2.4}) EXPECT_TRUE(std::isnan(cubic.run({cubic.value}, Eigen::Vector2d(x, 0.0))[0]));
}

TEST(FormulaTables, ExistAsLongAsTheProgramsThatContainThem) {
  const std::vector<double> knots = {0.0, 1.0};
  const auto table = [&](double value) { return table_number("file", knots, std::vector<double>{value, value}, true); };
  std::optional<FormulaProgram> program;
  double number = 0.0;
  {
    ExpressionGraph graph;
    const Expression value = graph.interpolant(table(2.0), graph.variable(0));
    program.emplace(graph, std::span<const Expression>(&value, 1), 1);
    number = *table(2.0);  // equal tables are one
  }
  EXPECT_NE(*table(3.0), number);
  const double x = 0.5;
  EXPECT_EQ(program->run(&x), 2.0);
  program.reset();
  EXPECT_EQ(*table(4.0), number);  // the place is free
}

TEST(FormulaDerivatives, OfOperatorsAreExact) {
  for (const std::string text :
       {"x + 3*y", "x*y - y/x", "-(x^2)*y", "(x + y)^3/(1 + x^2)", "2^x*x^2.5", "x^y", "(x*y)^-1.5",
        "1/(x^2 + y^2)^0.5", "x^40*y", "x^-3 + y^7", "(2*x)*(3*y)/7 - (-x)*(y/3)", "x - (-y)*(-x)*y",
        "exp(x - y)*exp(x - y)", "abs(x - y)^2.5", "sqrt(x*y)^3", "(x*y)^40.5", "cosh(25*x)/exp(20*y)"}) {
    expect_exact_derivatives(text, Eigen::Vector2d(0.7, 1.1));
  }
}

TEST(FormulaDerivatives, OfPiecewiseFunctionsAreThoseOfTheActivePiece) {
  const auto slope = [](const std::string& text, double x) {
    Formula formula(text);
    return formula.run({formula.graph.derivative(formula.value, 0)}, Eigen::Vector2d(x, 0.0))[0];
  };
  EXPECT_EQ(slope("abs(x)", -2.0), -1.0);
  EXPECT_EQ(slope("min(x^2, x)", 0.5), 1.0);
  EXPECT_EQ(slope("min(x^2, x)", 3.0), 1.0);
  EXPECT_EQ(slope("max(x^2, x)", 3.0), 6.0);
  EXPECT_EQ(slope("step(x)*x^2", 3.0), 6.0);
  EXPECT_EQ(slope("step(x)*x^2", -3.0), 0.0);
  EXPECT_EQ(slope("sign(x)*x", -3.0), -1.0);
  // One piece has no derivative here; the other must not be affected.
  EXPECT_EQ(slope("max(x, sqrt(x - 1) - 5)", 1.0), 1.0);
}

TEST(FormulaDerivatives, AreSimplified) {
  ExpressionGraph graph;
  const FormulaNames names = {{"x", graph.variable(0)}, {"y", graph.variable(1)}};
  const Expression V = parse_formula("0.5*(x^2 + y^2) + x^2*y - y^3/3", names, graph);
  const std::vector<FormulaOutput> second = hessian_of(graph, V, 0, 2);
  const auto parsed = [&](const std::string& text) { return parse_formula(text, names, graph); };
  const Expression xx = second[0].expression, xy = second[1].expression;
  EXPECT_EQ(xy, parsed("2*x"));
  EXPECT_EQ(xy, second[2].expression);
  EXPECT_TRUE(graph.is_constant(graph.derivative(xx, 1), 2.0));
  EXPECT_TRUE(graph.is_constant(graph.derivative(xx, 0), 0.0));
  EXPECT_FALSE(graph.depends(xx, 0));
  EXPECT_TRUE(graph.depends(xx, 1));
}

}  // namespace
}  // namespace bathline::derivative_test
