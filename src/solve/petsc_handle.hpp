// Ownership of PETSc objects and of PETSc's error codes; for the .cpp files of solve/ only.
// Tested by tests/solve/petsc_session_test.cpp.
#pragma once

#include <petscsnes.h>

#include <string>
#include <utility>

#include "solve/solver_error.hpp"

namespace bathline {

/// Throws SolverError unless `code` is success. (clang 14 has no std::source_location.)
void petsc_check(PetscErrorCode code, const char* file = __builtin_FILE(), int line = __builtin_LINE());

/// Keeps the exception that is being handled for the next `petsc_check`, and returns an error code for PETSc.
PetscErrorCode keep_exception() noexcept;

/// Runs the body of a callback of PETSc. No exception may cross PETSc's C frames: PETSc gets an error code instead, and
/// `petsc_check` of the call that returns it throws the exception again.
template <class Body>
PetscErrorCode petsc_callback(Body body) noexcept {
  try {
    body();
    return 0;
  } catch (...) {
    return keep_exception();
  }
}

/// Why a solve on `ranks` ranks failed if PETSc returned an error on all of them, as with
/// `-snes_error_if_not_converged`; "" where it succeeded. Other errors are thrown: the remaining ranks may be waiting
/// inside PETSc.
std::string petsc_failure(PetscErrorCode code, int ranks);

/// Sole owner of a PETSc object.
template <class T, PetscErrorCode (*Destroy)(T*)>
class PetscHandle {
 public:
  PetscHandle() = default;
  ~PetscHandle() {
    if (object_) Destroy(&object_);
  }
  PetscHandle(PetscHandle&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  PetscHandle& operator=(PetscHandle&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  T get() const { return object_; }
  T* out() { return &object_; }

 private:
  T object_ = nullptr;
};

using VecHandle = PetscHandle<Vec, VecDestroy>;
using MatHandle = PetscHandle<Mat, MatDestroy>;
using KspHandle = PetscHandle<KSP, KSPDestroy>;
using SnesHandle = PetscHandle<SNES, SNESDestroy>;

}  // namespace bathline
