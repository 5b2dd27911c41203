// The direct solver of a line as a PETSc preconditioner, `-pc_type bathline`.
// Tested by tests/solve/line_solver_test.cpp.
#include "solve/line_preconditioner.hpp"

#include <algorithm>

namespace bathline {

namespace {

constexpr const char* line_solver_key = "bathline_line_solver";

PetscErrorCode matrix_of(PC pc, Mat* matrix, PetscContainer* container) {
  PetscFunctionBegin;
  PetscCall(PCGetOperators(pc, nullptr, matrix));
  PetscCall(PetscObjectQuery(reinterpret_cast<PetscObject>(*matrix), line_solver_key,
                             reinterpret_cast<PetscObject*>(container)));
  PetscFunctionReturn(0);
}

PetscErrorCode apply(PC pc, Vec x, Vec y) {
  PetscFunctionBegin;
  Mat matrix = nullptr;
  PetscContainer container = nullptr;
  PetscCall(matrix_of(pc, &matrix, &container));
  void* direct = nullptr;
  PetscCall(PetscContainerGetPointer(container, &direct));
  const PetscScalar* from = nullptr;
  PetscScalar* to = nullptr;
  PetscInt count = 0;
  PetscCall(VecGetLocalSize(x, &count));
  PetscCall(VecGetArrayRead(x, &from));
  PetscCall(VecGetArray(y, &to));
  std::copy_n(from, count, to);
  PetscCall(petsc_callback([&] { (*static_cast<const std::function<void(double*)>*>(direct))(to); }));
  PetscCall(VecRestoreArray(y, &to));
  PetscCall(VecRestoreArrayRead(x, &from));
  PetscFunctionReturn(0);
}

PetscErrorCode set_up(PC pc) {
  PetscFunctionBegin;
  Mat matrix = nullptr;
  PetscContainer container = nullptr;
  PetscCall(matrix_of(pc, &matrix, &container));
  if (!container)
    SETERRQ(PetscObjectComm(reinterpret_cast<PetscObject>(pc)), PETSC_ERR_ARG_WRONGSTATE,
            "-pc_type bathline solves lines only");
  PetscBool is_known = PETSC_FALSE, is_symmetric = PETSC_FALSE;
  PetscCall(MatIsSymmetricKnown(matrix, &is_known, &is_symmetric));
  if (is_known && is_symmetric) PetscCall(PCShellSetApplyTranspose(pc, apply));
  PetscFunctionReturn(0);
}

/// A shell of this type's name.
PetscErrorCode create(PC pc) {
  PetscFunctionBegin;
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(PCShellSetApply(pc, apply));
  PetscCall(PCShellSetSetUp(pc, set_up));
  PetscCall(PetscObjectChangeTypeName(reinterpret_cast<PetscObject>(pc), line_preconditioner_type));
  PetscFunctionReturn(0);
}

}  // namespace

void set_line_solver(Mat matrix, std::function<void(double* values)>& direct) {
  PetscContainer container = nullptr;
  petsc_check(PetscContainerCreate(PetscObjectComm(reinterpret_cast<PetscObject>(matrix)), &container));
  petsc_check(PetscContainerSetPointer(container, &direct));
  petsc_check(PetscObjectCompose(reinterpret_cast<PetscObject>(matrix), line_solver_key,
                                 reinterpret_cast<PetscObject>(container)));
  petsc_check(PetscContainerDestroy(&container));
}

void register_line_preconditioner() { petsc_check(PCRegister(line_preconditioner_type, create)); }

}  // namespace bathline
