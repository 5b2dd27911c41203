// Newton's method through PETSc's SNES.
// Tested by tests/solve/snes_solver_test.cpp and tests/model/line/nonlinear_line_test.cpp.
#include "solve/snes_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "parallel/mpi_handle.hpp"
#include "solve/line_preconditioner.hpp"
#include "solve/petsc_handle.hpp"
#include "solve/petsc_session.hpp"

namespace bathline {

struct SnesSolver::State {
  Equations equations;
  std::function<void(double*)> direct;  // what `-pc_type bathline` applies
  int ranks = 1;
  SnesHandle snes;
  VecHandle unknown, value;
  MatHandle matrix;
  double relative = 0.0, step = 0.0;
  PetscInt iterations = 0, evaluations = 0;

  void make_sparse_matrix(PetscInt size, MPI_Comm comm);
  /// Sets vectors and functions.
  void begin(PetscInt size, MPI_Comm comm);
  /// Reads PETSc's options, with these tolerances where they give none.
  void read_options(double relative_tolerance, double step_tolerance);
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

bool SnesSolver::is_requested() {
  if (!PetscSession::runs()) return false;
  char* all = nullptr;
  petsc_check(PetscOptionsGetAll(nullptr, &all));
  const std::string options = all;
  petsc_check(PetscFree(all));
  const auto has = [&](const char* name) { return options.find(name) != std::string::npos; };
  return has("-snes_") || has("-particles_");
}

void SnesSolver::State::make_sparse_matrix(PetscInt size, MPI_Comm comm) {
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
  petsc_check(
      MatCreateAIJ(comm, size, size, PETSC_DETERMINE, PETSC_DETERMINE, 0, own.data(), 0, others.data(), matrix.out()));
  petsc_check(MatSetOption(matrix.get(), MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
}

void SnesSolver::State::begin(PetscInt size, MPI_Comm comm) {
  PetscSession::start_if_deferred();
  petsc_check(SNESCreate(comm, snes.out()));
  petsc_check(VecCreate(comm, unknown.out()));
  petsc_check(VecSetSizes(unknown.get(), size, PETSC_DETERMINE));
  petsc_check(VecSetType(unknown.get(), VECSTANDARD));
  petsc_check(VecDuplicate(unknown.get(), value.out()));
  petsc_check(SNESSetFunction(
      snes.get(), value.get(),
      [](SNES, Vec x, Vec r, void* context) -> PetscErrorCode {
        return petsc_callback([&] {
          const auto& state = *static_cast<State*>(context);
          PetscScalar* residual = nullptr;
          petsc_check(VecGetArrayWrite(r, &residual));
          with_values(x, [&](const double* values) { state.equations.residual(values, residual); });
          petsc_check(VecRestoreArrayWrite(r, &residual));
        });
      },
      this));
}

void SnesSolver::State::read_options(double relative_tolerance, double step_tolerance) {
  petsc_check(SNESSetJacobian(
      snes.get(), matrix.get(), matrix.get(),
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
      this));
  petsc_check(SNESSetTolerances(snes.get(), 0.0, relative_tolerance, step_tolerance, 50, 1000));
  petsc_check(SNESSetFromOptions(snes.get()));
  petsc_check(SNESGetTolerances(snes.get(), nullptr, &relative, &step, &iterations, &evaluations));
}

SnesSolver::SnesSolver(int size, Residual residual, Jacobian jacobian) : state_(std::make_unique<State>()) {
  struct Dense {
    Residual residual;
    Jacobian jacobian;
    Eigen::VectorXd x, r;
    Eigen::MatrixXd j;
  };
  const auto dense = std::make_shared<Dense>(Dense{std::move(residual), std::move(jacobian), Eigen::VectorXd(size),
                                                   Eigen::VectorXd(size), Eigen::MatrixXd::Zero(size, size)});
  State& s = *state_;
  s.equations.residual = [dense](const double* x, double* r) {
    std::copy_n(x, dense->x.size(), dense->x.data());
    dense->residual(dense->x, dense->r);
    std::copy_n(dense->r.data(), dense->r.size(), r);
  };
  s.equations.linearise = [dense](const double* x) {
    std::copy_n(x, dense->x.size(), dense->x.data());
    dense->jacobian(dense->x, dense->j);
  };
  s.equations.entries = [dense](const Add& add) {
    for (Eigen::Index column = 0; column < dense->j.cols(); ++column) {
      for (Eigen::Index row = 0; row < dense->j.rows(); ++row) add(row, column, dense->j(row, column));
    }
  };
  s.begin(size, PETSC_COMM_SELF);
  petsc_check(MatCreateSeqDense(PETSC_COMM_SELF, size, size, nullptr, s.matrix.out()));
  KSP ksp = nullptr;
  PC pc = nullptr;
  petsc_check(SNESGetKSP(s.snes.get(), &ksp));
  petsc_check(KSPSetOptionsPrefix(ksp, "particles_"));
  petsc_check(KSPSetType(ksp, KSPPREONLY));
  petsc_check(KSPGetPC(ksp, &pc));
  petsc_check(PCSetType(pc, PCLU));
  // The scheme's properties hold for its exact solution: by default the iteration continues to round-off.
  s.read_options(1e-14, 1e-16);
  petsc_check(SNESSetSolution(s.snes.get(), s.unknown.get()));
  petsc_check(SNESSetUp(s.snes.get()));
}

SnesSolver::SnesSolver(std::int64_t size, Equations equations, const Communicator& communicator)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.equations = std::move(equations);
  s.direct = s.equations.eliminate;
  s.ranks = communicator.size();
  const auto local = static_cast<PetscInt>(size);
  const MPI_Comm comm = mpi_comm(communicator);
  s.begin(local, comm);
  s.make_sparse_matrix(local, comm);
  set_line_solver(s.matrix.get(), s.direct);
  KSP ksp = nullptr;
  PC pc = nullptr;
  petsc_check(SNESGetKSP(s.snes.get(), &ksp));
  petsc_check(KSPSetType(ksp, KSPPREONLY));
  // By default iterative solvers continue to near round-off.
  petsc_check(KSPSetTolerances(ksp, 1e-13, 1e-300, PETSC_DEFAULT, PETSC_DEFAULT));
  petsc_check(KSPGetPC(ksp, &pc));
  petsc_check(PCSetType(pc, line_preconditioner_type));
  s.read_options(1e-16, 1e-15);
}

SnesSolver::~SnesSolver() = default;

SnesSolver::Report SnesSolver::solve(std::span<double> x, double round_off) {
  // Where the force is not finite at the start there is no scale for a residual.
  if (!std::isfinite(round_off)) return {.residual = round_off, .reason = "the force is not finite at the first guess"};
  State& s = *state_;
  PetscScalar* values = nullptr;
  petsc_check(VecGetArrayWrite(s.unknown.get(), &values));
  std::copy(x.begin(), x.end(), values);
  petsc_check(VecRestoreArrayWrite(s.unknown.get(), &values));
  // PETSc requires a residual below the tolerance, so a residual of zero needs a positive one.
  round_off = std::max(round_off, std::numeric_limits<double>::min());
  petsc_check(SNESSetTolerances(s.snes.get(), round_off, s.relative, s.step, s.iterations, s.evaluations));
  const std::string failure = petsc_failure(SNESSolve(s.snes.get(), nullptr, s.unknown.get()), s.ranks);
  SNESConvergedReason reason;
  PetscInt iterations = 0;
  Report report;
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
