// The linear system of an implicit stage on a line, solved through PETSc as the user asks for it.
#include "solve/line_solver.hpp"

#include <fmt/format.h>

#include <cstring>

#include "parallel/mpi_handle.hpp"
#include "solve/line_preconditioner.hpp"
#include "solve/petsc_handle.hpp"

namespace bathline {

/// The objects of a user-selected solver. The response to the head, T g = c e_1, is solved once and kept.
struct LineSolver::Petsc {
  std::unique_ptr<DirectLineSolver> preconditioner;  // PETSc's vectors hold one field
  MatHandle matrix;
  KspHandle ksp;
  VecHandle right;
  VecHandle solution;
  VecHandle head_response;
  std::int64_t count = 0;
  std::vector<double> unit;  // of the rows
  double slope = 0.0;        // g_1
};

namespace {

/// An event of `-log_view` around the direct solver, which uses no object of PETSc's that would log itself.
class LoggedEvent {
 public:
  explicit LoggedEvent(int event) : event_(event) {
    petsc_check(PetscLogEventBegin(event_, nullptr, nullptr, nullptr, nullptr));
  }
  ~LoggedEvent() { PetscLogEventEnd(event_, nullptr, nullptr, nullptr, nullptr); }
  LoggedEvent(const LoggedEvent&) = delete;
  LoggedEvent& operator=(const LoggedEvent&) = delete;

 private:
  int event_;
};

/// The event called `name`, made known to PETSc by the first solver that wants it.
int logged_event(const char* name) {
  PetscLogEvent event = -1;
  petsc_check(PetscLogEventGetId(name, &event));
  if (event < 0) petsc_check(PetscLogEventRegister(name, KSP_CLASSID, &event));
  return event;
}

MatHandle assemble(const DirectLineSolver& line, const Layout& layout, const Communicator& communicator) {
  MatHandle matrix;
  const auto total = static_cast<PetscInt>(layout.total());
  const auto first = static_cast<PetscInt>(layout.first(communicator.rank()));
  const auto count = static_cast<PetscInt>(layout.count(communicator.rank()));
  petsc_check(MatCreateAIJ(mpi_comm(communicator), count, count, total, total, 3, nullptr, 2, nullptr, matrix.out()));
  for (PetscInt row = first; row < first + count; ++row) {
    const PetscInt columns[] = {row - 1, row, row + 1};  // PETSc ignores column -1
    const LineRow entries = line.row(row - first);
    const double values[] = {-entries.before, entries.diagonal, -entries.behind};
    petsc_check(MatSetValues(matrix.get(), 1, &row, row == total - 1 ? 2 : 3, columns, values, INSERT_VALUES));
  }
  petsc_check(MatAssemblyBegin(matrix.get(), MAT_FINAL_ASSEMBLY));
  petsc_check(MatAssemblyEnd(matrix.get(), MAT_FINAL_ASSEMBLY));
  petsc_check(MatSetOption(matrix.get(), MAT_SPD, PETSC_TRUE));
  return matrix;
}

/// Whether the user's options leave the default in place. The types are read from a solver without a matrix.
bool wants_default(const Communicator& communicator) {
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

/// Why it did not converge; "" where it did.
std::string solve(KSP ksp, Vec right, Vec solution) {
  petsc_check(KSPSolve(ksp, right, solution));
  KSPConvergedReason reason;
  petsc_check(KSPGetConvergedReason(ksp, &reason));
  if (reason >= 0) return "";
  double norm = 0.0;
  PetscInt iterations = 0;
  petsc_check(KSPGetResidualNorm(ksp, &norm));
  petsc_check(KSPGetIterationNumber(ksp, &iterations));
  return fmt::format("the linear solver on a line stopped after {} iterations with residual {:.3e}: {}", iterations,
                     norm, KSPConvergedReasons[reason]);
}

}  // namespace

LineSolver::LineSolver(const LineMatrix& matrix, const Layout& layout, const Communicator& communicator, int fields)
    : LineSolver([&](int n) { return std::make_unique<PartitionedTridiagonal>(matrix, layout, communicator, n); },
                 layout, communicator, fields) {}

LineSolver::LineSolver(const UnequalLineMatrix& matrix, const Layout& layout, const Communicator& communicator,
                       int fields)
    : LineSolver([&](int n) { return std::make_unique<UnequalTridiagonal>(matrix, layout, communicator, n); }, layout,
                 communicator, fields) {}

LineSolver::LineSolver(const Make& make, const Layout& layout, const Communicator& communicator, int fields)
    : direct_(make(fields)),
      eliminate_event_(logged_event("LineEliminate")),
      substitute_event_(logged_event("LineSubstitute")) {
  if (wants_default(communicator)) return;
  petsc_ = std::make_unique<Petsc>();
  Petsc& p = *petsc_;
  p.preconditioner = make(1);
  p.count = layout.count(communicator.rank());
  for (std::int64_t j = 0; j < p.count; ++j) p.unit.push_back(direct_->row(j).unit);
  p.matrix = assemble(*direct_, layout, communicator);
  PetscContainer container = nullptr;
  petsc_check(PetscContainerCreate(mpi_comm(communicator), &container));
  petsc_check(PetscContainerSetPointer(container, p.preconditioner.get()));
  petsc_check(PetscObjectCompose(reinterpret_cast<PetscObject>(p.matrix.get()), line_solver_key,
                                 reinterpret_cast<PetscObject>(container)));
  petsc_check(PetscContainerDestroy(&container));

  petsc_check(KSPCreate(mpi_comm(communicator), p.ksp.out()));
  petsc_check(KSPSetOperators(p.ksp.get(), p.matrix.get(), p.matrix.get()));
  petsc_check(KSPSetType(p.ksp.get(), KSPPREONLY));
  // Unless the user says otherwise an iterative solver goes on to near round-off.
  petsc_check(KSPSetTolerances(p.ksp.get(), 1e-14, 1e-300, PETSC_DEFAULT, PETSC_DEFAULT));
  PC pc = nullptr;
  petsc_check(KSPGetPC(p.ksp.get(), &pc));
  petsc_check(PCSetType(pc, line_preconditioner_type));
  petsc_check(KSPSetFromOptions(p.ksp.get()));
  petsc_check(MatCreateVecs(p.matrix.get(), p.solution.out(), p.right.out()));
  petsc_check(VecDuplicate(p.solution.get(), p.head_response.out()));
  petsc_check(KSPSetUp(p.ksp.get()));
  petsc_check(KSPSetUpOnBlocks(p.ksp.get()));

  if (communicator.is_root()) petsc_check(VecSetValue(p.right.get(), 0, direct_->row(0).before, INSERT_VALUES));
  petsc_check(VecAssemblyBegin(p.right.get()));
  petsc_check(VecAssemblyEnd(p.right.get()));
  failure_ = solve(p.ksp.get(), p.right.get(), p.head_response.get());
  double slope = 0.0;
  if (communicator.is_root()) {
    const PetscInt row = 0;
    petsc_check(VecGetValues(p.head_response.get(), 1, &row, &slope));
  }
  communicator.broadcast(std::span<double>(&slope, 1));
  p.slope = slope;
}

LineSolver::~LineSolver() = default;

std::optional<HeadRelation> LineSolver::eliminate(std::span<double* const> fields) {
  if (!petsc_) {
    const LoggedEvent logged(eliminate_event_);
    return direct_->eliminate(fields);
  }
  Petsc& p = *petsc_;
  if (!failure_.empty()) return std::nullopt;
  HeadRelation relation;
  relation.slope = p.slope;
  for (double* field : fields) {
    petsc_check(VecPlaceArray(p.right.get(), field));
    failure_ = solve(p.ksp.get(), p.right.get(), p.solution.get());
    petsc_check(VecResetArray(p.right.get()));
    if (!failure_.empty()) return std::nullopt;
    const PetscScalar* values = nullptr;
    petsc_check(VecGetArrayRead(p.solution.get(), &values));
    for (std::int64_t j = 0; j < p.count; ++j) field[j] = p.unit[static_cast<std::size_t>(j)] * values[j];
    relation.constant.push_back(p.count > 0 ? values[0] : 0.0);
    petsc_check(VecRestoreArrayRead(p.solution.get(), &values));
  }
  return relation;
}

void LineSolver::substitute(std::span<double* const> fields, std::span<const double> head) {
  if (!petsc_) {
    const LoggedEvent logged(substitute_event_);
    direct_->substitute(fields, head);
    return;
  }
  const PetscScalar* response = nullptr;
  petsc_check(VecGetArrayRead(petsc_->head_response.get(), &response));
  for (std::size_t f = 0; f < fields.size(); ++f) {
    for (std::int64_t j = 0; j < petsc_->count; ++j) {
      fields[f][j] += head[f] * response[j] * petsc_->unit[static_cast<std::size_t>(j)];
    }
  }
  petsc_check(VecRestoreArrayRead(petsc_->head_response.get(), &response));
}

}  // namespace bathline
