// The exact flow of damping and noise alone.
//
//   p' = -C M^-1 p + F,  <F(t) F(t')^T> = 2 D delta(t - t'):   p(t) = E p + R x,   E = exp(-t C M^-1),
//   R R^T = integral over s from 0 to t of exp(-s C M^-1) 2 D exp(-s M^-1 C)
//
// Nonlinear couplings come one after the other, each by its own exact flow at fixed positions: with b = s'.M^-1 s',
//
//   s'.v:  u(t) = exp(-D b t) u + (kT b (1 - exp(-2 D b t)))^1/2 x,   p changes along s'
//
// Source: leimkuhler2013, section 2, there with one particle.
#pragma once

#include <Eigen/SparseCore>
#include <vector>

#include "model/problem.hpp"

namespace bathline {

/// Exists on rank 0. It includes all friction, so that a stepper applies none as a force.
class OrnsteinUhlenbeck {
 public:
  /// For the duration t. `problem` must outlive it.
  OrnsteinUhlenbeck(Problem& problem, double duration);

  /// Advances the momenta, with the noise of draw number `draw` of the current step; the energy that they lose is
  /// counted as dissipated. Draw 1 has its flows in the reverse order of draw 0, so that both together are symmetric.
  void advance(int draw);

 private:
  void advance_by_matrix(int draw);
  void advance_couplings(int draw);
  /// The time in the middle of the part of the step that a draw is for.
  double middle(int draw) const;

  Problem& problem_;
  double duration_;
  std::vector<int> dofs_;                     // degrees of freedom with damping or noise
  Eigen::SparseMatrix<double> decay_, root_;  // E and R of these
  Eigen::VectorXd mass_, p_, next_;           // of these
};

}  // namespace bathline
