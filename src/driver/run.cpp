// One run from the recipe's text to the finished result file.
#include "driver/run.hpp"

#include <fmt/format.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "driver/experiment.hpp"
#include "driver/feasibility.hpp"
#include "driver/launch.hpp"
#include "model/table_file.hpp"
#include "parallel/memory.hpp"
#include "record/claims.hpp"
#include "record/provenance.hpp"
#include "record/result_check.hpp"
#include "solve/petsc_session.hpp"
#include "solve/solver_error.hpp"

namespace bathline {

namespace {

/// Claims must name a group that this recipe will write.
void check_claims(const Recipe& recipe, Mistakes& mistakes) {
  std::string known;
  std::set<std::string> groups;
  const auto add_group = [&](const Section& section, const std::string& key) {
    return where_readable([&] {
      groups.insert(section.text(key));
      known += (known.empty() ? "" : ", ") + section.text(key);
    });
  };
  bool all_are_known = true;
  for (const Section& integrator : recipe.integrators) all_are_known &= add_group(integrator, "label");
  all_are_known &= add_group(recipe.study, "kind");
  all_are_known &= where_readable([&] {
    if (recipe.study.has("memory") && recipe.study.boolean("memory")) groups.insert("memory");
  });
  const auto check = [&](const Section& claim, const std::string& key) {
    if (!claim.has(key)) return;
    const std::string& quantity = claim.text(key);
    ParsedQuantity parsed;
    std::string why;
    const std::string group = quantity.substr(0, quantity.find_first_of(".["));
    if (!parse_quantity(quantity, parsed, why)) {
      mistakes.add(claim.where(key), fmt::format("`{}` is no quantity: {}", quantity, why));
    } else if (all_are_known && groups.count(group) == 0) {
      mistakes.add(claim.where(key),
                   fmt::format("`{}` begins with neither a label of this recipe nor its study: {}", quantity, known));
    }
  };
  for (const Section& claim : recipe.claims) {
    for (const char* key : {"quantity", "minus", "over"}) where_readable([&] { check(claim, key); });
  }
}

/// Runs that are compared end together.
void check_ends(const Prepared& prepared, Mistakes& mistakes) {
  if (prepared.study == nullptr || prepared.study->allows_own_ends) return;
  for (const Section& integrator : prepared.recipe.integrators) {
    if (!integrator.has("end")) continue;
    mistakes.add(integrator.where("end"),
                 fmt::format("end: in a study of the kind `{}` all runs end together", prepared.study->entry.name));
  }
}

/// Where environments are left behind nothing can be seen of them.
void check_particles_only(const Prepared& prepared, Mistakes& mistakes) {
  const Section& output = prepared.recipe.output;
  if (prepared.study == nullptr || !output.boolean("particles_only")) return;
  if (!prepared.study->looks_at_particles) {
    mistakes.add(output.where("particles_only"),
                 fmt::format("particles_only: a study of the kind `{}` needs the environments to the end",
                             prepared.study->entry.name));
  }
  if (output.has("snapshots")) {
    mistakes.add(output.where("snapshots"),
                 "snapshots need the sites that `particles_only` leaves out; drop one of them");
  }
}

/// Keeps the files that environments were read from, so that the result can be had again from itself alone.
void write_input_files(ResultFile& file, const Experiment& experiment) {
  for (const Section& environment : experiment.recipe().environments) {
    if (!environment.has(text_of_file)) continue;
    file.attribute("input_file:" + environment.text("file"), environment.text(text_of_file));
  }
}

/// ", 345 sites (line, short), 500 oscillators (bath)": what a system is closed with.
std::string closures_of(const Problem& problem) {
  struct Alike {
    std::int64_t sites = 0;
    std::string names;
  };
  std::map<std::string, Alike, std::greater<>> by_name;
  for (const auto& environment : problem.environments()) {
    Alike& alike = by_name[environment->site_name()];
    alike.sites += environment->sites();
    alike.names += (alike.names.empty() ? "" : ", ") + environment->name();
  }
  std::string text;
  for (const auto& [name, alike] : by_name) text += fmt::format(", {} {}s ({})", alike.sites, name, alike.names);
  return text;
}

/// Keeps, on rank 0, the warnings that the log gets while it lives, behind those of before.
class KeptWarnings {
 public:
  explicit KeptWarnings(const std::string& before)
      : text_(before, std::ios::ate), sink_(std::make_shared<spdlog::sinks::ostream_sink_mt>(text_)) {
    sink_->set_level(spdlog::level::warn);
    sink_->set_pattern("%v");
    spdlog::default_logger()->sinks().push_back(sink_);
  }
  ~KeptWarnings() {
    auto& sinks = spdlog::default_logger()->sinks();
    sinks.erase(std::remove(sinks.begin(), sinks.end(), sink_), sinks.end());
  }
  KeptWarnings(const KeptWarnings&) = delete;
  KeptWarnings& operator=(const KeptWarnings&) = delete;
  /// One a line.
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  spdlog::sink_ptr sink_;
};

/// One a line.
std::string warnings_before_run(const Prepared& prepared) {
  std::string text;
  for (const std::string& warning : prepared.feasibility->warnings()) text += warning + "\n";
  return text;
}

/// Those that a run had when its checkpoint was written; those before the run where there is none. @note Collective.
std::string warnings_so_far(const Prepared& prepared, const CheckpointReader* from, const Communicator& communicator) {
  const bool are_known =
      from != nullptr && communicator.broadcast(communicator.is_root() && from->reader().has_attribute("warnings"));
  return are_known ? from->attribute("warnings") : warnings_before_run(prepared);
}

CheckpointPlan plan_for(const Launch& launch, const Prepared& prepared, ResultFile& result, const ResultReader* from,
                        const KeptWarnings& warnings, const Communicator& communicator) {
  const Section& output = prepared.recipe.output;
  CheckpointPlan plan;
  plan.result = launch.path;
  if (!launch.is_scratch) {
    if (output.has("checkpoint_every")) plan.every = output.integer("checkpoint_every");
    if (output.has("checkpoint_interval")) plan.interval = output.number("checkpoint_interval");
  }
  if (output.has("keep_checkpoints")) plan.keep = output.integer("keep_checkpoints");
  plan.wall_time = launch.wall_time;
  plan.started = launch.began;
  plan.describe = [&launch, &prepared, &result, &warnings,
                   digests = from == nullptr ? RecordDigests() : kept_digests(*from),
                   communicator](ResultFile& file) mutable {
    file.attribute("checkpoint_format", std::int64_t{checkpoint_format});
    file.attribute("result", std::filesystem::path(launch.path).filename().string());
    write_provenance(file, communicator, launch.provenance);
    update_provenance(file, "checkpoint", launch.wall());
    write_input_files(file, *prepared.experiment);
    file.attribute("warnings", warnings.text());
    result.flush();
    keep_digests(file, launch.path, digests, communicator);
  };
  return plan;
}

/// A new run would write its checkpoints among those of a run that could still be resumed. @note Collective.
void refuse_remains(const std::string& path, const Communicator& communicator) {
  judge_on_root(communicator, [&] {
    std::error_code ignored;
    const std::vector<FoundCheckpoint> found = find_checkpoints(path);
    if (found.empty() || std::filesystem::exists(path, ignored)) return;
    throw FileError(fmt::format("{} is not there, but its checkpoint {} is; use --overwrite to begin anew", path,
                                found.front().path));
  });
}

}  // namespace

Prepared prepare(const std::string& text, const std::string& file, const std::vector<std::string>& settings,
                 const std::vector<std::string>& petsc_options, const Program& program) {
  Prepared prepared;
  Mistakes mistakes;
  prepared.recipe = parse_recipe(text, file, settings, program.vocabulary(), mistakes);
  if (!prepared.recipe.is_toml) refuse(mistakes);
  prepared.petsc = std::make_unique<PetscSession>(program.communicator(), petsc_options);
  const RunStage stage("Setting up");
  prepared.experiment = std::make_unique<Experiment>(prepared.recipe, program, mistakes);
  prepared.feasibility = std::make_unique<Feasibility>(*prepared.experiment, mistakes);
  where_readable([&] {
    prepared.study = program.catalogues().studies.find(prepared.recipe.study.text("kind"));
    prepared.study->check(*prepared.experiment, mistakes);
  });
  check_claims(prepared.recipe, mistakes);
  check_ends(prepared, mistakes);
  where_readable([&] { check_particles_only(prepared, mistakes); });
  if (!mistakes.empty()) refuse(mistakes);
  std::vector<std::string> unknown_options;
  std::string unknown;
  try {
    prepared.feasibility->set_up_solvers();
    unknown_options = prepared.petsc->unknown_options();
  } catch (const SolverError& error) {
    throw UsageError(fmt::format("these solver options do not work: {}", error.what()));
  }
  for (const std::string& option : unknown_options) {
    unknown += fmt::format("{}`{}`", unknown.empty() ? "" : ", ", option);
  }
  if (!unknown.empty()) {
    throw UsageError(
        fmt::format("PETSc knows no option {}; the solvers of this run print theirs with `-- -help`", unknown));
  }
  for (const std::string& warning : prepared.feasibility->warnings()) spdlog::warn("{}", warning);
  return prepared;
}

int carry_out(const Launch& launch, const Prepared& prepared, std::unique_ptr<ResultFile> file,
              std::unique_ptr<CheckpointReader> from, const Communicator& communicator) {
  Progress progress(launch.progress, communicator.is_root());
  std::optional<CaseFailure> failure;
  std::optional<Stopped> stopped;
  const KeptWarnings warnings(warnings_so_far(prepared, from.get(), communicator));
  try {
    const RunStage stage("Study");
    CheckpointPlan plan = plan_for(launch, prepared, *file, from ? &from->reader() : nullptr, warnings, communicator);
    Checkpoints checkpoints(std::move(plan), communicator, std::move(from));
    failure = prepared.study->make(*prepared.experiment)->run(*file, progress, checkpoints);
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(
        fmt::format("the memory is used up; what was computed until the last flush is in {}", launch.path));
  } catch (const Stopped& stop) {
    stopped = stop;
    progress.end();
  }
  if (failure) {
    file->attribute("failure",
                    fmt::format("{}: step {}: {}", failure->label, failure->failure.step, failure->failure.reason));
  }
  file->attribute("warnings", warnings.text());
  update_provenance(*file, failure ? "failed" : stopped ? "partial" : "computed", launch.wall());
  file->attribute("peak_memory_bytes", peak_memory(communicator));
  file->close();
  file.reset();
  if (stopped) {
    spdlog::warn("{}: stopped at step {} on {}; to go on: bathline resume {}", stopped->label, stopped->step,
                 stopped->why, stopped->checkpoint);
    return exit_code::stopped;
  }
  if (failure) {
    spdlog::error("{}: step {} failed: {}; what was computed until then is in {}", failure->label,
                  failure->failure.step, failure->failure.reason, launch.path);
    return exit_code::numerical_failure;
  }
  return settle_claims(launch.path, prepared.recipe, communicator);
}

int settle_claims(const std::string& path, const Recipe& recipe, const Communicator& communicator) {
  const int code = run_on_root(communicator, exit_code::numerical_failure, [&] {
    std::vector<ClaimResult> claims;
    {
      const ResultReader reader(path);
      claims = evaluate_claims(reader, recipe.claims);
    }
    write_claims(path, claims);
    if (!recipe.output.has("keep_checkpoints")) prune_checkpoints(path, -1, 0);
    if (!claims.empty()) fmt::print("{}", claims_table(claims));
    return exit_code_of(claims);
  });
  if (code != exit_code::numerical_failure) seal_result(path, communicator);
  return code;
}

Recipe recipe_of(const ResultReader& result, const Program& program) {
  Mistakes mistakes;
  Recipe recipe = parse_recipe(result.attribute("recipe_resolved"), result.path(), {}, program.vocabulary(), mistakes);
  if (!mistakes.empty()) refuse(mistakes);
  return recipe;
}

int exit_code_of(std::span<const ClaimResult> claims) {
  const bool passed = std::all_of(claims.begin(), claims.end(), [](const ClaimResult& claim) { return claim.passed; });
  return passed ? exit_code::complete : exit_code::claim_failed;
}

void check_recipe(const RunRequest& request, const Program& program) {
  const Prepared prepared = prepare(read_text(request.recipe, program.communicator()), request.recipe, request.settings,
                                    request.petsc_options, program);
  if (!program.communicator().is_root()) return;
  fmt::print("{}: valid; {}\n", request.recipe, prepared.recipe.title);
  for (std::size_t i = 0; i < prepared.experiment->cases().size(); ++i) {
    const Case& one = prepared.experiment->cases()[i];
    const std::string closures = closures_of(prepared.feasibility->problem(i));
    fmt::print("  {:<24} {} on the {} system, {} steps of {}{}\n", one.label, one.method->entry.name,
               one.closed ? "closed" : "open", one.steps, one.step, closures);
  }
}

std::unique_ptr<ResultFile> create_result(const Launch& launch, const Prepared& prepared, bool overwrite,
                                          const Communicator& communicator) {
  if (!overwrite) refuse_remains(launch.path, communicator);
  std::unique_ptr<ResultFile> file;
  try {
    file = std::make_unique<ResultFile>(launch.path, communicator, overwrite);
  } catch (const FileError& error) {
    throw UsageError(error.what());
  }
  if (communicator.is_root()) prune_checkpoints(launch.path, -1, 0);  // of the result that was replaced
  write_provenance(*file, communicator, launch.provenance);
  write_input_files(*file, *prepared.experiment);
  file->attribute("warnings", warnings_before_run(prepared));
  file->flush();
  return file;
}

int run_recipe(const RunRequest& request, const Program& program, std::unique_ptr<ResultLock> lock) {
  const Communicator& communicator = program.communicator();
  Launch launch;
  launch.wall_time = request.wall_time;
  launch.progress = request.progress;
  const Prepared prepared = prepare(read_text(request.recipe, communicator), request.recipe, request.settings,
                                    request.petsc_options, program);
  launch.path = request.output.empty() ? std::filesystem::path(request.recipe).stem().string() + ".h5" : request.output;
  launch.provenance = {.title = prepared.recipe.title,
                       .recipe = prepared.recipe.text,
                       .recipe_resolved = prepared.recipe.resolved,
                       .petsc_version = petsc_version(),
                       .petsc_options = joined(request.petsc_options),
                       .seed = prepared.recipe.output.integer("seed"),
                       .started = utc_now()};
  if (!lock) lock = std::make_unique<ResultLock>(launch.path, communicator);
  const StopSignals signals(communicator);
  std::unique_ptr<ResultFile> file = create_result(launch, prepared, request.overwrite, communicator);
  if (!request.sweep_settings.empty()) {
    std::string lines;
    for (const std::string& setting : request.sweep_settings) lines += setting + "\n";
    file->attribute("sweep_settings", lines);
    file->flush();
  }
  return carry_out(launch, prepared, std::move(file), nullptr, communicator);
}

std::string read_text(const std::string& path, const Communicator& communicator) {
  std::string text, error;
  if (communicator.is_root()) {
    std::error_code ignored;
    std::ifstream file(path, std::ios::binary);
    if (std::filesystem::is_directory(path, ignored)) {
      error = fmt::format("{} is a directory; a recipe is a .toml file", path);
    } else if (!file) {
      error = fmt::format("cannot read the recipe {}: {}", path, std::generic_category().message(errno));
    } else {
      std::ostringstream all;
      all << file.rdbuf();
      text = all.str();
    }
  }
  error = communicator.broadcast(error);
  if (!error.empty()) throw UsageError(error);
  return communicator.broadcast(text);
}

void judge_on_root(const Communicator& communicator, const std::function<void()>& judge) {
  std::string reason;
  if (communicator.is_root()) {
    try {
      judge();
    } catch (const std::exception& error) {
      reason = error.what();
    }
  }
  reason = communicator.broadcast(reason);
  if (!reason.empty()) throw UsageError(reason);
}

void refuse_difference(const std::string& what, const std::string& there, const std::string& here) {
  if (there == here) return;
  std::istringstream first(there), second(here);
  std::string differences, a, b;
  int count = 0;
  while (count < 5) {
    const bool more_a = static_cast<bool>(std::getline(first, a)), more_b = static_cast<bool>(std::getline(second, b));
    if (!more_a && !more_b) break;
    if (more_a && more_b && a == b) continue;
    differences += fmt::format("\n  `{}` there, `{}` here", more_a ? a : "", more_b ? b : "");
    ++count;
  }
  throw UsageError(what + ":" + differences);
}

[[noreturn]] void refuse(const Mistakes& mistakes) { throw UsageError(mistakes.report()); }

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

int run_on_root(const Communicator& communicator, int failure_code, const std::function<int()>& work) {
  std::int64_t code[] = {0};
  if (communicator.is_root()) {
    try {
      code[0] = work();
    } catch (const std::exception& error) {
      spdlog::error("{}", error.what());
      code[0] = failure_code;
    }
  }
  communicator.broadcast(std::span<std::int64_t>(code));
  return static_cast<int>(code[0]);
}

}  // namespace bathline
