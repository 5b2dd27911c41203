// Events of `-log_view` around direct solvers, which use no object of PETSc's that would log itself; for the .cpp files
// of solve/ only.
// Tested by tests/command_line/log_test.py.
#pragma once

#include "solve/petsc_handle.hpp"
#include "solve/petsc_session.hpp"

namespace bathline {

/// Lasts as long as the object. Where PETSc does not run nothing is logged.
class LoggedEvent {
 public:
  explicit LoggedEvent(int event) : event_(event) {
    if (event_ >= 0) petsc_check(PetscLogEventBegin(event_, nullptr, nullptr, nullptr, nullptr));
  }
  ~LoggedEvent() {
    if (event_ >= 0) PetscLogEventEnd(event_, nullptr, nullptr, nullptr, nullptr);
  }
  LoggedEvent(const LoggedEvent&) = delete;
  LoggedEvent& operator=(const LoggedEvent&) = delete;

  /// The event called `name`, made known to PETSc by the first that wants it.
  static int named(const char* name) {
    PetscLogEvent event = -1;
    if (!PetscSession::runs()) return event;
    petsc_check(PetscLogEventGetId(name, &event));
    if (event < 0) petsc_check(PetscLogEventRegister(name, KSP_CLASSID, &event));
    return event;
  }

 private:
  int event_;
};

}  // namespace bathline
