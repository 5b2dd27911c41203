// Nonlinear couplings of environments to particles, given by formulas.
// Tested by tests/study/coupling_test.cpp.
#include "model/formula/coupling.hpp"

#include "model/formula/force.hpp"

namespace bathline {

namespace {

std::vector<FormulaOutput> second_derivatives(ExpressionGraph& graph, std::span<const Expression> values, int count) {
  std::vector<FormulaOutput> all;
  for (const Expression& value : values) {
    for (const FormulaOutput& output : hessian_of(graph, value, 0, count)) all.push_back(output);
  }
  return all;
}

std::vector<FormulaOutput> value_and_derivatives(ExpressionGraph& graph, std::span<const Expression> values,
                                                 int count) {
  std::vector<FormulaOutput> all(values.begin(), values.end());
  for (const FormulaOutput& output : derivatives_of(graph, values, 0, count)) all.push_back(output);
  return all;
}

}  // namespace

Coupling::Coupling(ExpressionGraph& graph, std::span<const Expression> values, int coordinates)
    : Coupling(graph, values, coordinates, derivatives_of(graph, values, 0, coordinates),
               second_derivatives(graph, values, coordinates), derivatives_of(graph, values, coordinates, 1),
               value_and_derivatives(graph, values, coordinates)) {}

Coupling::Coupling(ExpressionGraph& graph, std::span<const Expression> values, int coordinates,
                   std::span<const FormulaOutput> gradient, std::span<const FormulaOutput> hessian,
                   std::span<const FormulaOutput> rate, std::span<const FormulaOutput> both)
    : coordinates_(static_cast<std::size_t>(coordinates)),
      value_(graph, values, coordinates + 1),
      gradient_(graph, gradient, coordinates + 1),
      both_(graph, both, coordinates + 1),
      hessian_(graph, hessian, coordinates + 1),
      rate_(graph, rate, coordinates + 1),
      variables_(coordinates_ + 1),
      second_(hessian.size()) {
  for (const Expression& value : values) {
    depends_on_time_ = depends_on_time_ || graph.depends(value, coordinates);
  }
}

void Coupling::add_hessian(const double* q, double t, std::span<const double> force,
                           Eigen::Ref<Eigen::MatrixXd> matrix) const {
  run(hessian_, q, t, second_.data());
  const auto n = static_cast<Eigen::Index>(coordinates_);
  for (std::size_t axis = 0; axis < force.size(); ++axis) {
    matrix +=
        force[axis] * Eigen::Map<const Eigen::MatrixXd>(second_.data() + axis * coordinates_ * coordinates_, n, n);
  }
}

}  // namespace bathline
