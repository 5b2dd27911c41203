// Costs of optimal control and their derivatives, and the derivatives of a system's forces by its parameters.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "formula/batch.hpp"
#include "model/particle_system.hpp"
#include "recipe/mistakes.hpp"
#include "recipe/section.hpp"

namespace bathline {

class ControlledDrive;

/// What costs are formulas of, one after the other: positions, velocities, the time, the values of the controls, and
/// the numbers of `parameters` of the system.
class CostVariables {
 public:
  CostVariables(const ParticleSystem& system, const Section& section);

  Eigen::Index size() const { return parameters() + static_cast<Eigen::Index>(parameter_names_.size()); }
  Eigen::Index velocities() const { return dofs_; }
  Eigen::Index time() const { return 2 * dofs_; }
  Eigen::Index controls() const { return 2 * dofs_ + 1; }
  Eigen::Index parameters() const { return controls() + static_cast<Eigen::Index>(control_names_.size()); }
  const std::vector<std::string>& parameter_names() const { return parameter_names_; }
  const std::vector<double>& parameter_values() const { return parameter_values_; }
  /// The names in this order.
  std::vector<std::string> names() const;
  Eigen::VectorXd at(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t,
                     const Eigen::VectorXd& controls) const;
  /// Sets `variables` to those of many states, given as columns, a row for each, with the controls of a run, nullptr
  /// without any.
  void set(const Eigen::MatrixXd& q, const Eigen::MatrixXd& v, const Eigen::VectorXd& t,
           const ControlledDrive* controls, Eigen::MatrixXd& variables) const;

 private:
  Eigen::Index dofs_;
  std::vector<std::string> names_, control_names_, parameter_names_;
  std::vector<double> parameter_values_;
};

/// A formula of them with its gradient.
class CostFormula {
 public:
  /// The formula `key` of a section, of a list that with this index. Nothing, and a mistake, where it is invalid,
  /// not finite at the start, or piecewise where it must be smooth.
  static std::optional<CostFormula> read(const Section& section, const std::string& key, const CostVariables& variables,
                                         const ParticleSystem& system, Mistakes& mistakes, std::size_t index = 0,
                                         bool must_be_smooth = true);

  double value(const Eigen::VectorXd& variables) const { return value_.program().run(variables.data()); }
  void gradient(const Eigen::VectorXd& variables, Eigen::VectorXd& gradient) const {
    gradient.resize(variables.size());
    gradient_.program().run(variables.data(), gradient.data());
  }
  /// Those of many states, a row for each.
  void values(const Eigen::MatrixXd& variables, Eigen::VectorXd& values) const;
  void gradients(const Eigen::MatrixXd& variables, Eigen::MatrixXd& gradients) const;
  bool depends_on_time() const { return depends_on_time_; }

 private:
  CostFormula(FormulaBatch value, FormulaBatch gradient, bool depends_on_time)
      : value_(std::move(value)), gradient_(std::move(gradient)), depends_on_time_(depends_on_time) {}
  FormulaBatch value_, gradient_;
  bool depends_on_time_;
};

/// The forces of the formulas of a system by its parameters.
class ParameterForces {
 public:
  /// Those of `V`, `force` and `drive` in the section of the system, which has been read without mistakes. Adds a
  /// mistake where one of them is piecewise.
  ParameterForces(const Section& section, const CostVariables& variables, Mistakes& mistakes);
  /// df/dp in some states, given as rows of `variables`: a row for each, of degree of freedom i and parameter p in the
  /// column i P + p.
  void by_parameter(const Eigen::MatrixXd& variables, Eigen::MatrixXd& by_parameter) const;
  /// slopes[p] += by_force . df/dp, summed over the states, the last first; `by_force` has a column for each.
  void pull_back(const Eigen::MatrixXd& variables, const Eigen::MatrixXd& by_force, Eigen::VectorXd& slopes) const;
  /// Whether a formula depends on the time.
  bool depends_on_time() const { return depends_on_time_; }

 private:
  Eigen::Index parameters_, dofs_;
  std::vector<FormulaBatch> derivatives_;  // one for V, force and drive: by dof, then by parameter
  std::vector<double> signs_;
  bool depends_on_time_ = false;
  mutable Eigen::MatrixXd values_, sum_;
};

}  // namespace bathline
