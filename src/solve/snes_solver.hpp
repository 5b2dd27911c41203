// Newton's method on the few unknowns of the particles, through PETSc's SNES.
#pragma once

#include <Eigen/Dense>
#include <functional>
#include <memory>
#include <string>

namespace bathline {

/// Solves residual(x) = 0 for a small dense system on one rank. It is used only where PETSc's options request it, as
/// `NewtonSolver` does the same in a fraction of the time. Options as for any SNES (`-snes_rtol`, `-snes_monitor`,
/// ...); its linear solver has the prefix `-particles_`.
class SnesSolver {
 public:
  struct Report {
    bool converged = false;
    int iterations = 0;
    double residual = 0.0;  ///< 2-norm at the end
    std::string reason;     ///< why it stopped; PETSc's name for that if PETSc stopped it
    /// Whether the iteration failed; false where its solution was rejected.
    bool is_iteration_failure = true;
  };
  using Residual = std::function<void(const Eigen::VectorXd& x, Eigen::VectorXd& r)>;
  using Jacobian = std::function<void(const Eigen::VectorXd& x, Eigen::MatrixXd& j)>;

  /// Whether PETSc's options mention this solver.
  static bool is_requested();

  SnesSolver(int size, Residual residual, Jacobian jacobian);
  ~SnesSolver();

  /// Starts from `x` and leaves the solution there. A residual below `residual_tolerance` counts as solved whatever the
  /// other tolerances say. Not collective.
  Report solve(Eigen::VectorXd& x, double residual_tolerance);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bathline
