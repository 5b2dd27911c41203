// The linear system of the stages of an implicit step on a line, solved through PETSc as the user asks for it.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "solve/tridiagonal.hpp"
#include "solve/nonuniform_tridiagonal.hpp"

namespace bathline {

/// Solves the system of tridiagonal.hpp or, where the sites differ, of unequal_tridiagonal.hpp, for every field, with
/// the head's values found in between by the particles.
///
/// By default `-ksp_type preonly -pc_type bathline`: the direct solver used in place, without any vector of PETSc's.
/// Any other KSP or PC that the user selects solves the same system with matrix and vectors of PETSc's.
class LineSolver {
 public:
  /// Reads PETSc's options and sets everything up. Throws SolverError when PETSc refuses an option. @note Collective.
  LineSolver(const LineMatrix& matrix, const Layout& layout, const Communicator& communicator, int fields);
  LineSolver(const NonuniformLineMatrix& matrix, const Layout& layout, const Communicator& communicator, int fields);
  ~LineSolver();

  /// First half, in place: `fields[f]` is this rank's part of r. The relation tells the particles how the first site
  /// follows the head; its constants are known to rank 0. Nothing where an iterative solver did not converge;
  /// `failure` says why. @note Collective.
  const HeadRelation* eliminate(std::span<double* const> fields);
  /// Second half, in place: `fields[f]` becomes x. `head` is s x fields, the same on every rank. @note Collective.
  void substitute(std::span<double* const> fields, const Eigen::MatrixXd& head);
  /// Whether nobody wants anything but the direct solver.
  bool is_direct() const { return !petsc_; }
  const std::string& failure() const { return failure_; }

 private:
  struct Petsc;
  /// A direct solver for so many fields.
  using Make = std::function<std::unique_ptr<DirectLineSolver>(int fields)>;
  LineSolver(const Make& make, const Layout& layout, const Communicator& communicator, int fields);

  std::unique_ptr<DirectLineSolver> direct_;
  std::unique_ptr<Petsc> petsc_;  // only where the user wants something else
  int eliminate_event_;           // in -log_view
  int substitute_event_;
  std::string failure_;
};

}  // namespace bathline
