// Newton's method on the few unknowns of the particles, through PETSc's SNES.
#pragma once

#include <Eigen/Dense>
#include <functional>
#include <memory>
#include <string>

namespace bathline {

/// Solves residual(x) = 0 for a small dense system on one rank, for those who ask for it: `SmallNewton` does the same
/// in a fraction of the time. Options as for any SNES (`-snes_rtol`, `-snes_monitor`,
/// ...); its linear solver has the prefix `-particles_`.
class ParticleNewton {
 public:
  struct Report {
    bool converged = false;
    int iterations = 0;
    double residual = 0.0;  ///< 2-norm at the end
    std::string reason;     ///< why it stopped, of PETSc its name for that
    /// Whether it was the iteration that stopped, and nothing that was found of its solution.
    bool is_of_iteration = true;
  };
  using Residual = std::function<void(const Eigen::VectorXd& x, Eigen::VectorXd& r)>;
  using Jacobian = std::function<void(const Eigen::VectorXd& x, Eigen::MatrixXd& j)>;

  /// Whether PETSc's options speak of this solver.
  static bool is_wanted();

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
