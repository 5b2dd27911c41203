// Forces given by formulas.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "formula/program.hpp"
#include "model/force.hpp"
#include "model/formula/time_kinks.hpp"
#include "model/kinks_in_time.hpp"

namespace bathline {

/// a(q, v, t, u(t)) as one expression for each degree of freedom. The variables of the graph are the positions, the
/// velocities and the time, in this order, and further ones, the last of which are controls u. Derivatives are exact.
class FormulaForce final : public Force, public KinksInTime {
 public:
  using Controls = std::function<Eigen::VectorXd(double t)>;

  /// With variables 0 to `variables` - 1, of which the last `controls` are those. Throws FormulaTooLarge.
  FormulaForce(ExpressionGraph& graph, std::span<const Expression> values, int variables, int controls);

  bool depends_on_control(std::size_t control) const { return depends_on_control_[control]; }
  bool depends_on_controls() const { return std::ranges::find(depends_on_control_, true) != depends_on_control_.end(); }
  /// The same with these controls, which are 0 before.
  std::shared_ptr<const FormulaForce> with(Controls controls) const;
  /// Derivatives of component i by control j.
  void by_controls(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t, const Eigen::VectorXd& controls,
                   Eigen::MatrixXd& by_controls) const;

  void value(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t, Eigen::VectorXd& force) const override;
  void jacobians(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t, Eigen::MatrixXd& by_q,
                 Eigen::MatrixXd& by_v) const override;
  bool depends_on_velocity() const override { return depends_on_velocity_; }
  std::vector<double> kinks(double from, double to) const override { return kinks_.between(from, to); }

 private:
  FormulaForce(const ExpressionGraph& graph, std::span<const Expression> values,
               std::span<const FormulaOutput> derivatives, int variables, int controls);
  const double* variables(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t) const;

  FormulaProgram value_, by_q_, by_v_;
  TimeKinks kinks_;
  std::vector<bool> depends_on_control_;
  std::optional<FormulaProgram> by_controls_;  // where it depends on any
  Controls controls_in_time_;
  bool depends_on_velocity_;
  mutable std::vector<double> variables_;
};

/// d(t) as one expression for each degree of freedom, in the variable with the index `time`.
class FormulaDrive final : public Drive, public KinksInTime {
 public:
  /// `rates` are the derivatives of the values by the time. Throws FormulaTooLarge.
  FormulaDrive(const ExpressionGraph& graph, std::span<const Expression> values, std::span<const FormulaOutput> rates,
               int time);

  void value(double t, Eigen::VectorXd& force) const override { run(value_, t, force); }
  void rate(double t, Eigen::VectorXd& rate) const override { run(rate_, t, rate); }
  std::vector<double> kinks(double from, double to) const override { return kinks_.between(from, to); }

 private:
  void run(const FormulaProgram& program, double t, Eigen::VectorXd& result) const {
    variables_.back() = t;
    result.resize(program.outputs());
    program.run(variables_.data(), result.data());
  }

  FormulaProgram value_, rate_;
  TimeKinks kinks_;
  mutable std::vector<double> variables_;
};

/// Derivatives of all values by the variables `first` to `first + count - 1`, value by value.
std::vector<FormulaOutput> derivatives_of(ExpressionGraph& graph, std::span<const Expression> values, int first,
                                          int count);

}  // namespace bathline
