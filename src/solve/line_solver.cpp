// The linear system of an implicit stage on a line, solved through PETSc as the user asks for it.
#include "solve/line_solver.hpp"

#include <vector>

#include "parallel/mpi_handle.hpp"
#include "solve/chosen_solver.hpp"
#include "solve/logged_event.hpp"

namespace bathline {

/// A user-selected solver. The response to the head, T g = c e_1, is solved once and kept.
struct LineSolver::Petsc {
  std::unique_ptr<DirectLineSolver> preconditioner;  // PETSc's vectors hold one field
  std::vector<double> unit;                          // of the rows
  std::unique_ptr<ChosenSolver> chosen;
  std::vector<double> head_response;
  double slope = 0.0;  // g_1
};

namespace {

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
      eliminate_event_(LoggedEvent::named("LineEliminate")),
      substitute_event_(LoggedEvent::named("LineSubstitute")) {
  if (wants_direct_solver(communicator)) return;
  petsc_ = std::make_unique<Petsc>();
  Petsc& p = *petsc_;
  p.preconditioner = make(1);
  const auto count = static_cast<std::size_t>(layout.count(communicator.rank()));
  for (std::size_t j = 0; j < count; ++j) p.unit.push_back(direct_->row(static_cast<std::int64_t>(j)).unit);
  p.chosen = std::make_unique<ChosenSolver>(
      assemble(*direct_, layout, communicator),
      [&p](double* values) {
        const double head = 0.0;
        p.preconditioner->eliminate({&values, 1});
        p.preconditioner->substitute({&values, 1}, {&head, 1});
        for (std::size_t j = 0; j < p.unit.size(); ++j) values[j] /= p.unit[j];
      },
      communicator);
  p.head_response.resize(count);
  if (communicator.is_root()) p.head_response[0] = direct_->row(0).before;
  failure_ = p.chosen->solve(p.head_response);
  if (communicator.is_root()) p.slope = p.head_response[0];
  communicator.broadcast(std::span<double>(&p.slope, 1));
}

LineSolver::~LineSolver() = default;

std::optional<HeadRelation> LineSolver::eliminate(std::span<double* const> fields) {
  if (!petsc_) {
    const LoggedEvent logged(eliminate_event_);
    return direct_->eliminate(fields);
  }
  const Petsc& p = *petsc_;
  HeadRelation relation;
  relation.slope = p.slope;
  for (double* field : fields) {
    if (failure_.empty()) failure_ = p.chosen->solve({field, p.unit.size()});
    if (!failure_.empty()) return std::nullopt;
    relation.constant.push_back(p.unit.empty() ? 0.0 : field[0]);
    for (std::size_t j = 0; j < p.unit.size(); ++j) field[j] *= p.unit[j];
  }
  return relation;
}

void LineSolver::substitute(std::span<double* const> fields, std::span<const double> head) {
  if (!petsc_) {
    const LoggedEvent logged(substitute_event_);
    direct_->substitute(fields, head);
    return;
  }
  const Petsc& p = *petsc_;
  for (std::size_t f = 0; f < fields.size(); ++f) {
    for (std::size_t j = 0; j < p.unit.size(); ++j) fields[f][j] += head[f] * p.head_response[j] * p.unit[j];
  }
}

}  // namespace bathline
