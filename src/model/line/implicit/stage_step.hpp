// The two halves of a step with several stages of consecutive sites of a uniform line, before and after the linear
// system of their stage momenta P is solved.
//
//   P_j + c (2 P_j - P_{j-1} - P_{j+1}) = p_j 1 + h lambda (w_{j+1} - 2 w_j + w_{j-1}) a^ 1,   c = h^2 lambda/M a^ a,
//   P_0 = M V the head's,   W_j = w_j 1 + h/M a P_j,   w+ = w + h/M b.P,   p+ = p + h lambda b.(W_{j+1} - 2 W_j +
//   W_{j-1})
//
// A dashpot D on the last site adds h D/M a^ P_N to its row. Source: hairer2006, section II.2. Conserves what the
// scheme conserves.
#pragma once

#include <cstdint>

#include "integrate/scheme.hpp"
#include "model/environment.hpp"
#include "model/line/sites.hpp"
#include "solve/stage_tridiagonal.hpp"

namespace bathline {

/// A line's constants with a scheme and a step in s. The stage momenta of a site lie side by side.
struct LineStageStep {
  LineConstants line;
  CollocationScheme scheme;
  double h = 0.0;

  /// Of the stage momenta of the whole line.
  StageMatrix matrix() const;
  /// The same of a line that is cut behind its last site, which has no spring behind it.
  StageMatrix cut_matrix() const;
  /// Right-hand sides; `left` and `right` are the displacements beside the `n` >= 1 sites, in m.
  void begin(const double* w, const double* p, double* stage, std::int64_t n, double left, double right) const;
  /// Force on the head at every stage that does not depend on its velocity, in N. `constant` is of the stage momenta
  /// of the first site and `stretch` that of its spring.
  Eigen::VectorXd force(const Eigen::VectorXd& constant, double stretch) const;
  /// Stages x stages, of the stage velocities of the head, kg/s.
  Eigen::MatrixXd damping(const Eigen::MatrixXd& slope) const;
  /// Displacements become the means of those at the stages, with weights b: the end momenta need no more of the
  /// neighbours. The first stage momentum of a site becomes what it still has to go.
  void move_to_means(double* w, double* stage, std::int64_t n) const;
  /// The same mean of what starts at `from` and has these velocities at the stages.
  double mean(double from, const Eigen::VectorXd& velocities) const;
  /// The rest; `left` and `right` are the means beside the sites.
  void end(double* w, double* p, const double* stage, std::int64_t n, double left, double right) const;
  /// What the dashpot of the far end does to its site's momentum, by the site's stage momenta. Returns the energy that
  /// it takes, in J.
  double drag(const double* stage, double& p) const;
};

}  // namespace bathline
