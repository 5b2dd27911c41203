// Lagrangians that are formulas.
#pragma once

#include <vector>

#include "formula/program.hpp"
#include "model/lagrangian.hpp"

namespace bathline {

/// L as an expression in the first 2 n + 2 variables of a graph, its derivatives exact.
class FormulaLagrangian final : public Lagrangian {
 public:
  /// Of `size` coordinates. Throws FormulaTooLarge.
  FormulaLagrangian(ExpressionGraph& graph, Expression value, int size);

  double value(const double* x) const override { return value_.run(x); }
  void gradient(const double* x, double* slopes) const override { gradient_.run(x, slopes); }
  void hessian(const double* x, double* curvatures) const override { hessian_.run(x, curvatures); }
  void momentum_rates(const double* x, double* rates) const override { momentum_rates_.run(x, rates); }
  bool depends_on_position(int index) const override { return depends_[static_cast<std::size_t>(index)]; }
  bool depends_on_time() const override { return depends_.end()[-2]; }
  bool depends_on_action() const override { return depends_.back(); }

 private:
  FormulaProgram value_, gradient_, hessian_, momentum_rates_;
  std::vector<bool> depends_;  // on each variable
};

/// The second derivatives of such an expression by q, v and z, row by row.
std::vector<Expression> lagrangian_hessian_of(ExpressionGraph& graph, Expression value, int size);

}  // namespace bathline
