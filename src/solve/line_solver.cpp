// The linear system for the stages of an implicit step on a line, solved directly or by the PETSc solver that the user
// selects.
#include "solve/line_solver.hpp"

#include <algorithm>
#include <vector>

#include "parallel/mpi_handle.hpp"
#include "solve/ksp_line_solver.hpp"
#include "solve/logged_event.hpp"

namespace bathline {

/// A user-selected solver. The responses to the head's stage values, T G = (before, 0, ..., 0), are computed once.
struct LineSolver::Petsc {
  std::unique_ptr<DirectLineSolver> preconditioner;  // PETSc's vectors hold one field
  std::unique_ptr<KspLineSolver> solver;
  std::vector<double> unit;                         // of this rank's fields
  std::vector<std::vector<double>> head_responses;  // G, this rank's part for each stage value of the head
  HeadRelation relation;                            // its slope is G of the first site
};

namespace {

MatHandle assemble(const DirectLineSolver& line, const Layout& layout, const Communicator& communicator) {
  MatHandle matrix;
  const auto stages = static_cast<PetscInt>(line.stages());
  const auto total = static_cast<PetscInt>(layout.total());
  const auto first = static_cast<PetscInt>(layout.first(communicator.rank()));
  const auto count = static_cast<PetscInt>(layout.count(communicator.rank()));
  petsc_check(MatCreateAIJ(mpi_comm(communicator), count * stages, count * stages, total * stages, total * stages,
                           3 * stages, nullptr, 2 * stages, nullptr, matrix.out()));
  for (PetscInt site = first; site < first + count; ++site) {
    const LineRow entries = line.row(site - first);
    for (PetscInt i = 0; i < stages; ++i) {
      const PetscInt row = site * stages + i;
      for (PetscInt j = 0; j < stages; ++j) {
        const double values[] = {-entries.before(i, j), entries.diagonal(i, j), -entries.behind(i, j)};
        // PETSc ignores columns below 0.
        const PetscInt columns[] = {row - i + j - stages, row - i + j, row - i + j + stages};
        petsc_check(MatSetValues(matrix.get(), 1, &row, site == total - 1 ? 2 : 3, columns, values, INSERT_VALUES));
      }
    }
  }
  petsc_check(MatAssemblyBegin(matrix.get(), MAT_FINAL_ASSEMBLY));
  petsc_check(MatAssemblyEnd(matrix.get(), MAT_FINAL_ASSEMBLY));
  // With several stages the matrix need not be symmetric.
  if (stages == 1) petsc_check(MatSetOption(matrix.get(), MAT_SPD, PETSC_TRUE));
  return matrix;
}

}  // namespace

LineSolver::LineSolver(const LineMatrix& matrix, const Layout& layout, const Communicator& communicator, int fields)
    : LineSolver([&](int n) { return make_tridiagonal(matrix, layout, communicator, n); }, layout, communicator,
                 fields) {}

LineSolver::LineSolver(const NonuniformLineMatrix& matrix, const Layout& layout, const Communicator& communicator,
                       int fields)
    : LineSolver([&](int n) { return make_nonuniform_tridiagonal(matrix, layout, communicator, n); }, layout,
                 communicator, fields) {}

LineSolver::LineSolver(const Make& make, const Layout& layout, const Communicator& communicator, int fields)
    : direct_(make(fields)),
      eliminate_event_(LoggedEvent::named("LineEliminate")),
      substitute_event_(LoggedEvent::named("LineSubstitute")) {
  if (uses_direct_solver(communicator)) return;
  petsc_ = std::make_unique<Petsc>();
  Petsc& p = *petsc_;
  p.preconditioner = make(1);
  const auto stages = static_cast<std::size_t>(direct_->stages());
  for (std::int64_t site = 0; site < layout.count(communicator.rank()); ++site) {
    p.unit.insert(p.unit.end(), stages, direct_->row(site).unit);
  }
  const Eigen::MatrixXd at_rest = Eigen::MatrixXd::Zero(direct_->stages(), 1);
  p.solver = std::make_unique<KspLineSolver>(
      assemble(*direct_, layout, communicator),
      [&p, at_rest](double* values) {
        p.preconditioner->eliminate({&values, 1});
        p.preconditioner->substitute({&values, 1}, at_rest);
        for (std::size_t j = 0; j < p.unit.size(); ++j) values[j] /= p.unit[j];
      },
      communicator);

  HeadRelation& relation = p.relation;
  relation = {Eigen::MatrixXd::Zero(direct_->stages(), fields),
              Eigen::MatrixXd::Zero(direct_->stages(), direct_->stages())};
  for (Eigen::Index j = 0; j < relation.slope.cols() && failure_.empty(); ++j) {
    std::vector<double> response(p.unit.size());
    if (communicator.is_root())
      Eigen::VectorXd::Map(response.data(), direct_->stages()) = direct_->row(0).before.col(j);
    failure_ = p.solver->solve(response);
    if (communicator.is_root()) std::copy_n(response.begin(), stages, relation.slope.col(j).begin());
    p.head_responses.push_back(std::move(response));
  }
  communicator.broadcast(std::span<double>(relation.slope.data(), static_cast<std::size_t>(relation.slope.size())));
}

LineSolver::~LineSolver() = default;

const HeadRelation* LineSolver::eliminate(std::span<double* const> fields) {
  if (!petsc_) {
    const LoggedEvent logged(eliminate_event_);
    return &direct_->eliminate(fields);
  }
  Petsc& p = *petsc_;
  for (std::size_t f = 0; f < fields.size(); ++f) {
    if (failure_.empty()) failure_ = p.solver->solve({fields[f], p.unit.size()});
    if (!failure_.empty()) return nullptr;
    auto constant = p.relation.constant.col(static_cast<Eigen::Index>(f));
    if (!p.unit.empty()) std::copy_n(fields[f], constant.size(), constant.begin());
    for (std::size_t j = 0; j < p.unit.size(); ++j) fields[f][j] *= p.unit[j];
  }
  return &p.relation;
}

void LineSolver::substitute(std::span<double* const> fields, const Eigen::MatrixXd& head) {
  if (!petsc_) {
    const LoggedEvent logged(substitute_event_);
    direct_->substitute(fields, head);
    return;
  }
  const Petsc& p = *petsc_;
  for (std::size_t f = 0; f < fields.size(); ++f) {
    for (std::size_t i = 0; i < p.head_responses.size(); ++i) {
      const double value = head(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(f));
      for (std::size_t j = 0; j < p.unit.size(); ++j) fields[f][j] += value * p.head_responses[i][j] * p.unit[j];
    }
  }
}

}  // namespace bathline
