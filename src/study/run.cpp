// One run from the recipe's text to the finished result file.
#include "study/run.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cctype>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "model/environment_catalogue.hpp"
#include "parallel/memory.hpp"
#include "parallel/shared_file.hpp"
#include "record/claims.hpp"
#include "record/provenance.hpp"
#include "solve/petsc_session.hpp"
#include "solve/solver_error.hpp"
#include "study/experiment.hpp"
#include "study/launch.hpp"
#include "study/study.hpp"
#include "study/vocabulary.hpp"

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

/// PETSc's options are words that begin with a dash, each with at most one value behind it.
void check_option_words(const std::vector<std::string>& words) {
  bool takes_value = false;
  for (const std::string& word : words) {
    const bool is_option = word.size() > 1 && word[0] == '-' && std::isalpha(static_cast<unsigned char>(word[1]));
    if (!is_option && !takes_value) {
      throw UsageError(
          fmt::format("`{}` behind `--` belongs to no option; PETSc's options look like -ksp_type cg", word));
    }
    takes_value = is_option;
  }
}

/// Keeps the files that environments were read from, so that the result can be had again from itself alone.
void write_input_files(ResultFile& file, const Recipe& recipe, const Communicator& communicator) {
  for (const Section& environment : recipe.environments) {
    if (!environment.has("file")) continue;
    const std::optional<std::string> text = read_shared_file(path_beside_recipe(environment, "file"), communicator);
    if (text) file.attribute("input_file:" + environment.text("file"), *text);
  }
}

/// Evaluates the claims of a closed file, on rank 0. Returns whether all passed.
bool settle_claims(const std::string& path, const Recipe& recipe) {
  std::vector<ClaimResult> claims;
  {
    const ResultReader reader(path);
    claims = evaluate_claims(reader, recipe.claims);
  }
  write_claims(path, claims);
  if (!claims.empty()) fmt::print("{}", claims_table(claims));
  for (const ClaimResult& claim : claims) {
    if (!claim.passed) return false;
  }
  return true;
}

CheckpointPlan plan_for(const Launch& launch, const Prepared& prepared, const Communicator& communicator) {
  const Section& output = prepared.recipe.output;
  CheckpointPlan plan;
  plan.result = launch.path;
  if (output.has("checkpoint_every")) plan.every = output.integer("checkpoint_every");
  if (output.has("checkpoint_interval")) plan.interval = output.number("checkpoint_interval");
  plan.keep = output.integer("keep_checkpoints");
  plan.wall_time = launch.wall_time;
  plan.started = launch.began;
  plan.describe = [&launch, &prepared, communicator](ResultFile& file) {
    file.attribute("checkpoint_format", std::int64_t{checkpoint_format});
    file.attribute("result", std::filesystem::path(launch.path).filename().string());
    write_provenance(file, communicator, launch.provenance);
    update_provenance(file, "checkpoint", launch.wall());
    write_input_files(file, prepared.recipe, communicator);
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
                 const std::vector<std::string>& petsc_options, const Communicator& communicator) {
  Prepared prepared;
  Mistakes mistakes;
  prepared.recipe = parse_recipe(text, file, settings, vocabulary(), mistakes);
  if (!prepared.recipe.is_toml) refuse(mistakes);
  check_option_words(petsc_options);
  prepared.petsc = std::make_unique<PetscSession>(communicator, petsc_options);
  const RunStage stage("Setting up");
  prepared.experiment = std::make_unique<Experiment>(prepared.recipe, communicator, mistakes);
  where_readable([&] {
    prepared.study = find_study(prepared.recipe.study.text("kind"));
    prepared.study->check(*prepared.experiment, mistakes);
  });
  check_claims(prepared.recipe, mistakes);
  check_ends(prepared, mistakes);
  where_readable([&] { check_particles_only(prepared, mistakes); });
  if (!mistakes.empty()) refuse(mistakes);
  std::vector<std::string> unknown_options;
  std::string unknown;
  try {
    for (const Case& one : prepared.experiment->cases()) {
      Problem problem = prepared.experiment->make_problem(one);
      make_stepper(one.scheme, problem, one.step);
    }
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
  for (const std::string& warning : prepared.experiment->warnings()) spdlog::warn("{}", warning);
  return prepared;
}

int carry_out(const Launch& launch, const Prepared& prepared, std::unique_ptr<ResultFile> file,
              std::unique_ptr<CheckpointReader> from, const Communicator& communicator) {
  const StopSignals signals(communicator.is_root());
  Progress progress(launch.progress, communicator.is_root());
  std::optional<CaseFailure> failure;
  std::optional<Stopped> stopped;
  try {
    const RunStage stage("Study");
    Checkpoints checkpoints(plan_for(launch, prepared, communicator), communicator, std::move(from));
    failure = prepared.study->make(*prepared.experiment)->run(*file, progress, checkpoints);
  } catch (const Stopped& stop) {
    stopped = stop;
    progress.end();
  }
  if (failure) {
    file->attribute("failure",
                    fmt::format("{}: step {}: {}", failure->label, failure->failure.step, failure->failure.reason));
  }
  update_provenance(*file, failure ? "failed" : stopped ? "partial" : "complete", launch.wall());
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
  return run_on_root(communicator, exit_code::numerical_failure, [&] {
    return settle_claims(launch.path, prepared.recipe) ? exit_code::complete : exit_code::claim_failed;
  });
}

void check_recipe(const RunRequest& request, const Communicator& communicator) {
  const Prepared prepared = prepare(read_text(request.recipe, communicator), request.recipe, request.settings,
                                    request.petsc_options, communicator);
  if (communicator.is_root()) fmt::print("{}: valid; {}\n", request.recipe, prepared.recipe.title);
  for (const Case& one : prepared.experiment->cases()) {
    std::int64_t sites = 0;
    std::string closures;
    const Problem problem = prepared.experiment->make_problem(one);
    for (const auto& environment : problem.environments()) {
      sites += environment->sites();
      closures += (closures.empty() ? "" : ", ") + environment->name();
    }
    if (!communicator.is_root()) continue;
    fmt::print("  {:<24} {} on the {} system, {} steps of {}{}\n", one.label, one.method->entry.name,
               one.closed ? "closed" : "open", one.steps, one.step,
               one.closed ? fmt::format(", {} sites ({})", sites, closures) : "");
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
  write_input_files(*file, prepared.recipe, communicator);
  std::string warnings;
  for (const std::string& warning : prepared.experiment->warnings()) warnings += warning + "\n";
  file->attribute("warnings", warnings);
  file->flush();
  return file;
}

int run_recipe(const RunRequest& request, const Communicator& communicator) {
  Launch launch;
  launch.wall_time = request.wall_time;
  launch.progress = request.progress;
  const Prepared prepared = prepare(read_text(request.recipe, communicator), request.recipe, request.settings,
                                    request.petsc_options, communicator);
  launch.path = request.output.empty() ? std::filesystem::path(request.recipe).stem().string() + ".h5" : request.output;
  launch.provenance = {.title = prepared.recipe.title,
                       .recipe = prepared.recipe.text,
                       .recipe_resolved = prepared.recipe.resolved,
                       .petsc_version = petsc_version(),
                       .petsc_options = joined(request.petsc_options),
                       .seed = prepared.recipe.output.integer("seed"),
                       .started = utc_now()};
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
