// Tested by tests/model/systems/pair_potential_test.cpp.
#include "model/formula/index_formula.hpp"

#include <fmt/format.h>

#include "formula/program.hpp"
#include "model/formula/scope.hpp"
#include "recipe/describe.hpp"

namespace bathline {

Eigen::VectorXd evaluate_by_index(const Section& section, const std::string& key, int count, Bound bound,
                                  Mistakes& mistakes, std::size_t index) {
  Eigen::VectorXd values = Eigen::VectorXd::Zero(count);
  FormulaScope scope;
  scope.add_variable("i");
  scope.names["n"] = scope.graph.constant(count);
  const std::optional<Expression> formula = read_formula(section, key, scope, mistakes, index);
  if (!formula) return values;
  const FormulaProgram program(scope.graph, {&*formula, 1}, 1);
  for (int particle = 0; particle < count; ++particle) {
    const double i = particle;
    const double value = program.run(&i);
    if (!check_finite(section, key, fmt::format("for i = {} the formula", particle), scope, {*formula}, {&i, 1},
                      mistakes, index)) {
      break;
    }
    if (const char* broken = broken_bound(value, bound)) {
      mistakes.add(section.where_in_text(key, 0, index),
                   fmt::format("{}: for i = {} the formula is {:.6g}: {}{}", key, particle, value, broken,
                               key == "masses" && value == 0.0 ? how_to_hold : ""));
      break;
    }
    values[particle] = value;
  }
  return values;
}

Eigen::VectorXd read_by_particle(const Section& section, const std::string& key, int count, Bound bound,
                                 Mistakes& mistakes) {
  if (section.holds<std::string>(key)) return evaluate_by_index(section, key, count, bound, mistakes);
  if (section.holds<double>(key)) return Eigen::VectorXd::Constant(count, section.number(key));
  const std::vector<double>& numbers = section.numbers(key);
  if (static_cast<int>(numbers.size()) == count) return Eigen::Map<const Eigen::VectorXd>(numbers.data(), count);
  mistakes.add(section.where(key),
               fmt::format("`{}` has {} numbers for {} particles; one number is for all, and a formula contains the "
                           "index `i` of a particle and their number `n`",
                           key, numbers.size(), count));
  return Eigen::VectorXd::Zero(count);
}

}  // namespace bathline
