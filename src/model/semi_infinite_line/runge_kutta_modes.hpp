// Exponentials in continuous time under a Runge-Kutta method.
//
//   y_j' = s_j y_j + x',   outputs Re sum_j W_j y_j,   with c the step in the unit of 1/s_j, Z = c s_j and V the x' of
//   the stages
//
//   Y = N (y 1 + c A V),   y+ = R(Z) y + c b^T N V,   N = (1 - Z A)^-1,   R = 1 + Z b^T N 1
//
// What a line makes of the motion of its head is of this form, and so is what it makes of white noise.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "methods/scheme.hpp"
#include "model/semi_infinite_line/exponential_terms.hpp"
#include "model/semi_infinite_line/exponential_modes.hpp"

namespace bathline {

struct RungeKuttaModes {
  /// An input for every stage; an output for every stage, where nothing goes in, and one for the end of a step.
  std::shared_ptr<const ExponentialModes> modes;
  /// What the inputs of a step add to the outputs of its stages, stages x stages.
  Eigen::MatrixXd feedthrough;
};

/// Of the weights of the decays times `weight` as W_j; inputs are x' times `drive`. `courant` is c.
RungeKuttaModes make_runge_kutta_modes(const std::vector<ExponentialTerm>& exponential_terms,
                                       const PartitionedRungeKutta& scheme, double courant, double drive,
                                       double weight);

}  // namespace bathline
