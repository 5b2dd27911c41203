// The linear system of all stages of an implicit method on a line, solved through PETSc as the user asks for it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "solve/stage_tridiagonal.hpp"

namespace bathline {

/// As LineSolver, with s stage values a site. The matrix need not be symmetric.
class LineStageSolver {
 public:
  /// Reads PETSc's options and sets everything up. Throws SolverError when PETSc refuses an option. @note Collective.
  LineStageSolver(const StageMatrix& matrix, const Layout& layout, const Communicator& communicator, int fields);
  ~LineStageSolver();

  /// First half, in place: `fields[f]` is this rank's part of the right-hand side, s values a site. Nothing where an
  /// iterative solver did not converge; `failure` says why. @note Collective.
  std::optional<StageRelation> eliminate(std::span<double* const> fields);
  /// Second half, in place; `head` is s x fields, the same on every rank. @note Collective.
  void substitute(std::span<double* const> fields, const Eigen::MatrixXd& head);
  /// Whether nobody wants anything but the direct solver.
  bool is_direct() const { return !petsc_; }
  const std::string& failure() const { return failure_; }

 private:
  struct Petsc;
  std::unique_ptr<StageSolver> direct_;
  std::unique_ptr<Petsc> petsc_;  // instead, where the user wants something else
  int eliminate_event_;           // in -log_view
  int substitute_event_;
  std::string failure_;
};

}  // namespace bathline
