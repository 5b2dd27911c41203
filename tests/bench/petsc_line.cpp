// The same steps of a uniform line as a user of PETSc would write them, for comparison with the program's own kernels.
#include <petscksp.h>

#include "bench_world.hpp"
#include "parallel/mpi_handle.hpp"
#include "solve/petsc_handle.hpp"

namespace bathline::petsc_line_bench {
namespace {

/// Tridiagonal matrix with `diagonal` and `off_diagonal`, memory_resident_sites() rows on every rank.
MatHandle tridiagonal(double diagonal, double off_diagonal) {
  const auto rows = static_cast<PetscInt>(memory_resident_sites());
  MatHandle matrix;
  petsc_check(MatCreateAIJ(mpi_comm(bench_world()), rows, rows, PETSC_DETERMINE, PETSC_DETERMINE, 3, nullptr, 1,
                           nullptr, matrix.out()));
  PetscInt first = 0, end = 0, total = 0;
  petsc_check(MatGetOwnershipRange(matrix.get(), &first, &end));
  petsc_check(MatGetSize(matrix.get(), &total, nullptr));
  for (PetscInt row = first; row < end; ++row) {
    const PetscInt columns[] = {row - 1, row, row + 1};  // PETSc ignores column -1
    const double values[] = {off_diagonal, diagonal, off_diagonal};
    petsc_check(MatSetValues(matrix.get(), 1, &row, row + 1 < total ? 3 : 2, columns, values, INSERT_VALUES));
  }
  petsc_check(MatAssemblyBegin(matrix.get(), MAT_FINAL_ASSEMBLY));
  petsc_check(MatAssemblyEnd(matrix.get(), MAT_FINAL_ASSEMBLY));
  petsc_check(MatSetOption(matrix.get(), MAT_SPD, PETSC_TRUE));
  return matrix;
}

/// p -= h K q, q += h p: one product and two updates a step.
void explicit_petsc_vec(benchmark::State& state) {
  const MatHandle stiffness = tridiagonal(2.0, -1.0);
  VecHandle q, p, force;
  petsc_check(MatCreateVecs(stiffness.get(), q.out(), p.out()));
  petsc_check(VecDuplicate(p.get(), force.out()));
  petsc_check(VecSet(q.get(), 1e-3));
  petsc_check(VecSet(p.get(), 0.0));
  time_on_all_ranks(state, memory_resident_sites() * bench_world().size(), [&] {
    petsc_check(MatMult(stiffness.get(), q.get(), force.get()));
    petsc_check(VecAXPY(p.get(), -0.5, force.get()));
    petsc_check(VecAXPY(q.get(), 0.5, p.get()));
  });
}

/// (1 + 2c) on the diagonal and -c beside it with c = 1/16, once a step. The fastest solver of PETSc for it: Cholesky
/// on one rank, on several ranks conjugate gradients with Cholesky of each rank's block. One product and two updates
/// complete a step.
void midpoint_petsc_best(benchmark::State& state) {
  const double c = 1.0 / 16.0;
  const MatHandle matrix = tridiagonal(1.0 + 2.0 * c, -c);
  VecHandle q, p, right, stage;
  petsc_check(MatCreateVecs(matrix.get(), q.out(), p.out()));
  petsc_check(VecDuplicate(p.get(), right.out()));
  petsc_check(VecDuplicate(p.get(), stage.out()));
  petsc_check(VecSet(q.get(), 1e-3));
  petsc_check(VecSet(p.get(), 1e-3));
  KspHandle ksp;
  PC pc = nullptr;
  petsc_check(KSPCreate(mpi_comm(bench_world()), ksp.out()));
  petsc_check(KSPSetOperators(ksp.get(), matrix.get(), matrix.get()));
  petsc_check(KSPGetPC(ksp.get(), &pc));
  petsc_check(KSPSetTolerances(ksp.get(), 1e-14, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  if (bench_world().size() == 1) {
    petsc_check(KSPSetType(ksp.get(), KSPPREONLY));
    petsc_check(PCSetType(pc, PCCHOLESKY));
    petsc_check(PCFactorSetMatOrderingType(pc, MATORDERINGNATURAL));
  } else {
    petsc_check(KSPSetType(ksp.get(), KSPCG));
    petsc_check(PCSetType(pc, PCBJACOBI));
    petsc_check(KSPSetUp(ksp.get()));
    KSP* blocks = nullptr;
    petsc_check(PCBJacobiGetSubKSP(pc, nullptr, nullptr, &blocks));
    PC block = nullptr;
    petsc_check(KSPGetPC(blocks[0], &block));
    petsc_check(PCSetType(block, PCCHOLESKY));
    petsc_check(PCFactorSetMatOrderingType(block, MATORDERINGNATURAL));
  }
  petsc_check(KSPSetUp(ksp.get()));
  petsc_check(KSPSetUpOnBlocks(ksp.get()));
  // With A = 1 + h^2 K / 4 the right-hand side p - h/2 K q is p + (q - A q) 2/h, for h = 1/2.
  time_on_all_ranks(state, memory_resident_sites() * bench_world().size(), [&] {
    petsc_check(MatMult(matrix.get(), q.get(), right.get()));
    petsc_check(VecAYPX(right.get(), -1.0, q.get()));
    petsc_check(VecAYPX(right.get(), 4.0, p.get()));
    petsc_check(KSPSolve(ksp.get(), right.get(), stage.get()));
    petsc_check(VecAXPBY(p.get(), 2.0, -1.0, stage.get()));  // p+ = 2 P - p
    petsc_check(VecAXPY(q.get(), 0.5, stage.get()));
  });
}

BENCHMARK(explicit_petsc_vec)
    ->Name("line/explicit/petsc_vec")
    ->Iterations(3)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(midpoint_petsc_best)
    ->Name("line/midpoint/petsc_best")
    ->Iterations(2)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bathline::petsc_line_bench
