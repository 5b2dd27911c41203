// The linear system for the stages of an implicit step on a line, solved directly or by the PETSc solver that the user
// selects.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "solve/tridiagonal.hpp"
#include "solve/nonuniform_tridiagonal.hpp"

namespace bathline {

/// Solves the system of tridiagonal.hpp or, where the sites differ, of nonuniform_tridiagonal.hpp, for every field.
/// Between elimination and back substitution the particles determine the values of the head.
///
/// By default, `-ksp_type preonly -pc_type bathline`, the direct solver works in place, without PETSc vectors. Any
/// other KSP or PC that the user selects solves the same system with a PETSc matrix and PETSc vectors.
class LineSolver {
 public:
  /// Reads PETSc's options and sets the solver up. Throws SolverError when PETSc refuses an option. @note Collective.
  LineSolver(const LineMatrix& matrix, const Layout& layout, const Communicator& communicator, int fields);
  LineSolver(const NonuniformLineMatrix& matrix, const Layout& layout, const Communicator& communicator, int fields);
  ~LineSolver();

  /// First half, in place: `fields[f]` is this rank's part of r. The relation expresses the first site by the values of
  /// the head; its constants are valid on rank 0. Null where an iterative solver did not converge; `failure` has the
  /// reason. @note Collective.
  const HeadRelation* eliminate(std::span<double* const> fields);
  /// Second half, in place: `fields[f]` becomes x. `head` is s x fields, the same on every rank. @note Collective.
  void substitute(std::span<double* const> fields, const Eigen::MatrixXd& head);
  /// Whether the direct solver is used.
  bool is_direct() const { return !petsc_; }
  const std::string& failure() const { return failure_; }

 private:
  struct Petsc;
  /// Makes a direct solver for `fields` fields.
  using Make = std::function<std::unique_ptr<DirectLineSolver>(int fields)>;
  LineSolver(const Make& make, const Layout& layout, const Communicator& communicator, int fields);

  std::unique_ptr<DirectLineSolver> direct_;
  std::unique_ptr<Petsc> petsc_;  // only where the user selects another solver
  int eliminate_event_;           // in -log_view
  int substitute_event_;
  std::string failure_;
};

}  // namespace bathline
