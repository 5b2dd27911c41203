// Damping and noise alone, exactly.
//
//   p' = -C M^-1 p + F,  <F(t) F(t')^T> = 2 D delta(t - t'):   p(t) = E p + R x,   E = exp(-t C M^-1),
//   R R^T = integral over s from 0 to t of exp(-s C M^-1) 2 D exp(-s M^-1 C)
//
// Source: leimkuhler2013, section 2, there with one particle.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "model/problem.hpp"

namespace bathline {

/// Lives on rank 0. The problem's forces feel no damping matrix as long as this lives: it does that part of the motion.
class OrnsteinUhlenbeck {
 public:
  /// Of a duration t. `problem` must outlive it.
  OrnsteinUhlenbeck(Problem& problem, double duration);
  ~OrnsteinUhlenbeck() { problem_.set_damping(std::move(damping_)); }
  OrnsteinUhlenbeck(const OrnsteinUhlenbeck&) = delete;
  OrnsteinUhlenbeck& operator=(const OrnsteinUhlenbeck&) = delete;

  /// Takes the momenta on, with the noise of that draw of the step under way; the energy that they lose is dissipated.
  void advance(int draw);

 private:
  Problem& problem_;
  Eigen::MatrixXd damping_;
  std::vector<int> moved_;           // degrees of freedom that feel damping or noise
  Eigen::MatrixXd decay_, root_;     // E and R among them
  Eigen::VectorXd mass_, p_, next_;  // of them
};

}  // namespace bathline
