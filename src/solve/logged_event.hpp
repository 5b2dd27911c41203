// Events of `-log_view` around direct solvers, which use no PETSc object that would be logged; for the .cpp files of
// solve/ only.
// Tested by tests/command_line/log_test.py.
#pragma once

#include "solve/petsc_handle.hpp"
#include "solve/petsc_session.hpp"

namespace bathline {

/// An event that lasts as long as the object. Nothing is logged where PETSc is not running.
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

  /// The number of the event `name`, which is registered with PETSc at its first use; -1 where PETSc is not running.
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
