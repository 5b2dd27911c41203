// Numbers that carry their derivatives, and functions of them whose derivatives are known.
// Tested by tests/study/doubled_variables_test.cpp.
#pragma once

#include <Eigen/Core>
#include <unsupported/Eigen/AutoDiff>

namespace bathline {

/// A number with its derivatives with respect to the variables that it is made of, as many as these are.
using AutoDiff = Eigen::AutoDiffScalar<Eigen::VectorXd>;
using AutoDiffVector = Eigen::Matrix<AutoDiff, Eigen::Dynamic, 1>;

inline Eigen::VectorXd values(const AutoDiffVector& active) {
  Eigen::VectorXd all(active.size());
  for (Eigen::Index i = 0; i < active.size(); ++i) all[i] = active[i].value();
  return all;
}

/// The chain rule at a leaf: derivatives of a function with these slopes at `arguments`, of which there are some.
inline Eigen::VectorXd apply_chain_rule(const Eigen::VectorXd& slopes, const AutoDiffVector& arguments) {
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(arguments[0].derivatives().size());
  for (Eigen::Index i = 0; i < slopes.size(); ++i) sum += slopes[i] * arguments[i].derivatives();
  return sum;
}

}  // namespace bathline
