// Runs from the text of a recipe to finished result files: one, those of a sweep, and one that verifies a result.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "driver/program.hpp"
#include "driver/progress.hpp"
#include "parallel/communicator.hpp"
#include "recipe/recipe.hpp"
#include "record/result_lock.hpp"

namespace bathline {

/// Exit codes of the program; part of its interface.
namespace exit_code {
inline constexpr int complete = 0;
inline constexpr int claim_failed = 1;
inline constexpr int usage = 2;
inline constexpr int numerical_failure = 3;
inline constexpr int stopped = 85;  ///< on request, with a checkpoint for `resume`
}  // namespace exit_code

/// Executes a command and returns its exit code, or logs the errors in arguments, recipes and files that it throws and
/// returns theirs. They are thrown on every rank; rank 0 logs them.
int exit_code_of(const std::function<int()>& command);

/// Indices of elements of a sweep, both included.
struct ElementRange {
  std::int64_t first = 0, last = 0;
};

struct RunRequest {
  std::string recipe;                       ///< path
  std::optional<std::string> text;          ///< of the recipe, which is then not read from its path
  std::string output;                       ///< path; empty: the recipe's name with .h5, in the working directory
  std::vector<std::string> settings;        ///< arguments of --set
  std::vector<std::string> petsc_options;   ///< arguments after --, as from `user_options`
  std::optional<ElementRange> elements;     ///< the only elements of a sweep to run
  std::vector<std::string> sweep_settings;  ///< the part of the settings that the sweep adds, for the result
  bool overwrite = false;
  double wall_time = 0.0;  ///< limit in seconds from now; 0: no limit
  ProgressStyle progress = ProgressStyle::automatic;
};

struct ResumeRequest {
  std::string checkpoint;             ///< path of a checkpoint, or of a result, whose newest intact checkpoint is used
  std::string output;                 ///< result file; empty: the one beside the checkpoint
  std::string recipe;                 ///< path of the recipe that the checkpoint must belong to; empty: not checked
  std::vector<std::string> settings;  ///< arguments of --set to that recipe
  bool any_build = false;             ///< accept a checkpoint of another build
  /// As from `user_options`; replaces the options in the checkpoint.
  std::optional<std::vector<std::string>> petsc_options;
  double wall_time = 0.0;
  ProgressStyle progress = ProgressStyle::automatic;
};

/// A rank ran out of memory during a run. Not thrown on all ranks.
class OutOfMemory : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads and validates a recipe with all checks that are possible before a run. Throws UsageError with all mistakes.
/// Warnings go to the log. With `printed`, lines that it contains are not printed again, and others are added to it.
/// @note Collective.
void check_recipe(const RunRequest& request, const Program& program, std::set<std::string>* printed = nullptr);

/// Runs a recipe and returns the exit code. Throws UsageError, before anything is written, for mistakes of the user and
/// if another run is writing the result; `lock` is the caller's lock of the result, if it has one, and `recipe` the
/// recipe of the request, if the caller has read it. @note Collective.
int run_recipe(const RunRequest& request, const Program& program, std::unique_ptr<ResultLock> lock = nullptr,
               std::unique_ptr<Recipe> recipe = nullptr);

/// Resumes a run from a checkpoint and returns the exit code; for a complete result it prints that and returns the exit
/// code of its claims. Throws UsageError, before anything is changed, if checkpoint, result, recipe and build do not
/// belong together or another run is writing the result. `lock` as for `run_recipe`. @note Collective.
int resume_run(const ResumeRequest& request, const Program& program, std::unique_ptr<ResultLock> lock = nullptr);

/// Runs a recipe: all elements of its sweep in order, or the requested one, or the recipe itself if it has no sweep. A
/// finished element is skipped, an interrupted one is resumed from its checkpoint. One that cannot be run does not keep
/// the others from it. Returns 85 as soon as an element is stopped, else the largest exit code, 2 for an element with a
/// file of another build, of other input or options, or with a damaged one. @note Collective.
int run_all(const RunRequest& request, const Program& program);

/// Validates a recipe, or every element of its sweep. @note Collective.
void check_all(const RunRequest& request, const Program& program);

enum class SweepFormat { table, count, json };

/// Lists the elements of a recipe's sweep: index, result file, state, settings (in JSON their values are TOML).
/// @note Collective.
void list_sweep(const RunRequest& request, SweepFormat format, const Program& program);

struct VerifyRequest {
  std::string result;       ///< path
  std::string output;       ///< path of the rerun; empty: a temporary file beside the result, removed also on a signal
  double tolerance = 1e-9;  ///< for results of other builds or rank counts, relative to a variable's largest value
  ProgressStyle progress = ProgressStyle::automatic;
  /// As from `user_options`; replaces the options in the result.
  std::optional<std::vector<std::string>> petsc_options;
};

/// Runs the recipe stored in a result, with its input files and PETSc options, and compares every variable: bit by bit
/// for the same build and number of ranks, else to the tolerance. Returns 0 if they agree, 1 if they do not. Throws
/// UsageError if the file cannot be verified. @note Collective.
int verify_result(const VerifyRequest& request, const Program& program);

}  // namespace bathline
