// The direct solver of a line as a PETSc preconditioner, `-pc_type bathline`.
// Tested by tests/solve/line_solver_test.cpp.
#include "solve/line_preconditioner.hpp"

#include <petsc/private/pcimpl.h>

#include <algorithm>

namespace bathline {

namespace {

constexpr const char* line_solver_key = "bathline_line_solver";

PetscErrorCode apply(PC pc, Vec x, Vec y) {
  PetscFunctionBegin;
  const auto& direct = *static_cast<const std::function<void(double*)>*>(pc->data);
  const PetscScalar* from = nullptr;
  PetscScalar* to = nullptr;
  PetscInt count = 0;
  PetscCall(VecGetLocalSize(x, &count));
  PetscCall(VecGetArrayRead(x, &from));
  PetscCall(VecGetArray(y, &to));
  std::copy_n(from, count, to);
  PetscCall(petsc_callback([&] { direct(to); }));
  PetscCall(VecRestoreArray(y, &to));
  PetscCall(VecRestoreArrayRead(x, &from));
  PetscFunctionReturn(0);
}

PetscErrorCode set_up(PC pc) {
  PetscFunctionBegin;
  PetscContainer container = nullptr;
  PetscCall(PetscObjectQuery(reinterpret_cast<PetscObject>(pc->pmat), line_solver_key,
                             reinterpret_cast<PetscObject*>(&container)));
  if (!container)
    SETERRQ(PetscObjectComm(reinterpret_cast<PetscObject>(pc)), PETSC_ERR_ARG_WRONGSTATE,
            "-pc_type bathline solves lines only");
  PetscCall(PetscContainerGetPointer(container, &pc->data));
  PetscBool is_known = PETSC_FALSE, is_symmetric = PETSC_FALSE;
  PetscCall(MatIsSymmetricKnown(pc->pmat, &is_known, &is_symmetric));
  if (is_known && is_symmetric) pc->ops->applytranspose = apply;
  PetscFunctionReturn(0);
}

PetscErrorCode create(PC pc) {
  PetscFunctionBegin;
  pc->data = nullptr;
  pc->ops->apply = apply;
  pc->ops->setup = set_up;
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
