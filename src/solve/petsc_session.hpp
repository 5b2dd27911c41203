// PETSc from construction to destruction, and the options that a user passes to it.
#pragma once

#include <string>
#include <vector>

#include "parallel/communicator.hpp"

namespace bathline {

/// PETSc on the ranks of `communicator` with options that `user_options` or `options_of_file` let through. One process
/// without options starts it when the first solver of PETSc's is made: most runs have none.
class PetscSession {
 public:
  /// Throws UsageError where PETSc does not start with these options. @note Collective.
  PetscSession(const Communicator& communicator, const std::vector<std::string>& options);
  ~PetscSession();
  PetscSession(const PetscSession&) = delete;
  PetscSession& operator=(const PetscSession&) = delete;

  /// Starts PETSc unless it runs. @note Collective.
  void start();
  /// Starts PETSc for a solver of its own on one rank.
  static void start_if_waiting();
  /// Whether PETSc runs, so that there may be options to ask for.
  static bool runs();

  /// Options that nothing has asked for: misspelt ones, once all solvers are set up. Standard solver options count as
  /// known even where a run has no use for them. @note Collective, the same list on every rank.
  std::vector<std::string> unknown_options() const;

 private:
  Communicator communicator_;
  std::vector<std::string> options_;
};

/// A part of a run, as long as this lives: a stage of its own in what `-log_view` prints.
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
