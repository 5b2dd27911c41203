// Exponentials in continuous time under a Runge-Kutta method.
//
//   y_j' = s_j y_j + x',   outputs Re sum_j W_j y_j
//
// With the step c in units of 1/s_j, Z = c s_j and the values V of x' at the stages,
//
//   Y = N (y 1 + c A V),   y+ = R(Z) y + c b^T N V,   N = (1 - Z A)^-1,   R = 1 + Z b^T N 1
//
// The force of a line for a given motion of its head has this form, and so has filtered white noise.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "methods/scheme.hpp"
#include "model/semi_infinite_line/exponential_terms.hpp"
#include "model/semi_infinite_line/exponential_modes.hpp"

namespace bathline {

struct RungeKuttaModes {
  /// An input for every stage; an output for every stage, without the inputs of the step, and one for the end of a
  /// step.
  std::shared_ptr<const ExponentialModes> modes;
  /// The contribution of a step's inputs to the outputs of its stages, stages x stages.
  Eigen::MatrixXd feedthrough;
};

/// W_j are the weights of the terms times `weight`; inputs are multiplied by `drive`. `courant` is c.
RungeKuttaModes make_runge_kutta_modes(const std::vector<ExponentialTerm>& exponential_terms,
                                       const PartitionedRungeKutta& scheme, double courant, double drive,
                                       double weight);

}  // namespace bathline
