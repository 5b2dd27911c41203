// Lagrangians given by formulas.
#pragma once

#include <vector>

#include "formula/program.hpp"
#include "model/formula/time_kinks.hpp"
#include "model/kinks_in_time.hpp"
#include "model/lagrangian.hpp"

namespace bathline {

/// L as an expression in the first 2 n + 2 variables of a graph. Derivatives are exact.
class FormulaLagrangian final : public Lagrangian, public KinksInTime {
 public:
  /// `size` is the number n of coordinates. Throws FormulaTooLarge.
  FormulaLagrangian(ExpressionGraph& graph, Expression value, int size);

  double value(const double* x) const override { return value_.run(x); }
  void gradient(const double* x, double* gradient) const override { gradient_.run(x, gradient); }
  void hessian(const double* x, double* hessian) const override { hessian_.run(x, hessian); }
  void momentum_rates(const double* x, double* rates) const override { momentum_rates_.run(x, rates); }
  bool depends_on_position(int index) const override { return depends_on_variable_[static_cast<std::size_t>(index)]; }
  bool depends_on_time() const override { return depends_on_variable_.end()[-2]; }
  bool depends_on_action() const override { return depends_on_variable_.back(); }
  std::vector<double> kinks(double from, double to) const override { return kinks_.between(from, to); }

 private:
  FormulaProgram value_, gradient_, hessian_, momentum_rates_;
  TimeKinks kinks_;
  std::vector<bool> depends_on_variable_;
};

/// The second derivatives of such an expression by q, v and z, row by row.
std::vector<FormulaOutput> lagrangian_hessian_of(ExpressionGraph& graph, Expression value, int size);

}  // namespace bathline
