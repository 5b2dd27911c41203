// The solver that PETSc's options choose for the linear system of a line; for the .cpp files of solve/ only.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "parallel/communicator.hpp"
#include "solve/petsc_handle.hpp"

namespace bathline {

/// Whether the user's options leave the default in place, `-ksp_type preonly -pc_type bathline`. @note Collective.
bool uses_direct_solver(const Communicator& communicator);

class KspLineSolver {
 public:
  /// Solves the same system in place: what `-pc_type bathline` applies. @note Collective.
  using Direct = std::function<void(double* values)>;

  /// Reads PETSc's options; the default is the direct solver. Throws SolverError when PETSc refuses one.
  /// @note Collective.
  KspLineSolver(MatHandle matrix, Direct direct, const Communicator& communicator);
  KspLineSolver(const KspLineSolver&) = delete;
  KspLineSolver& operator=(const KspLineSolver&) = delete;

  /// Overwrites this rank's right-hand side with the solution. Returns the reason why it did not converge, or "".
  /// @note Collective.
  std::string solve(std::span<double> values);

 private:
  MatHandle matrix_;
  Direct direct_;
  KspHandle ksp_;
  VecHandle right_;
  VecHandle solution_;
  int ranks_;
};

}  // namespace bathline
