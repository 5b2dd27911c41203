// One run from the recipe's text to the finished result file.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "driver/program.hpp"
#include "driver/progress.hpp"
#include "parallel/communicator.hpp"
#include "recipe/recipe.hpp"
#include "record/result_lock.hpp"

namespace bathline {

/// The exit codes that outsiders rely on.
namespace exit_code {
inline constexpr int complete = 0;
inline constexpr int claim_failed = 1;
inline constexpr int usage = 2;
inline constexpr int numerical_failure = 3;
inline constexpr int stopped = 85;  ///< on request, with a checkpoint that `resume` continues
}  // namespace exit_code

struct RunRequest {
  std::string recipe;                       ///< path
  std::string output;                       ///< path; empty: the recipe's name with .h5, in the working directory
  std::vector<std::string> settings;        ///< arguments of --set
  std::vector<std::string> petsc_options;   ///< what followed --, as `user_options` gives it
  std::optional<std::int64_t> element;      ///< the one of a sweep that is to be run
  std::vector<std::string> sweep_settings;  ///< those among the settings that make up the element, for the result
  bool overwrite = false;
  double wall_time = 0.0;  ///< seconds from now in which the run has to be over; 0: without limit
  ProgressStyle progress = ProgressStyle::automatic;
};

struct ResumeRequest {
  std::string checkpoint;             ///< path of a checkpoint, or of a result whose newest good checkpoint it shall be
  std::string output;                 ///< result file; empty: the one beside the checkpoint
  std::string recipe;                 ///< path of the recipe that the checkpoint has to be of; empty: whatever it is of
  std::vector<std::string> settings;  ///< arguments of --set to that recipe
  bool any_build = false;             ///< goes on although another build has begun
  /// As `user_options` gives them, in place of the checkpoint's own.
  std::optional<std::vector<std::string>> petsc_options;
  double wall_time = 0.0;
  ProgressStyle progress = ProgressStyle::automatic;
};

/// The memory of a rank did not suffice in the middle of a run. The other ranks may not know of it.
class OutOfMemory : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads and validates a recipe, and everything in it that can be judged before a run. Throws UsageError with all
/// mistakes together. Warnings go to the log. @note Collective.
void check_recipe(const RunRequest& request, const Program& program);

/// Runs a recipe and returns the exit code. Throws UsageError, before anything is written, for mistakes of the user and
/// where another run is writing the result; `lock` is the right to it of whoever has that already. @note Collective.
int run_recipe(const RunRequest& request, const Program& program, std::unique_ptr<ResultLock> lock = nullptr);

/// Goes on with a run from a checkpoint, and returns the exit code; of a result that is complete it says so and returns
/// what its claims came to. Throws UsageError, before anything is changed, where checkpoint, result, recipe or build do
/// not belong together, and where another run is writing the result. `lock` as for `run_recipe`. @note Collective.
int resume_run(const ResumeRequest& request, const Program& program, std::unique_ptr<ResultLock> lock = nullptr);

}  // namespace bathline
