// Newton's method on the few unknowns of the particles, through PETSc's SNES.
#include "solve/snes_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "solve/petsc_handle.hpp"
#include "solve/petsc_session.hpp"

namespace bathline {

struct SnesSolver::State {
  Residual residual;
  Jacobian jacobian;
  Eigen::VectorXd x, r;
  Eigen::MatrixXd j;
  SnesHandle snes;
  VecHandle unknown, value;  // `unknown` wraps x
  MatHandle matrix;          // wraps j
  double relative = 0.0, step = 0.0;
  PetscInt iterations = 0, evaluations = 0;

  /// PETSc works on copies of the iterate during a line search, so the values have to be copied.
  static void load(Vec from, Eigen::VectorXd& to) {
    const PetscScalar* values = nullptr;
    petsc_check(VecGetArrayRead(from, &values));
    to = Eigen::Map<const Eigen::VectorXd>(values, to.size());
    petsc_check(VecRestoreArrayRead(from, &values));
  }
};

bool SnesSolver::is_requested() {
  if (!PetscSession::runs()) return false;
  char* all = nullptr;
  petsc_check(PetscOptionsGetAll(nullptr, &all));
  const std::string options = all;
  petsc_check(PetscFree(all));
  const auto has = [&](const char* name) { return options.find(name) != std::string::npos; };
  return has("-snes_") || has("-particles_");
}

SnesSolver::SnesSolver(int size, Residual residual, Jacobian jacobian) : state_(std::make_unique<State>()) {
  PetscSession::start_if_deferred();
  State& s = *state_;
  s.residual = std::move(residual);
  s.jacobian = std::move(jacobian);
  s.x.resize(size);
  s.r.resize(size);
  s.j.resize(size, size);
  petsc_check(SNESCreate(PETSC_COMM_SELF, s.snes.out()));
  petsc_check(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, size, s.x.data(), s.unknown.out()));
  petsc_check(VecCreateSeq(PETSC_COMM_SELF, size, s.value.out()));
  petsc_check(MatCreateSeqDense(PETSC_COMM_SELF, size, size, s.j.data(), s.matrix.out()));
  petsc_check(SNESSetFunction(
      s.snes.get(), s.value.get(),
      [](SNES, Vec x, Vec r, void* context) -> PetscErrorCode {
        return petsc_callback([&] {
          auto& state = *static_cast<State*>(context);
          Eigen::VectorXd iterate(state.r.size());
          State::load(x, iterate);
          state.residual(iterate, state.r);
          PetscScalar* values = nullptr;
          petsc_check(VecGetArrayWrite(r, &values));
          Eigen::Map<Eigen::VectorXd>(values, state.r.size()) = state.r;
          petsc_check(VecRestoreArrayWrite(r, &values));
        });
      },
      &s));
  petsc_check(SNESSetJacobian(
      s.snes.get(), s.matrix.get(), s.matrix.get(),
      [](SNES, Vec x, Mat matrix, Mat, void* context) -> PetscErrorCode {
        return petsc_callback([&] {
          auto& state = *static_cast<State*>(context);
          Eigen::VectorXd iterate(state.r.size());
          State::load(x, iterate);
          // Requesting the array for writing tells PETSc that the values change.
          PetscScalar* values = nullptr;
          petsc_check(MatDenseGetArrayWrite(matrix, &values));
          state.jacobian(iterate, state.j);
          petsc_check(MatDenseRestoreArrayWrite(matrix, &values));
          petsc_check(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
          petsc_check(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
        });
      },
      &s));
  KSP ksp = nullptr;
  PC pc = nullptr;
  petsc_check(SNESGetKSP(s.snes.get(), &ksp));
  petsc_check(KSPSetOptionsPrefix(ksp, "particles_"));
  petsc_check(KSPSetType(ksp, KSPPREONLY));
  petsc_check(KSPGetPC(ksp, &pc));
  petsc_check(PCSetType(pc, PCLU));
  // The scheme's properties hold for its exact solution: by default the iteration continues to round-off.
  s.relative = 1e-14;
  petsc_check(SNESSetTolerances(s.snes.get(), 0.0, s.relative, 1e-16, 50, 1000));
  petsc_check(SNESSetFromOptions(s.snes.get()));
  petsc_check(SNESSetSolution(s.snes.get(), s.unknown.get()));
  petsc_check(SNESSetUp(s.snes.get()));
  petsc_check(SNESGetTolerances(s.snes.get(), nullptr, &s.relative, &s.step, &s.iterations, &s.evaluations));
}

SnesSolver::~SnesSolver() = default;

SnesSolver::Report SnesSolver::solve(Eigen::VectorXd& x, double residual_tolerance) {
  // Where the force is not finite at the start there is no scale for a residual.
  if (!std::isfinite(residual_tolerance))
    return {.residual = residual_tolerance, .reason = "the force is not finite at the first guess"};
  State& s = *state_;
  PetscScalar* values = nullptr;
  petsc_check(VecGetArrayWrite(s.unknown.get(), &values));
  s.x = x;
  petsc_check(VecRestoreArrayWrite(s.unknown.get(), &values));
  // PETSc requires a residual below the tolerance, so a residual of zero needs a positive one.
  residual_tolerance = std::max(residual_tolerance, std::numeric_limits<double>::min());
  petsc_check(SNESSetTolerances(s.snes.get(), residual_tolerance, s.relative, s.step, s.iterations, s.evaluations));
  const std::string failure = petsc_failure(SNESSolve(s.snes.get(), nullptr, s.unknown.get()), 1);
  SNESConvergedReason reason;
  PetscInt iterations = 0;
  Report report;
  petsc_check(SNESGetConvergedReason(s.snes.get(), &reason));
  petsc_check(SNESGetIterationNumber(s.snes.get(), &iterations));
  petsc_check(SNESGetFunctionNorm(s.snes.get(), &report.residual));
  report.iterations = static_cast<int>(iterations);
  report.converged = reason > 0 && failure.empty();
  report.reason = failure.empty() ? SNESConvergedReasons[reason] : failure;
  x = s.x;
  return report;
}

}  // namespace bathline
