// Newton's method through PETSc's SNES: on the few unknowns of the particles, and on a system over all ranks.
#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "parallel/communicator.hpp"

namespace bathline {

/// Solves residual(x) = 0 with the options of any SNES (`-snes_rtol`, `-snes_monitor`, ...).
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
  /// Adds to the entry of a row of this rank and any column, counted over all ranks.
  using Add = std::function<void(std::int64_t row, std::int64_t column, double value)>;
  /// Equations by this rank's numbers. All are collective.
  struct Equations {
    std::function<void(const double* x, double* residual)> residual;
    /// Prepares `entries` and `eliminate` at x.
    std::function<void(const double* x)> linearise;
    /// Calls add for all entries; the places are always the same.
    std::function<void(const Add& add)> entries;
    /// Solves the linear system in place.
    std::function<void(double* values)> eliminate;
  };

  /// Whether PETSc's options mention the solver of the particles.
  static bool is_requested();

  /// A small dense system on one rank, whose linear solver has the prefix `-particles_`. It is used only where PETSc's
  /// options request it, as `StageSolver` does the same in a fraction of the time. Not collective.
  SnesSolver(int size, Residual residual, Jacobian jacobian);
  /// A system with `size` numbers on this rank. The linear solver (`-ksp_...`, `-pc_...`) is by default `-ksp_type
  /// preonly -pc_type bathline`: the elimination by which the equations solve their linear systems. Throws SolverError
  /// where PETSc refuses an option. @note Collective.
  SnesSolver(std::int64_t size, Equations equations, const Communicator& communicator);
  ~SnesSolver();

  /// Starts from `x` and leaves the solution there. A residual of a 2-norm below `round_off` counts as solved whatever
  /// the other tolerances say. The same report on every rank. @note Collective over the ranks of the system.
  Report solve(std::span<double> x, double round_off);
  Report solve(Eigen::VectorXd& x, double round_off) {
    return solve(std::span(x.data(), static_cast<std::size_t>(x.size())), round_off);
  }

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bathline
