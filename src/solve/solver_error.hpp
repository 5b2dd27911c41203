// Errors of the solver library.
#pragma once

#include <stdexcept>

namespace bathline {

/// A PETSc call that failed: what PETSc says, and where in this program. Raised on the ranks that made the call.
class SolverError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace bathline
