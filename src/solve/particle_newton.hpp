// Newton's method on the few unknowns of the particles, through PETSc's SNES.
#pragma once

#include <Eigen/Dense>
#include <functional>
#include <memory>
#include <string>

namespace bathline {

/// Solves residual(x) = 0 for a small dense system on one rank. Options as for any SNES (`-snes_rtol`, `-snes_monitor`,
/// ...); its linear solver has the prefix `-particles_`.
class ParticleNewton {
 public:
  struct Report {
    bool converged = false;
    int iterations = 0;
    double residual = 0.0;  ///< 2-norm at the end
    std::string reason;     ///< PETSc's name for why it stopped
  };
  using Residual = std::function<void(const Eigen::VectorXd& x, Eigen::VectorXd& r)>;
  using Jacobian = std::function<void(const Eigen::VectorXd& x, Eigen::MatrixXd& j)>;

  ParticleNewton(int size, Residual residual, Jacobian jacobian);
  ~ParticleNewton();

  /// Starts from `x` and leaves the solution there. A residual below `roundoff` counts as solved whatever the other
  /// tolerances say. Not collective.
  Report solve(Eigen::VectorXd& x, double roundoff);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bathline
