// The common part of running, resuming and verifying: preparing a recipe and executing it.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "driver/certificates.hpp"
#include "driver/feasibility.hpp"
#include "driver/on_root.hpp"
#include "driver/run.hpp"
#include "driver/study.hpp"
#include "parallel/communicator.hpp"
#include "recipe/recipe.hpp"
#include "record/checkpoint_file.hpp"
#include "record/claims.hpp"
#include "record/provenance.hpp"
#include "solve/petsc_session.hpp"

namespace bathline {

/// Version of the checkpoint format; incremented with every change of it.
inline constexpr int checkpoint_format = 4;

/// A valid recipe with its experiment and study. The solvers of every case have been set up once so that PETSc reads
/// its options: an invalid one ends the run before anything is written.
struct PreparedRun {
  std::unique_ptr<Recipe> recipe = std::make_unique<Recipe>();
  /// Destroyed after all members that own solvers.
  std::unique_ptr<PetscSession> petsc;
  std::unique_ptr<Experiment> experiment;
  std::unique_ptr<Feasibility> feasibility;
  std::unique_ptr<Study> study;
  std::vector<CaseCertificate> certificates;
};

/// Validates a recipe with all checks that are possible before a run; throws UsageError with all mistakes. `program`
/// must outlive the returned object; `file` is the path of the recipe, relative to which its input files are found.
/// @note Collective.
PreparedRun prepare(const std::string& text, const std::string& file, const std::vector<std::string>& settings,
                    const std::vector<std::string>& petsc_options, const Program& program);
/// The same of a recipe that was read without mistakes. @note Collective.
PreparedRun prepare(std::unique_ptr<Recipe> recipe, const std::vector<std::string>& petsc_options,
                    const Program& program);

/// The text of the recipe of a request. @note Collective.
std::string recipe_text(const RunRequest& request, const Communicator& communicator);

/// The provenance of a run that begins now; `recipe` is the text as given.
Provenance provenance_of(const PreparedRun& prepared, const std::string& recipe, const std::string& petsc_options);

/// Settings of one execution of a new or resumed run.
struct RunContext {
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  std::string path;            ///< of the result
  std::string sweep_settings;  ///< what a sweep sets for it, one setting per line
  Provenance provenance;
  double wall_time = 0.0;
  double wall_before = 0.0;  ///< wall-clock seconds of the run before it was resumed
  ProgressStyle progress = ProgressStyle::automatic;
  bool is_scratch = false;  ///< the result is removed at the end: no checkpoints, no stop on request
  double wall() const {
    return wall_before + std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
};

/// Creates the result file of a new run with its provenance. Throws UsageError if that fails. @note Collective.
std::unique_ptr<ResultFile> create_result(const RunContext& context, const PreparedRun& prepared, bool overwrite,
                                          const Communicator& communicator);

/// Runs the study, writing to the open file, and returns the exit code; `from` as for `Checkpoints`. @note Collective.
int execute_run(const RunContext& context, const PreparedRun& prepared, std::unique_ptr<ResultFile> file,
                std::unique_ptr<CheckpointReader> from, const Communicator& communicator);

/// Evaluates the claims of a computed result, marks it complete, removes its checkpoints unless the recipe keeps them,
/// and returns the exit code. `file`: the result if a single process still has it open. @note Collective.
int finalise_result(const std::string& path, const Recipe& recipe, const Communicator& communicator,
                    bool has_checkpoints = true, std::unique_ptr<ResultFile> file = nullptr);

/// The recipe stored in a result. Throws UsageError if it is invalid. For one rank.
Recipe recipe_of(const ResultReader& result, const Program& program);

/// The exit code of a finished run with these claims.
int exit_code_of(std::span<const ClaimResult> claims);

/// PETSc's options for a run: `given`, as from `user_options`, if set, else those stored as one `text` in `file`.
std::vector<std::string> options_for(const std::optional<std::vector<std::string>>& given, const std::string& text,
                                     const std::string& file);

}  // namespace bathline
