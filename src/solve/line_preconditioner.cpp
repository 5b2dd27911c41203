// The direct solver of a line as a PETSc preconditioner, `-pc_type bathline`.
#include "solve/line_preconditioner.hpp"

#include <petsc/private/pcimpl.h>

#include <algorithm>

#include "solve/direct_line_solver.hpp"
#include "solve/petsc_handle.hpp"

namespace bathline {

namespace {

PetscErrorCode apply(PC pc, Vec x, Vec y) {
  PetscFunctionBegin;
  auto* line = static_cast<DirectLineSolver*>(pc->data);
  const PetscScalar* from = nullptr;
  PetscScalar* to = nullptr;
  PetscInt count = 0;
  PetscCall(VecGetLocalSize(x, &count));
  PetscCall(VecGetArrayRead(x, &from));
  PetscCall(VecGetArray(y, &to));
  std::copy_n(from, count, to);
  const double head = 0.0;
  line->eliminate({&to, 1});
  line->substitute({&to, 1}, {&head, 1});
  for (PetscInt j = 0; j < count; ++j) to[j] /= line->row(j).unit;
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
  PetscFunctionReturn(0);
}

PetscErrorCode create(PC pc) {
  PetscFunctionBegin;
  pc->data = nullptr;
  pc->ops->apply = apply;
  pc->ops->applytranspose = apply;  // the matrix is symmetric
  pc->ops->setup = set_up;
  PetscFunctionReturn(0);
}

}  // namespace

void register_line_preconditioner() { petsc_check(PCRegister(line_preconditioner_type, create)); }

}  // namespace bathline
