// The solver that PETSc's options choose for the linear system of a line.
// Tested by tests/solve/line_solver_test.cpp.
#include "solve/ksp_line_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "parallel/mpi_handle.hpp"
#include "solve/line_preconditioner.hpp"
#include "solve/petsc_session.hpp"

namespace bathline {

bool uses_direct_solver(const Communicator& communicator) {
  if (!PetscSession::runs()) return true;  // PETSc starts early only with options
  // The types are read from a solver without a matrix.
  KspHandle ksp;
  petsc_check(KSPCreate(mpi_comm(communicator), ksp.out()));
  PC pc = nullptr;
  petsc_check(KSPGetPC(ksp.get(), &pc));
  petsc_check(KSPSetType(ksp.get(), KSPPREONLY));
  petsc_check(PCSetType(pc, line_preconditioner_type));
  petsc_check(KSPSetFromOptions(ksp.get()));
  const char* ksp_type = nullptr;
  const char* pc_type = nullptr;
  petsc_check(KSPGetType(ksp.get(), &ksp_type));
  petsc_check(PCGetType(pc, &pc_type));
  return std::strcmp(ksp_type, KSPPREONLY) == 0 && std::strcmp(pc_type, line_preconditioner_type) == 0;
}

KspLineSolver::KspLineSolver(MatHandle matrix, Direct direct, const Communicator& communicator)
    : matrix_(std::move(matrix)), direct_(std::move(direct)), ranks_(communicator.size()) {
  set_line_solver(matrix_.get(), direct_);
  petsc_check(KSPCreate(mpi_comm(communicator), ksp_.out()));
  petsc_check(KSPSetOperators(ksp_.get(), matrix_.get(), matrix_.get()));
  petsc_check(KSPSetType(ksp_.get(), KSPPREONLY));
  // By default iterative solvers continue to near round-off.
  petsc_check(KSPSetTolerances(ksp_.get(), 1e-14, 1e-300, PETSC_DEFAULT, PETSC_DEFAULT));
  PC pc = nullptr;
  petsc_check(KSPGetPC(ksp_.get(), &pc));
  petsc_check(PCSetType(pc, line_preconditioner_type));
  petsc_check(KSPSetFromOptions(ksp_.get()));
  petsc_check(MatCreateVecs(matrix_.get(), solution_.out(), right_.out()));
  petsc_check(KSPSetUp(ksp_.get()));
  petsc_check(KSPSetUpOnBlocks(ksp_.get()));
}

std::string KspLineSolver::solve(std::span<double> values) {
  petsc_check(VecPlaceArray(right_.get(), values.data()));
  const PetscErrorCode solved = KSPSolve(ksp_.get(), right_.get(), solution_.get());
  petsc_check(VecResetArray(right_.get()));
  if (const std::string failure = petsc_failure(solved, ranks_); !failure.empty()) {
    return fmt::format("the linear solver on a line stopped: {}", failure);
  }
  KSPConvergedReason reason;
  petsc_check(KSPGetConvergedReason(ksp_.get(), &reason));
  if (reason < 0) {
    double norm = 0.0;
    PetscInt iterations = 0;
    petsc_check(KSPGetResidualNorm(ksp_.get(), &norm));
    petsc_check(KSPGetIterationNumber(ksp_.get(), &iterations));
    return fmt::format("the linear solver on a line stopped after {} iterations with residual {:.3e}: {}", iterations,
                       norm, KSPConvergedReasons[reason]);
  }
  const PetscScalar* solution = nullptr;
  petsc_check(VecGetArrayRead(solution_.get(), &solution));
  std::copy_n(solution, values.size(), values.data());
  petsc_check(VecRestoreArrayRead(solution_.get(), &solution));
  return "";
}

}  // namespace bathline
