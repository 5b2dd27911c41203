// The direct solver of a line as a PETSc preconditioner, `-pc_type bathline`.
#pragma once

#include <functional>

#include "solve/petsc_handle.hpp"

namespace bathline {

/// Registers the type with PETSc.
void register_line_preconditioner();
/// Lets the preconditioner of a matrix solve the system in place by `direct`, which must outlive the matrix.
void set_line_solver(Mat matrix, std::function<void(double* values)>& direct);

inline constexpr const char* line_preconditioner_type = "bathline";

}  // namespace bathline
