// Nonlinear couplings of environments to particles, given by formulas.
#pragma once

#include <Eigen/Dense>
#include <span>
#include <vector>

#include "formula/program.hpp"

namespace bathline {

/// s(q, t), one expression for each axis of a head. The variables of the graph are the coordinates and the time, in
/// this order. Derivatives are exact.
class Coupling {
 public:
  /// Throws FormulaTooLarge.
  Coupling(ExpressionGraph& graph, std::span<const Expression> values, int coordinates);

  bool depends_on_time() const { return depends_on_time_; }
  /// s by axis.
  void value(const double* q, double t, std::span<double> s) const { run(value_, q, t, s.data()); }
  /// ds/dq, axis by axis.
  void gradient(const double* q, double t, double* gradient) const { run(gradient_, q, t, gradient); }
  /// s by axis, then ds/dq, axis by axis.
  void value_and_gradient(const double* q, double t, double* outputs) const { run(both_, q, t, outputs); }
  /// The partial derivative ds/dt by axis.
  void rate(const double* q, double t, std::span<double> rate) const { run(rate_, q, t, rate.data()); }
  /// matrix += sum_a force_a d2 s_a/dq2.
  void add_hessian(const double* q, double t, std::span<const double> force, Eigen::Ref<Eigen::MatrixXd> matrix) const;

 private:
  Coupling(ExpressionGraph& graph, std::span<const Expression> values, int coordinates,
           std::span<const FormulaOutput> gradient, std::span<const FormulaOutput> hessian,
           std::span<const FormulaOutput> rate, std::span<const FormulaOutput> both);
  void run(const FormulaProgram& program, const double* q, double t, double* outputs) const {
    std::copy_n(q, coordinates_, variables_.begin());
    variables_[coordinates_] = t;
    program.run(variables_.data(), outputs);
  }

  std::size_t coordinates_;
  FormulaProgram value_, gradient_, both_, hessian_, rate_;
  bool depends_on_time_ = false;
  mutable std::vector<double> variables_, second_;
};

}  // namespace bathline
