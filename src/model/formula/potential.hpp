// Potentials given by formulas.
#pragma once

#include "formula/batch.hpp"
#include "model/batched_derivatives.hpp"
#include "model/potential.hpp"

namespace bathline {

/// Whether V = q^T K q / 2 up to a constant in the first `size` variables: the second derivatives are constant, the
/// first vanish at the origin, and V is not piecewise, as abs(x) is.
bool is_quadratic_form(ExpressionGraph& graph, Expression value, int size);

/// V(q) as an expression in the first `size` variables of a graph. Derivatives are exact.
class FormulaPotential final : public Potential, public BatchedHessian {
 public:
  /// Throws FormulaTooLarge.
  FormulaPotential(ExpressionGraph& graph, Expression value, int size);

  double value(const Eigen::VectorXd& q) const override { return value_.run(q.data()); }
  void gradient(const Eigen::VectorXd& q, Eigen::VectorXd& gradient) const override {
    gradient.resize(q.size());
    gradient_.run(q.data(), gradient.data());
  }
  void hessian(const Eigen::VectorXd& q, Eigen::MatrixXd& hessian) const override {
    // Eigen's resize divides to check for overflow, which takes longer than a short formula.
    if (hessian.rows() != q.size() || hessian.cols() != q.size()) [[unlikely]]
      hessian.resize(q.size(), q.size());
    hessian_.program().run(q.data(), hessian.data());
  }
  void hessians(const Eigen::MatrixXd& q, Eigen::MatrixXd& hessians) const override;
  bool is_quadratic() const override { return is_quadratic_; }

 private:
  FormulaProgram value_, gradient_;
  FormulaBatch hessian_;
  bool is_quadratic_;
};

}  // namespace bathline
