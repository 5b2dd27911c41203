// The direct solver of a line as a PETSc preconditioner, `-pc_type bathline`.
#pragma once

namespace bathline {

/// Registers the type with PETSc. The preconditioner finds a KspLineSolver::Direct composed with the matrix under
/// `line_solver_key`.
void register_line_preconditioner();

inline constexpr const char* line_preconditioner_type = "bathline";
inline constexpr const char* line_solver_key = "bathline_line_solver";

}  // namespace bathline
