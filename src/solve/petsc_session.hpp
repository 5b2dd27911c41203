// The lifetime of PETSc in a run, and the options that a user passes to it.
#pragma once

#include <string>
#include <vector>

#include "parallel/communicator.hpp"

namespace bathline {

/// PETSc on the ranks of `communicator` with options accepted by `user_options` or `options_of_file`. A single process
/// without options starts PETSc only with its first PETSc solver, which most runs do not have.
class PetscSession {
 public:
  /// Throws UsageError where PETSc does not start with these options. @note Collective.
  PetscSession(const Communicator& communicator, const std::vector<std::string>& options);
  ~PetscSession();
  PetscSession(const PetscSession&) = delete;
  PetscSession& operator=(const PetscSession&) = delete;

  /// Starts PETSc unless it is running. @note Collective.
  void start();
  /// Starts PETSc, if that was deferred, for a solver on one rank.
  static void start_if_deferred();
  /// Whether PETSc is running; only then can its options be queried.
  static bool runs();

  /// Options that no PETSc object has queried: misspelt ones, once all solvers are set up. Standard solver options
  /// count as known even in a run that does not use them. @note Collective, the same list on every rank.
  std::vector<std::string> unknown_options() const;

 private:
  Communicator communicator_;
  std::vector<std::string> options_;
};

/// A stage in the output of `-log_view`, which lasts as long as the object.
class LogStage {
 public:
  /// @note Collective.
  explicit LogStage(const char* name);
  ~LogStage();
  LogStage(const LogStage&) = delete;
  LogStage& operator=(const LogStage&) = delete;

 private:
  bool is_logged_;
};

/// "3.18.5, 64-bit indices".
std::string petsc_version();

}  // namespace bathline
