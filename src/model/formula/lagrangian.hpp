// Lagrangians that are formulas.
#pragma once

#include "formula/program.hpp"
#include "model/lagrangian.hpp"

namespace bathline {

/// L as an expression in the first 2 n + 1 variables of a graph, its derivatives exact.
class FormulaLagrangian final : public Lagrangian {
 public:
  /// Of `size` coordinates. Throws FormulaTooLarge.
  FormulaLagrangian(ExpressionGraph& graph, Expression value, int size);

  double value(const double* x) const override { return value_.run(x); }
  void slopes(const double* x, double* slopes) const override { slopes_.run(x, slopes); }
  void curvatures(const double* x, double* curvatures) const override { curvatures_.run(x, curvatures); }
  bool depends_on_time() const override { return depends_on_time_; }

 private:
  Program value_, slopes_, curvatures_;
  bool depends_on_time_;
};

}  // namespace bathline
