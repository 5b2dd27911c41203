// Newton's method on a system over all ranks, through PETSc's SNES.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "parallel/communicator.hpp"
#include "solve/snes_solver.hpp"

namespace bathline {

/// Solves residual(x) = 0, with the options of any SNES and its linear solver (`-snes_...`, `-ksp_...`, `-pc_...`). By
/// default that is `-ksp_type preonly -pc_type bathline`: the elimination by which the equations solve their linear
/// systems.
class DistributedSnes {
 public:
  /// Adds to the entry of a row of this rank and any column, counted over all ranks.
  using Add = std::function<void(std::int64_t row, std::int64_t column, double value)>;
  /// The equations, by this rank's numbers. All are collective.
  struct Equations {
    std::function<void(const double* x, double* residual)> residual;
    /// Prepares `entries` and `eliminate` at x.
    std::function<void(const double* x)> linearise;
    /// Calls add for all entries; the places are always the same.
    std::function<void(const Add& add)> entries;
    /// Solves the linear system in place.
    std::function<void(double* values)> eliminate;
  };

  /// `size` numbers on this rank. Reads PETSc's options; throws SolverError where PETSc refuses one. @note Collective.
  DistributedSnes(std::int64_t size, Equations equations, const Communicator& communicator);
  ~DistributedSnes();

  /// Starts from `x` and leaves the solution there. A residual of a 2-norm below `round_off` counts as solved whatever
  /// the other tolerances say. The same report on every rank. @note Collective.
  SnesSolver::Report solve(std::span<double> x, double round_off);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bathline
