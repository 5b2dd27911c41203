// The linear system of an implicit stage on a line, solved through PETSc as the user asks for it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "solve/tridiagonal.hpp"

namespace bathline {

/// Solves (I + c K') x = r on the sites, for every field, with the head's value x_0 found in between by the particles.
///
/// By default `-ksp_type preonly -pc_type bathline`: the direct solver used in place, without any vector of PETSc's.
/// Any other KSP or PC that the user selects solves the same system with matrix and vectors of PETSc's.
class LineSolver {
 public:
  /// Reads PETSc's options and sets everything up. Throws SolverError when PETSc refuses an option. @note Collective.
  LineSolver(const LineMatrix& matrix, const Layout& layout, const Communicator& communicator, int fields);
  ~LineSolver();

  /// First half, in place: `fields[f]` is this rank's part of r. The relation tells the particles how the first site
  /// follows the head. Nothing where an iterative solver did not converge; `failure` says why. @note Collective.
  std::optional<HeadRelation> eliminate(std::span<double* const> fields);
  /// Second half, in place: `fields[f]` becomes x. @note Collective.
  void substitute(std::span<double* const> fields, std::span<const double> head);
  /// Whether nobody wants anything but the direct solver.
  bool is_direct() const { return !petsc_; }
  const std::string& failure() const { return failure_; }

 private:
  struct Petsc;
  PartitionedTridiagonal direct_;
  std::unique_ptr<Petsc> petsc_;  // only where the user wants something else
  int eliminate_event_;           // in -log_view
  int substitute_event_;
  std::string failure_;
};

}  // namespace bathline
