// Programs against the same expressions in C++.
#include "formula/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "formula/batch.hpp"
#include "formula/lowering.hpp"
#include "formula/parser.hpp"
#include "random_numbers.hpp"

namespace bathline::program_test {
namespace {

using testing::ElementsAre;

TEST(FormulaProgram, FusesProductsInSums) {
  RandomNumbers random(7);
  ExpressionGraph graph;
  const FormulaNames names = {{"x", graph.variable(0)}, {"y", graph.variable(1)}, {"z", graph.variable(2)}};
  const std::vector<std::string> texts = {"x*y + z", "z + x*y",     "x*y - z",       "z - x*y", "(x + y)*z + x",
                                          "3 - x",   "x - 3",       "7*x",           "x/y",     "x^2 - y*z",
                                          "-x",      "x*y + x*y*z", "1/(x - y) - z", "x",       "5"};
  std::vector<Expression> expressions;
  for (const std::string& text : texts) expressions.push_back(parse_formula(text, names, graph));
  const FormulaProgram all(graph, expressions, 3);
  for (int i = 0; i < 100; ++i) {
    const double x = random.uniform(-2.0, 2.0), y = random.uniform(-2.0, 2.0), z = random.uniform(-2.0, 2.0);
    const double variables[] = {x, y, z};
    const double p = x * y;
    const double expected[] = {std::fma(x, y, z),
                               std::fma(x, y, z),
                               std::fma(x, y, -z),
                               std::fma(-x, y, z),
                               std::fma(x + y, z, x),
                               3.0 - x,
                               x - 3.0,
                               7.0 * x,
                               x / y,
                               NAN,  // which of the two products is fused is undefined
                               -x,
                               NAN,
                               1.0 / (x - y) - z,
                               x,
                               5.0};
    std::vector<double> outputs(texts.size());
    all.run(variables, outputs.data());
    for (std::size_t k = 0; k < texts.size(); ++k) {
      const double alone = FormulaProgram(graph, {&expressions[k], 1}, 3).run(variables);
      if (!std::isnan(expected[k])) {
        EXPECT_EQ(alone, expected[k]) << texts[k];
      }
      EXPECT_NEAR(alone, outputs[k], 1e-15 * std::max(8.0, std::abs(alone))) << texts[k];
    }
    EXPECT_NEAR(outputs[9], x * x - y * z, 4e-15);
    EXPECT_NEAR(outputs[11], p + p * z, 4e-15);
  }
}

/// The lowered expressions, each operation on its own.
std::vector<double> one_by_one(const ExpressionGraph& graph, std::span<const Expression> outputs,
                               const double* variables) {
  const LoweredExpressions lowered(graph, outputs);
  const ExpressionGraph& code = lowered.graph();
  std::vector<double> values(code.size()), results;
  for (const Expression part : code.topological_order(lowered.outputs())) {
    const ExpressionGraph::Node& node = code[part];
    const auto value = [&](int index) { return index < 0 ? 0.0 : values[static_cast<std::size_t>(index)]; };
    values[static_cast<std::size_t>(part.index)] =
        node.operation == Operation::constant   ? node.value
        : node.operation == Operation::variable ? variables[node.a]
                                                : evaluate(node.operation, value(node.a), value(node.b), value(node.c));
  }
  for (const Expression output : lowered.outputs()) results.push_back(values[static_cast<std::size_t>(output.index)]);
  return results;
}

/// The same bits, or both NaN.
bool are_same(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || (std::isnan(a) && std::isnan(b));
}
MATCHER_P(IsSameAs, expected, "") { return are_same(arg, expected); }

TEST(FormulaProgram, ComputesWhatItsOperationsDo) {
  using enum Operation;
  constexpr Operation operations[] = {add,    subtract, multiply, divide, negate,     absolute,   minimum,
                                      select, sine,     cosine,   power,  add,        arctangent, multiply,
                                      add,    subtract, multiply, divide, arctangent2};
  RandomNumbers random(11);
  const auto below = [&](std::size_t bound) {
    return static_cast<int>(random.uniform(0.0, static_cast<double>(bound)));
  };
  const double variables[] = {0.7, -1.3, 2.1};
  for (int round = 0; round < 2000; ++round) {
    ExpressionGraph graph;
    std::vector<Expression> nodes = {graph.variable(0), graph.variable(1), graph.variable(2), graph.constant(0.4)};
    // Long programs have more live results than a processor has registers.
    for (int step = 0, instructions = 4 + below(60); step < instructions; ++step) {
      const Operation operation = operations[below(std::size(operations))];
      // The previous node is an operand more often than others.
      const auto operand = [&] {
        return below(4) == 0 ? nodes.back() : nodes[static_cast<std::size_t>(below(nodes.size()))];
      };
      const Expression a = operand(), b = operand(), c = operand();
      const int count = operands(operation);
      nodes.push_back(graph.apply(operation, a, count > 1 ? b : Expression{}, count > 2 ? c : Expression{}));
    }
    const std::vector<Expression> outputs(nodes.rbegin(), nodes.rbegin() + 1 + below(nodes.size()));
    const std::vector<double> expected = one_by_one(graph, outputs, variables);
    const FormulaProgram program(graph, outputs, 3);
    for (const FormulaProgram& variant : {program, program.interpreted()}) {
      std::vector<double> actual(outputs.size());
      variant.run(variables, actual.data());
      // Where an operation is not finite, the formula is evaluated again (tests/formula/wide_evaluation_test.cpp).
      for (std::size_t i = 0; i < expected.size(); ++i) {
        if (!std::isfinite(expected[i])) continue;
        EXPECT_THAT(actual[i], IsSameAs(expected[i])) << variant.is_jit_compiled();
      }
    }
    const double first = one_by_one(graph, {outputs.data(), 1}, variables).front();
    if (!std::isfinite(first)) continue;
    EXPECT_THAT(FormulaProgram(graph, {outputs.data(), 1}, 3).run(variables), IsSameAs(first));
  }
}

TEST(FormulaProgram, IsMachineCodeHere) {
  ExpressionGraph graph;
  const Expression expression = graph.constant(1.0);
  const FormulaProgram program(graph, {&expression, 1}, 0);
  EXPECT_FALSE(program.interpreted().is_jit_compiled());
  EXPECT_EQ(program.interpreted().run(nullptr), 1.0);
  if (!program.is_jit_compiled()) GTEST_SKIP() << "this build has no AsmJit, or this processor is not supported";
  FormulaProgram other = program.interpreted();
  other = program;
  EXPECT_TRUE(other.is_jit_compiled());
  EXPECT_EQ(other.run(nullptr), 1.0);
}

// Equal programs have one function, which is kept for the next; other programs have another one, and those in use stay.
TEST(FormulaProgram, OnlyEqualProgramsShareMachineCode) {
  const auto program_of = [](Operation operation, double constant, bool swapped, int variables = 2) {
    ExpressionGraph graph;
    const Expression x = graph.variable(0), y = graph.variable(1);
    const Expression result = graph.apply(operation, x, graph.constant(constant));
    const std::array<Expression, 2> outputs = {swapped ? y : result, swapped ? result : y};
    return FormulaProgram(graph, outputs, variables);
  };
  const auto values = [](const FormulaProgram& program) {
    const std::array<double, 3> variables = {0.1, 7.0, 9.0};
    std::array<double, 2> outputs = {};
    program.run(variables.data(), outputs.data());
    return outputs;
  };
  const FormulaProgram first = program_of(Operation::add, 2.0, false);
  for (int turn = 0; turn < 2; ++turn) {
    EXPECT_THAT(values(program_of(Operation::add, 2.0, false)), ElementsAre(2.1, 7.0));
    EXPECT_THAT(values(program_of(Operation::add, 2.0, false, 3)), ElementsAre(2.1, 7.0));
    EXPECT_THAT(values(program_of(Operation::add, 2.0, true)), ElementsAre(7.0, 2.1));
    EXPECT_THAT(values(program_of(Operation::multiply, 2.0, false)), ElementsAre(0.2, 7.0));
    for (int constant = 3; constant < 500; ++constant)
      EXPECT_THAT(values(program_of(Operation::add, constant, false)), ElementsAre(0.1 + constant, 7.0));
  }
  EXPECT_THAT(values(first), ElementsAre(2.1, 7.0));
}

TEST(FormulaProgram, PowersAreProductsAndRoots) {
  ExpressionGraph graph;
  const FormulaNames names = {{"x", graph.variable(0)}};
  for (double n = -40.0; n <= 40.0; n += 0.25) {
    const Expression power = graph.apply(Operation::power, names.at("x"), graph.constant(n));
    const FormulaProgram program(graph, {&power, 1}, 1);
    for (const double x : {0.3, 1.7}) {
      EXPECT_NEAR(program.run(&x) / std::pow(x, n), 1.0, 20.0 * std::numeric_limits<double>::epsilon()) << n;
    }
  }
  const Expression square = graph.apply(Operation::power, names.at("x"), graph.constant(2.0));
  const double x = -1.1;
  EXPECT_EQ(FormulaProgram(graph, {&square, 1}, 1).run(&x), x * x);
}

TEST(FormulaProgram, IsBounded) {
  ExpressionGraph graph;
  const FormulaNames names = {{"x", graph.variable(0)}};
  Expression sum = graph.constant(0.0);
  for (int i = 0; i < 15'000; ++i) {
    const Expression term = graph.apply(Operation::divide, names.at("x"),
                                        graph.apply(Operation::add, names.at("x"), graph.constant(i + 0.5)));
    sum = graph.apply(Operation::add, sum, term);
  }
  EXPECT_THROW(FormulaProgram(graph, {&sum, 1}, 1), FormulaTooLarge);
}

TEST(FormulaProgram, FindsThePartWithoutAFiniteValue) {
  const auto part = [](const std::string& text, double x) {
    ExpressionGraph graph;
    const FormulaNames names = {{"x", graph.variable(0)}};
    return find_nonfinite_subexpression(graph, parse_formula(text, names, graph), {&x, 1});
  };
  EXPECT_EQ(part("1 + sqrt(x)", -1.0), "sqrt(-1)");
  EXPECT_EQ(part("x^2/(x - 1)", 1.0), "1/0");
  EXPECT_EQ(part("log(x) + 1", 0.0), "log(0)");
  EXPECT_EQ(part("x^(-2.25)", 0.0), "(0)^(-2.25)");
  EXPECT_EQ(part("x + 1/0", 0.0), "1/0");
  EXPECT_EQ(part("x*sqrt(2 - 3)", 0.0), "sqrt(-1)");
  EXPECT_EQ(part("exp(1000) - x", 0.0), "exp(1000)");
  EXPECT_EQ(part("x", INFINITY), "a number that is not finite");
  EXPECT_EQ(part("1 + sqrt(x)", 1.0), "");
}

TEST(FormulaProgram, PropagatesNaN) {
  ExpressionGraph graph;
  const FormulaNames names = {{"x", graph.variable(0)}, {"y", graph.variable(1)}};
  for (const std::string text : {"min(x, y)", "min(y, x)", "max(x, y)", "max(y, x)", "abs(x)", "sign(x)", "step(x)",
                                 "bessel_j(0, x)", "sin(x)", "x^3"}) {
    const Expression expression = parse_formula(text, names, graph);
    const double variables[] = {NAN, 1.0};
    EXPECT_TRUE(std::isnan(FormulaProgram(graph, {&expression, 1}, 2).run(variables))) << text;
  }
}

TEST(FormulaBatch, HasTheBitsOfTheProgramInSeveralVariables) {
  ExpressionGraph graph;
  const FormulaNames names = {{"x", graph.variable(0)}, {"y", graph.variable(1)}};
  const FormulaOutput outputs[] = {parse_formula("x/y", names, graph), parse_formula("x^2*exp(y) - 1", names, graph)};
  const FormulaBatch batch(graph, outputs, 2);
  for (const std::size_t count : {1u, 8u, 9u, 64u, 67u, 200u}) {
    std::vector<double> variables, values(2 * count, 7.0);
    for (std::size_t i = 0; i < 2 * count; ++i) variables.push_back(i % 7 == 6 ? 0.0 : 0.1 * static_cast<double>(i));
    batch.run(variables, values);
    for (std::size_t i = 0; i < count; ++i) {
      const double here[] = {variables[i], variables[count + i]};
      double expected[2];
      batch.program().run(here, expected);
      for (std::size_t o = 0; o < 2; ++o)
        EXPECT_EQ(std::bit_cast<std::uint64_t>(values[o * count + i]), std::bit_cast<std::uint64_t>(expected[o]));
    }
  }
}

TEST(FormulaBatch, HasTheBitsOfTheProgramAtEveryPoint) {
  RandomNumbers random(11);
  std::vector<double> x;
  for (int i = 0; i < 200; ++i) x.push_back(random.uniform(-3.0, 3.0));
  x[17] = 0.0;
  for (const std::string text : {"x^3 - x*2 + 1", "exp(-x) + x - 1", "sin(x)*cos(x)", "tanh(x)/cosh(x)^2",
                                 "sqrt(1 + x^2)", "log(1 + x^2)", "x", "5", "sinh(x)^2 - x^2.5",
                                 "abs(x) + max(x, 1) - sign(x)", "1/x", "tan(x)*atan(x)", "step(x)*x^4", "(2 + x)^x"}) {
    ExpressionGraph graph;
    const Expression expression = parse_formula(text, {{"x", graph.variable(0)}}, graph);
    const FormulaBatch batch(graph, expression);
    const FormulaProgram program(graph, {&expression, 1}, 1);
    for (const std::size_t count : {1u, 63u, 64u, 65u, 200u}) {
      std::vector<double> values(count, 7.0);
      batch.run(std::span(x).first(count), values);
      for (std::size_t i = 0; i < count; ++i)
        EXPECT_EQ(std::bit_cast<std::uint64_t>(values[i]), std::bit_cast<std::uint64_t>(program.run(&x[i])))
            << text << " at " << x[i];
    }
  }
}

}  // namespace
}  // namespace bathline::program_test
