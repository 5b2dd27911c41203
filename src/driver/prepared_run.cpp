// Executing a prepared run, new or resumed.
// Tested by tests/command_line/commands_test.py.
#include "driver/prepared_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <sstream>

#include "driver/stop_signals.hpp"
#include "formula/outside_tables.hpp"
#include "parallel/memory_budget.hpp"
#include "record/checksum.hpp"
#include "text/printable_text.hpp"

namespace bathline {

namespace {

/// Stores the files that environments were read from, so that the result file suffices to repeat the run.
void write_input_files(ResultFile& file, const Experiment& experiment) {
  for (const auto& [name, text] : experiment.input_files()) file.attribute("input_file:" + name, text);
}

/// Collects, on rank 0, the warnings logged during its lifetime, after those in `before`.
class WarningCapture {
 public:
  explicit WarningCapture(const std::string& before)
      : text_(before, std::ios::ate), sink_(std::make_shared<spdlog::sinks::ostream_sink_mt>(text_)) {
    sink_->set_level(spdlog::level::warn);
    sink_->set_pattern("%v");
    spdlog::default_logger()->sinks().push_back(sink_);
  }
  ~WarningCapture() {
    auto& sinks = spdlog::default_logger()->sinks();
    sinks.erase(std::remove(sinks.begin(), sinks.end(), sink_), sinks.end());
  }
  WarningCapture(const WarningCapture&) = delete;
  WarningCapture& operator=(const WarningCapture&) = delete;
  /// One warning per line.
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  spdlog::sink_ptr sink_;
};

/// The warnings of the checks before the run, one per line.
std::string warnings_before_run(const PreparedRun& prepared) {
  std::string text;
  for (const std::string& warning : prepared.feasibility->warnings()) text += warning + "\n";
  return text;
}

/// The warnings stored in the checkpoint of a resumed run, else those of the checks before the run. @note Collective.
std::string warnings_so_far(const PreparedRun& prepared, const CheckpointReader* from,
                            const Communicator& communicator) {
  const bool are_stored =
      from != nullptr && communicator.broadcast(communicator.is_root() && from->reader().has_attribute("warnings"));
  return are_stored ? from->attribute("warnings") : warnings_before_run(prepared);
}

CheckpointPlan plan_for(const RunContext& context, const PreparedRun& prepared, ResultFile& result,
                        const WarningCapture& warnings, const Communicator& communicator) {
  const OutputPlan& output = prepared.experiment->output();
  CheckpointPlan plan;
  plan.result = &result;
  plan.path = context.path;
  if (!context.is_scratch) {
    plan.every = output.checkpoint_every;
    plan.interval = output.checkpoint_interval;
  }
  plan.keep = output.keep_checkpoints.value_or(plan.keep);
  plan.wall_time = context.wall_time;
  plan.started = context.start;
  plan.describe = [&context, &prepared, &warnings, communicator](ResultFile& file) {
    file.attribute("checkpoint_format", std::int64_t{checkpoint_format});
    file.attribute("result", std::filesystem::path(context.path).filename().string());
    write_provenance(file, communicator, context.provenance);
    update_provenance(file, "checkpoint", context.wall());
    write_input_files(file, *prepared.experiment);
    file.attribute("warnings", warnings.text());
  };
  return plan;
}

/// Throws FileError if there are checkpoints without a result: a new run would mix its checkpoints with those of a run
/// that can still be resumed.
void require_no_checkpoints(const std::string& path, const CheckpointFiles& files) {
  std::error_code ignored;
  if (files.complete.empty() || std::filesystem::exists(path, ignored)) return;
  throw FileError("{} does not exist, but its checkpoint {} does; resume it, or start again with --overwrite", path,
                  files.complete.front().path);
}

}  // namespace

Provenance provenance_of(const PreparedRun& prepared, const std::string& recipe, const std::string& petsc_options) {
  return {.title = prepared.recipe->title,
          .recipe = recipe,
          .recipe_resolved = prepared.recipe->resolved,
          .petsc_version = petsc_version(),
          .petsc_options = petsc_options,
          .seed = static_cast<std::int64_t>(prepared.experiment->seed()),
          .started = utc_now()};
}

namespace {

/// Where formulas left a table, of the first rank on which they did. @note Collective.
std::string place_outside_tables(const Communicator& communicator) {
  const std::string here = take_place_outside_tables();
  const double first =
      -communicator.max(here.empty() ? -std::numeric_limits<double>::infinity() : -communicator.rank());
  return std::isfinite(first) ? communicator.broadcast(here, static_cast<int>(first)) : "";
}

}  // namespace

int execute_run(const RunContext& context, const PreparedRun& prepared, std::unique_ptr<ResultFile> file,
                std::unique_ptr<CheckpointReader> from, const Communicator& communicator) {
  Progress progress(context.progress, communicator.is_root());
  std::optional<CaseFailure> failure;
  std::optional<Stopped> stopped;
  bool has_checkpoints = false;
  const WarningCapture warnings(warnings_so_far(prepared, from.get(), communicator));
  try {
    const LogStage stage("Study");
    CheckpointPlan plan = plan_for(context, prepared, *file, warnings, communicator);
    Checkpoints checkpoints(std::move(plan), communicator, std::move(from));
    failure = prepared.study->run(*file, progress, checkpoints);
    const std::string undetermined = communicator.broadcast(file->undetermined());
    if (!failure && !undetermined.empty())
      failure = {"study", {0, 0.0, "these results could not be determined and are NaN: " + undetermined}};
    has_checkpoints = checkpoints.exist();
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(fmt::format("out of memory; the data up to the last flush are in {}", context.path));
  } catch (const Stopped& stop) {
    stopped = stop;
    progress.end();
  }
  if (failure) {
    std::string formulas = prepared.experiment->system().formulas;
    for (const Section& environment : prepared.recipe->environments) {
      if (!environment.has("couple")) continue;
      const std::vector<std::string> couples = environment.holds<std::string>("couple")
                                                   ? std::vector{environment.text("couple")}
                                                   : environment.texts("couple");
      formulas += fmt::format("{}couple = {}", formulas.empty() ? "" : "; ",
                              printable(fmt::to_string(fmt::join(couples, ", "))));
    }
    if (!formulas.empty()) failure->failure.reason += " (" + formulas + ")";
    if (const std::string outside = place_outside_tables(communicator); !outside.empty()) {
      const Case* this_case = prepared.experiment->find_case(failure->name);
      failure->failure.reason += fmt::format(
          "; it left a table{}: {}",
          this_case ? fmt::format(" before t = {:.6g}", static_cast<double>(failure->failure.step) * this_case->step)
                    : "",
          outside);
    }
    file->attribute("failure",
                    fmt::format("{}: step {}: {}", failure->name, failure->failure.step, failure->failure.reason));
  }
  // A stopped run writes them after it has been resumed.
  if (!stopped) write_certificates(*file, prepared.certificates);
  file->attribute("warnings", warnings.text());
  update_provenance(*file, failure ? "failed" : stopped ? "partial" : "computed", context.wall());
  file->attribute("peak_memory_bytes", peak_memory(communicator));
  if (!failure && !stopped && communicator.size() == 1) {
    file->flush();
    return finalise_result(context.path, *prepared.recipe, communicator, has_checkpoints, std::move(file));
  }
  file->close();
  file.reset();
  if (stopped) {
    report_stop();
    spdlog::warn("{}: stopped at step {} by {}; continue with: bathline resume {}", stopped->name, stopped->step,
                 stopped->reason, stopped->checkpoint);
    return exit_code::stopped;
  }
  if (failure) {
    spdlog::error("{}: step {} failed: {}; the data up to this step are in {}", failure->name, failure->failure.step,
                  failure->failure.reason, context.path);
    return exit_code::numerical_failure;
  }
  return finalise_result(context.path, *prepared.recipe, communicator, has_checkpoints);
}

int finalise_result(const std::string& path, const Recipe& recipe, const Communicator& communicator,
                    bool has_checkpoints, std::unique_ptr<ResultFile> file) {
  const int code = run_on_root(communicator, exit_code::numerical_failure, [&] {
    std::vector<ClaimResult> claims;
    {
      const ResultReader reader(path);
      claims = evaluate_claims(reader, recipe.claims);
    }
    if (file) {
      write_claims(*file, claims);
      file->close();
      file.reset();
    } else {
      write_claims(path, claims);
    }
    if (has_checkpoints && !read_output(recipe.output).keep_checkpoints) {
      prune_checkpoints(find_checkpoint_files(path), -1, 0);
    }
    if (!claims.empty()) fmt::print("{}", claims_table(claims));
    return exit_code_of(claims);
  });
  if (code != exit_code::numerical_failure) append_result_checksum(path, communicator);
  return code;
}

int exit_code_of(std::span<const ClaimResult> claims) {
  const bool passed = std::all_of(claims.begin(), claims.end(), [](const ClaimResult& claim) { return claim.passed; });
  return passed ? exit_code::complete : exit_code::claim_failed;
}

std::unique_ptr<ResultFile> create_result(const RunContext& context, const PreparedRun& prepared, bool overwrite,
                                          const Communicator& communicator) {
  CheckpointFiles replaced;
  check_on_root(communicator, [&] {
    replaced = find_checkpoint_files(context.path);
    if (!overwrite) require_no_checkpoints(context.path, replaced);
  });
  std::unique_ptr<ResultFile> file;
  try {
    file = std::make_unique<ResultFile>(context.path, communicator, overwrite);
  } catch (const FileError& error) {
    throw UsageError(error.what());
  }
  if (communicator.is_root()) prune_checkpoints(replaced, -1, 0);
  write_provenance(*file, communicator, context.provenance);
  write_input_files(*file, *prepared.experiment);
  file->attribute("warnings", warnings_before_run(prepared));
  if (!context.sweep_settings.empty()) file->attribute("sweep_settings", context.sweep_settings);
  file->flush();
  return file;
}

}  // namespace bathline
