// Compiled formulas of forces and their derivatives.
// Tested by tests/model/systems/external_forces_test.cpp.
#include "model/formula/force.hpp"

#include <algorithm>

namespace bathline {

namespace {

bool depend_on_any(const ExpressionGraph& graph, std::span<const Expression> values, int first, int count) {
  for (const Expression value : values) {
    for (int variable = first; variable < first + count; ++variable) {
      if (graph.depends(value, variable)) return true;
    }
  }
  return false;
}

int count_of(std::span<const Expression> values) { return static_cast<int>(values.size()); }

}  // namespace

std::vector<FormulaOutput> derivatives_of(ExpressionGraph& graph, std::span<const Expression> values, int first,
                                          int count) {
  std::vector<FormulaOutput> derivatives;
  for (const Expression value : values) {
    for (int variable = first; variable < first + count; ++variable)
      derivatives.push_back(FormulaOutput(value).differentiated(graph, variable));
  }
  return derivatives;
}

namespace {

/// Columns `first` to `first + count - 1` of a matrix that is stored by rows of `length` elements.
std::vector<FormulaOutput> columns_of(std::span<const FormulaOutput> rows, std::size_t first, std::size_t count,
                                      std::size_t length) {
  std::vector<FormulaOutput> columns;
  for (std::size_t column = first; column < first + count; ++column) {
    for (std::size_t row = 0; row < rows.size(); row += length) columns.push_back(rows[row + column]);
  }
  return columns;
}

}  // namespace

FormulaForce::FormulaForce(ExpressionGraph& graph, std::span<const Expression> values, int variables, int controls)
    : FormulaForce(graph, values, derivatives_of(graph, values, 0, variables), variables, controls) {}

FormulaForce::FormulaForce(const ExpressionGraph& graph, std::span<const Expression> values,
                           std::span<const FormulaOutput> derivatives, int variables, int controls)
    : value_(graph, values, variables),
      by_q_(graph, columns_of(derivatives, 0, values.size(), static_cast<std::size_t>(variables)), variables),
      by_v_(graph, columns_of(derivatives, values.size(), values.size(), static_cast<std::size_t>(variables)),
            variables),
      kinks_(graph, values, 2 * count_of(values)),
      depends_on_velocity_(depend_on_any(graph, values, count_of(values), count_of(values))),
      variables_(static_cast<std::size_t>(variables)) {
  for (int control = variables - controls; control < variables; ++control) {
    depends_on_control_.push_back(depend_on_any(graph, values, control, 1));
  }
  if (!depends_on_controls()) return;
  const auto count = static_cast<std::size_t>(controls), length = static_cast<std::size_t>(variables);
  by_controls_.emplace(graph, columns_of(derivatives, length - count, count, length), variables);
}

std::shared_ptr<const FormulaForce> FormulaForce::with(Controls controls) const {
  auto force = std::make_shared<FormulaForce>(*this);
  force->controls_in_time_ = std::move(controls);
  return force;
}

const double* FormulaForce::variables(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t) const {
  std::copy(q.begin(), q.end(), variables_.begin());
  std::copy(v.begin(), v.end(), variables_.begin() + q.size());
  variables_[static_cast<std::size_t>(2 * q.size())] = t;
  if (controls_in_time_) {
    const Eigen::VectorXd controls = controls_in_time_(t);
    std::copy(controls.begin(), controls.end(), variables_.end() - controls.size());
  }
  return variables_.data();
}

void FormulaForce::by_controls(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t,
                               const Eigen::VectorXd& controls, Eigen::MatrixXd& by_controls) const {
  by_controls.resize(q.size(), controls.size());
  variables(q, v, t);
  std::copy(controls.begin(), controls.end(), variables_.end() - controls.size());
  by_controls_->run(variables_.data(), by_controls.data());
}

void FormulaForce::value(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t, Eigen::VectorXd& force) const {
  force.resize(q.size());
  value_.run(variables(q, v, t), force.data());
}

void FormulaForce::jacobians(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t, Eigen::MatrixXd& by_q,
                             Eigen::MatrixXd& by_v) const {
  // Matrices are stored by columns, one for each variable.
  by_q.resize(q.size(), q.size());
  by_v.resize(q.size(), q.size());
  by_q_.run(variables(q, v, t), by_q.data());
  by_v_.run(variables_.data(), by_v.data());
}

FormulaDrive::FormulaDrive(const ExpressionGraph& graph, std::span<const Expression> values,
                           std::span<const FormulaOutput> rates, int time)
    : value_(graph, values, time + 1),
      rate_(graph, rates, time + 1),
      kinks_(graph, values, time),
      variables_(static_cast<std::size_t>(time) + 1) {}

}  // namespace bathline
