// The linear system of all stages of an implicit method on a line, solved through PETSc as the user asks for it.
#include "solve/line_stage_solver.hpp"

#include <algorithm>
#include <vector>

#include "parallel/mpi_handle.hpp"
#include "solve/chosen_solver.hpp"
#include "solve/logged_event.hpp"

namespace bathline {

/// A user-selected solver. The responses to the head's stage values, T G = (c, 0, ..., 0), are solved once and kept.
struct LineStageSolver::Petsc {
  std::unique_ptr<StageSolver> preconditioner;  // PETSc's vectors hold one field
  std::unique_ptr<ChosenSolver> chosen;
  Eigen::Index stages = 0;
  std::size_t count = 0;                        // of this rank's stage values
  std::vector<Eigen::VectorXd> head_responses;  // G, this rank's values for each of the head's
  Eigen::MatrixXd slope;                        // G of the first site
};

namespace {

MatHandle assemble(const StageMatrix& line, const Layout& layout, const Communicator& communicator) {
  MatHandle matrix;
  const auto stages = static_cast<PetscInt>(line.coupling.rows());
  const auto total = static_cast<PetscInt>(layout.total());
  const auto first = static_cast<PetscInt>(layout.first(communicator.rank()));
  const auto count = static_cast<PetscInt>(layout.count(communicator.rank()));
  petsc_check(MatCreateAIJ(mpi_comm(communicator), count * stages, count * stages, total * stages, total * stages,
                           3 * stages, nullptr, 2 * stages, nullptr, matrix.out()));
  const Eigen::MatrixXd diagonal = Eigen::MatrixXd::Identity(stages, stages) + 2.0 * line.coupling;
  for (PetscInt site = first; site < first + count; ++site) {
    const Eigen::MatrixXd& own = site == total - 1 ? line.last : diagonal;
    for (PetscInt i = 0; i < stages; ++i) {
      const PetscInt row = site * stages + i;
      for (PetscInt j = 0; j < stages; ++j) {
        const double off = -line.coupling(i, j);
        const double values[] = {off, own(i, j), off};
        // PETSc ignores columns below 0.
        const PetscInt columns[] = {(site - 1) * stages + j, site * stages + j, (site + 1) * stages + j};
        petsc_check(MatSetValues(matrix.get(), 1, &row, site == total - 1 ? 2 : 3, columns, values, INSERT_VALUES));
      }
    }
  }
  petsc_check(MatAssemblyBegin(matrix.get(), MAT_FINAL_ASSEMBLY));
  petsc_check(MatAssemblyEnd(matrix.get(), MAT_FINAL_ASSEMBLY));
  return matrix;
}

}  // namespace

LineStageSolver::LineStageSolver(const StageMatrix& matrix, const Layout& layout, const Communicator& communicator,
                                 int fields)
    : eliminate_event_(LoggedEvent::named("LineEliminate")), substitute_event_(LoggedEvent::named("LineSubstitute")) {
  if (wants_direct_solver(communicator)) {
    direct_ = make_stage_solver(matrix, layout, communicator, fields);
    return;
  }
  petsc_ = std::make_unique<Petsc>();
  Petsc& p = *petsc_;
  p.preconditioner = make_stage_solver(matrix, layout, communicator, 1);
  p.stages = matrix.coupling.rows();
  p.count = static_cast<std::size_t>(layout.count(communicator.rank()) * p.stages);
  const Eigen::MatrixXd at_rest = Eigen::MatrixXd::Zero(p.stages, 1);
  p.chosen = std::make_unique<ChosenSolver>(
      assemble(matrix, layout, communicator),
      [&p, at_rest](double* values) {
        p.preconditioner->eliminate({&values, 1});
        p.preconditioner->substitute({&values, 1}, at_rest);
      },
      communicator);

  p.slope = Eigen::MatrixXd::Zero(p.stages, p.stages);
  for (Eigen::Index j = 0; j < p.stages && failure_.empty(); ++j) {
    Eigen::VectorXd response = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(p.count));
    if (communicator.is_root()) response.head(p.stages) = matrix.coupling.col(j);
    failure_ = p.chosen->solve({response.data(), p.count});
    if (communicator.is_root()) p.slope.col(j) = response.head(p.stages);
    p.head_responses.push_back(std::move(response));
  }
  communicator.broadcast(std::span<double>(p.slope.data(), static_cast<std::size_t>(p.slope.size())));
}

LineStageSolver::~LineStageSolver() = default;

std::optional<StageRelation> LineStageSolver::eliminate(std::span<double* const> fields) {
  if (direct_) {
    const LoggedEvent logged(eliminate_event_);
    return direct_->eliminate(fields);
  }
  const Petsc& p = *petsc_;
  StageRelation relation{Eigen::MatrixXd::Zero(p.stages, static_cast<Eigen::Index>(fields.size())), p.slope};
  for (std::size_t f = 0; f < fields.size(); ++f) {
    if (failure_.empty()) failure_ = p.chosen->solve({fields[f], p.count});
    if (!failure_.empty()) return std::nullopt;
    if (p.count > 0) std::copy_n(fields[f], p.stages, relation.constant.col(static_cast<Eigen::Index>(f)).data());
  }
  return relation;
}

void LineStageSolver::substitute(std::span<double* const> fields, const Eigen::MatrixXd& head) {
  if (direct_) {
    const LoggedEvent logged(substitute_event_);
    direct_->substitute(fields, head);
    return;
  }
  for (std::size_t f = 0; f < fields.size(); ++f) {
    Eigen::Map<Eigen::VectorXd> field(fields[f], static_cast<Eigen::Index>(petsc_->count));
    for (Eigen::Index j = 0; j < petsc_->stages; ++j) {
      field += head(j, static_cast<Eigen::Index>(f)) * petsc_->head_responses[static_cast<std::size_t>(j)];
    }
  }
}

}  // namespace bathline
