// What running, resuming and verifying have in common: a recipe made ready, and carrying it out.
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

/// Counts up when the same state is written in another way.
inline constexpr int checkpoint_format = 1;

/// A validated recipe with all that it leads to. The solvers of every case are set up once for PETSc to see its
/// options, so that a bad one ends the run before anything is written.
struct PreparedRun {
  std::unique_ptr<Recipe> recipe = std::make_unique<Recipe>();
  /// Ends after everything that holds solvers.
  std::unique_ptr<PetscSession> petsc;
  std::unique_ptr<Experiment> experiment;
  std::unique_ptr<Feasibility> feasibility;
  std::unique_ptr<Study> study;
  std::vector<CaseCertificate> certificates;
};

/// Validates a recipe and everything that can be judged before a run; throws UsageError with all mistakes together.
/// `program` must outlive what is returned; `file` is where the recipe's text stands, or stood: files that it names are
/// looked for beside it. @note Collective.
PreparedRun prepare(const std::string& text, const std::string& file, const std::vector<std::string>& settings,
                    const std::vector<std::string>& petsc_options, const Program& program);

/// How a run is carried out, new or resumed.
struct RunContext {
  std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
  std::string path;  ///< of the result
  Provenance provenance;
  double wall_time = 0.0;
  double wall_before = 0.0;  ///< seconds that went by before this program began
  ProgressStyle progress = ProgressStyle::automatic;
  bool is_scratch = false;  ///< removed at the end, so that nobody goes on with it: no checkpoints, no stop on request
  double wall() const {
    return wall_before + std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  }
};

/// Creates the result file of a new run with its provenance. Throws UsageError where it cannot be. @note Collective.
std::unique_ptr<ResultFile> create_result(const RunContext& context, const PreparedRun& prepared, bool overwrite,
                                          const Communicator& communicator);

/// Runs the study into its open file, and says how it ended; `from` as for `Checkpoints`. @note Collective.
int execute_run(const RunContext& context, const PreparedRun& prepared, std::unique_ptr<ResultFile> file,
                std::unique_ptr<CheckpointReader> from, const Communicator& communicator);

/// Judges the claims of a computed result, which is complete with that and needs no checkpoints any more unless its
/// recipe asks for them. Returns the exit code. @note Collective.
int finalise_result(const std::string& path, const Recipe& recipe, const Communicator& communicator);

/// The recipe that a result holds. Throws UsageError where it is none. For one rank.
Recipe recipe_of(const ResultReader& result, const Program& program);

/// That of a run with these claims: complete, or one of them has failed.
int exit_code_of(std::span<const ClaimResult> claims);

/// PETSc's options for a run: those `given`, as `user_options` gives them, or those that a `file` keeps as one `text`.
std::vector<std::string> options_for(const std::optional<std::vector<std::string>>& given, const std::string& text,
                                     const std::string& file);

[[noreturn]] void refuse(const Mistakes& mistakes);

}  // namespace bathline
