// Automatic differentiation in forward mode, with the chain rule for functions of known derivatives.
// Tested by tests/study/doubled_variables_test.cpp.
#pragma once

#include <Eigen/Core>
#include <unsupported/Eigen/AutoDiff>

namespace bathline {

/// A number with its derivatives with respect to all independent variables.
using AutoDiff = Eigen::AutoDiffScalar<Eigen::VectorXd>;
using AutoDiffVector = Eigen::Matrix<AutoDiff, Eigen::Dynamic, 1>;

inline Eigen::VectorXd values(const AutoDiffVector& numbers) {
  Eigen::VectorXd all(numbers.size());
  for (Eigen::Index i = 0; i < numbers.size(); ++i) all[i] = numbers[i].value();
  return all;
}

/// Derivatives of a function with this gradient at `arguments`, which must not be empty.
inline Eigen::VectorXd apply_chain_rule(const Eigen::VectorXd& gradient, const AutoDiffVector& arguments) {
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(arguments[0].derivatives().size());
  for (Eigen::Index i = 0; i < gradient.size(); ++i) sum += gradient[i] * arguments[i].derivatives();
  return sum;
}

}  // namespace bathline
