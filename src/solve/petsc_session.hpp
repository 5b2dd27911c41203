// The lifetime of PETSc in a run, and the options that a user passes to it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "parallel/communicator.hpp"

namespace bathline {

/// Options of PETSc, accepted by `user_options` or `options_of_file`, for as long as the object lives. PETSc starts
/// once in a process, on the ranks of the first communicator, and ends with message passing. A single process without
/// options starts it only with its first PETSc solver, which most runs do not have.
class PetscSession {
 public:
  /// Throws UsageError where PETSc does not start with the options of its environment. @note Collective.
  PetscSession(const Communicator& communicator, const std::vector<std::string>& options);
  /// Prints what `-log_view` asks for. @note Collective.
  ~PetscSession();
  PetscSession(const PetscSession&) = delete;
  PetscSession& operator=(const PetscSession&) = delete;

  /// Starts PETSc unless it is running. @note Collective.
  static void start(const Communicator& communicator);
  /// Starts PETSc, if that was deferred, for a solver on one rank.
  static void start_if_deferred();
  /// Whether PETSc is running; only then can its options be queried.
  static bool runs();

  /// Options that no PETSc object has queried: misspelt ones, once all solvers are set up. Standard solver options
  /// count as known even in a run that does not use them. @note Collective, the same list on every rank.
  std::vector<std::string> unknown_options() const;

 private:
  struct Replaced {
    std::string name;
    std::optional<std::string> value;  ///< before, if there was one
  };
  Communicator communicator_;
  std::vector<Replaced> replaced_;
  bool prints_log_ = false;
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
