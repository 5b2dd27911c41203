// Newton's method on a system over all ranks, through PETSc's SNES.
// Tested by tests/model/line/nonlinear_line_test.cpp.
#include "solve/distributed_snes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "parallel/mpi_handle.hpp"
#include "solve/ksp_line_solver.hpp"
#include "solve/line_preconditioner.hpp"
#include "solve/petsc_handle.hpp"
#include "solve/petsc_session.hpp"

namespace bathline {

struct DistributedSnes::State {
  Equations equations;
  KspLineSolver::Direct direct;  // what `-pc_type bathline` applies
  int ranks;
  SnesHandle snes;
  VecHandle unknown, value;
  MatHandle matrix;
  double relative = 0.0, step = 0.0;
  PetscInt iterations = 0, evaluations = 0;

  MatHandle make_matrix(PetscInt size, const Communicator& communicator) const;
};

namespace {

/// Calls use(values) with this rank's numbers of a vector.
template <class Use>
void with_values(Vec from, Use use) {
  const PetscScalar* values = nullptr;
  petsc_check(VecGetArrayRead(from, &values));
  use(values);
  petsc_check(VecRestoreArrayRead(from, &values));
}

}  // namespace

MatHandle DistributedSnes::State::make_matrix(PetscInt size, const Communicator& communicator) const {
  PetscInt first = 0, end = 0;
  petsc_check(VecGetOwnershipRange(unknown.get(), &first, &end));
  std::vector<PetscInt> own(static_cast<std::size_t>(size)), others(own);
  equations.entries([&](std::int64_t row, std::int64_t column, double) {
    ++(column >= first && column < end ? own : others)[static_cast<std::size_t>(row - first)];
  });
  PetscInt total = 0;
  petsc_check(VecGetSize(unknown.get(), &total));
  // Several parts may add to one entry.
  for (PetscInt& entries : own) entries = std::min(entries, size);
  for (PetscInt& entries : others) entries = std::min(entries, total - size);
  MatHandle made;
  petsc_check(MatCreateAIJ(mpi_comm(communicator), size, size, PETSC_DETERMINE, PETSC_DETERMINE, 0, own.data(), 0,
                           others.data(), made.out()));
  petsc_check(MatSetOption(made.get(), MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  return made;
}

DistributedSnes::DistributedSnes(std::int64_t size, Equations equations, const Communicator& communicator)
    : state_(std::make_unique<State>()) {
  PetscSession::start_if_deferred();
  State& s = *state_;
  s.equations = std::move(equations);
  s.direct = s.equations.eliminate;
  s.ranks = communicator.size();
  const auto local = static_cast<PetscInt>(size);
  const MPI_Comm comm = mpi_comm(communicator);
  petsc_check(SNESCreate(comm, s.snes.out()));
  petsc_check(VecCreateMPI(comm, local, PETSC_DETERMINE, s.unknown.out()));
  petsc_check(VecDuplicate(s.unknown.get(), s.value.out()));
  s.matrix = s.make_matrix(local, communicator);
  PetscContainer container = nullptr;
  petsc_check(PetscContainerCreate(comm, &container));
  petsc_check(PetscContainerSetPointer(container, &s.direct));
  petsc_check(PetscObjectCompose(reinterpret_cast<PetscObject>(s.matrix.get()), line_solver_key,
                                 reinterpret_cast<PetscObject>(container)));
  petsc_check(PetscContainerDestroy(&container));
  petsc_check(SNESSetFunction(
      s.snes.get(), s.value.get(),
      [](SNES, Vec x, Vec r, void* context) -> PetscErrorCode {
        return petsc_callback([&] {
          const auto& state = *static_cast<State*>(context);
          PetscScalar* residual = nullptr;
          petsc_check(VecGetArrayWrite(r, &residual));
          with_values(x, [&](const double* values) { state.equations.residual(values, residual); });
          petsc_check(VecRestoreArrayWrite(r, &residual));
        });
      },
      &s));
  petsc_check(SNESSetJacobian(
      s.snes.get(), s.matrix.get(), s.matrix.get(),
      [](SNES, Vec x, Mat matrix, Mat, void* context) -> PetscErrorCode {
        return petsc_callback([&] {
          const auto& state = *static_cast<State*>(context);
          with_values(x, [&](const double* values) { state.equations.linearise(values); });
          petsc_check(MatZeroEntries(matrix));
          state.equations.entries([&](std::int64_t row, std::int64_t column, double value) {
            petsc_check(
                MatSetValue(matrix, static_cast<PetscInt>(row), static_cast<PetscInt>(column), value, ADD_VALUES));
          });
          petsc_check(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
          petsc_check(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
        });
      },
      &s));
  KSP ksp = nullptr;
  PC pc = nullptr;
  petsc_check(SNESGetKSP(s.snes.get(), &ksp));
  petsc_check(KSPSetType(ksp, KSPPREONLY));
  // By default iterative solvers continue to near round-off.
  petsc_check(KSPSetTolerances(ksp, 1e-13, 1e-300, PETSC_DEFAULT, PETSC_DEFAULT));
  petsc_check(KSPGetPC(ksp, &pc));
  petsc_check(PCSetType(pc, line_preconditioner_type));
  petsc_check(SNESSetTolerances(s.snes.get(), 0.0, 1e-16, 1e-15, 50, 1000));
  petsc_check(SNESSetFromOptions(s.snes.get()));
  petsc_check(SNESGetTolerances(s.snes.get(), nullptr, &s.relative, &s.step, &s.iterations, &s.evaluations));
}

DistributedSnes::~DistributedSnes() = default;

SnesSolver::Report DistributedSnes::solve(std::span<double> x, double round_off) {
  if (!std::isfinite(round_off)) return {.residual = round_off, .reason = "the force is not finite at the first guess"};
  State& s = *state_;
  PetscScalar* values = nullptr;
  petsc_check(VecGetArrayWrite(s.unknown.get(), &values));
  std::copy(x.begin(), x.end(), values);
  petsc_check(VecRestoreArrayWrite(s.unknown.get(), &values));
  round_off = std::max(round_off, std::numeric_limits<double>::min());
  petsc_check(SNESSetTolerances(s.snes.get(), round_off, s.relative, s.step, s.iterations, s.evaluations));
  const std::string failure = petsc_failure(SNESSolve(s.snes.get(), nullptr, s.unknown.get()), s.ranks);
  SNESConvergedReason reason;
  PetscInt iterations = 0;
  SnesSolver::Report report;
  petsc_check(SNESGetConvergedReason(s.snes.get(), &reason));
  petsc_check(SNESGetIterationNumber(s.snes.get(), &iterations));
  petsc_check(SNESGetFunctionNorm(s.snes.get(), &report.residual));
  report.iterations = static_cast<int>(iterations);
  // A line search finds no smaller residual where only round-off is left.
  constexpr double margin = 100.0;
  const bool is_round_off = reason == SNES_DIVERGED_LINE_SEARCH && report.residual <= margin * round_off;
  report.converged = failure.empty() && (reason > 0 || is_round_off);
  report.reason = failure.empty() ? SNESConvergedReasons[reason] : failure;
  with_values(s.unknown.get(), [&](const double* solution) { std::copy_n(solution, x.size(), x.begin()); });
  return report;
}

}  // namespace bathline
