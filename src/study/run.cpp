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
#include "parallel/shared_file.hpp"
#include "record/claims.hpp"
#include "record/provenance.hpp"
#include "solve/petsc_session.hpp"
#include "solve/solver_error.hpp"
#include "study/experiment.hpp"
#include "study/recipe_folder.hpp"
#include "study/study.hpp"
#include "study/vocabulary.hpp"

namespace bathline {

namespace {

/// The text of a file, read by rank 0.
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

[[noreturn]] void refuse(const Mistakes& mistakes) { throw UsageError(mistakes.report()); }

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

/// A validated recipe with all that it leads to. The solvers of every case are set up once for PETSc to see its
/// options, so that a bad one ends the run before anything is written.
struct Prepared {
  Recipe recipe;
  std::unique_ptr<Experiment> experiment;
  std::unique_ptr<PetscSession> petsc;
  const StudyKind* study = nullptr;
};

/// Only trajectories can be saved on their way.
void check_checkpoints(const Prepared& prepared, Mistakes& mistakes) {
  if (prepared.study == nullptr || prepared.study->resumes) return;
  for (const char* key : {"checkpoint_every", "checkpoint_interval"}) {
    if (!prepared.recipe.output.has(key)) continue;
    mistakes.add(prepared.recipe.output.where(key),
                 fmt::format("{}: a study of the kind `{}` cannot be stopped with a checkpoint", key,
                             prepared.study->entry.name));
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

/// `file` is where the recipe's text stands, or stood: files that it names are looked for beside it.
Prepared prepare(const std::string& text, const std::string& file, const std::vector<std::string>& settings,
                 const std::vector<std::string>& petsc_options, const Communicator& communicator) {
  Prepared prepared;
  Mistakes mistakes;
  prepared.recipe = parse_recipe(text, file, settings, vocabulary(), mistakes);
  if (!prepared.recipe.is_toml) refuse(mistakes);
  check_option_words(petsc_options);
  prepared.petsc = std::make_unique<PetscSession>(communicator, petsc_options);
  prepared.experiment = std::make_unique<Experiment>(prepared.recipe, communicator, mistakes);
  where_readable([&] {
    prepared.study = find_study(prepared.recipe.study.text("kind"));
    prepared.study->check(*prepared.experiment, mistakes);
  });
  check_claims(prepared.recipe, mistakes);
  check_checkpoints(prepared, mistakes);
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

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// Keeps the files that environments were read from, so that the result can be had again from itself alone.
void write_input_files(ResultFile& file, const Recipe& recipe, const Communicator& communicator) {
  for (const Section& environment : recipe.environments) {
    if (!environment.has("file")) continue;
    const std::optional<std::string> text = read_shared_file(path_beside_recipe(environment, "file"), communicator);
    if (text) file.attribute("input_file:" + environment.text("file"), *text);
  }
}

/// Counts up when the same state is written in another way.
constexpr int checkpoint_format = 1;

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

/// How a run is carried out, new or resumed.
struct Launch {
  std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
  std::string path;  ///< of the result
  Provenance provenance;
  double wall_time = 0.0;
  double wall_before = 0.0;  ///< seconds that went by before this program began
  ProgressStyle progress = ProgressStyle::automatic;
  double wall() const {
    return wall_before + std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  }
};

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

/// Runs the study into its open file, and says how it ended.
int carry_out(const Launch& launch, const Prepared& prepared, std::unique_ptr<ResultFile> file,
              std::unique_ptr<CheckpointReader> from, const Communicator& communicator) {
  const StopSignals signals(prepared.study->resumes, communicator.is_root());
  if (launch.wall_time > 0.0 && !prepared.study->resumes) {
    spdlog::warn("a study of the kind `{}` cannot be stopped with a checkpoint: --wall-time has no effect",
                 prepared.study->entry.name);
  }
  Progress progress(launch.progress, communicator.is_root());
  std::optional<CaseFailure> failure;
  std::optional<Stopped> stopped;
  try {
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

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// Runs what rank 0 alone can judge; its FileError becomes everyone's UsageError. @note Collective.
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

/// Throws UsageError with the first lines that differ.
void refuse_difference(const std::string& what, const std::string& one, const std::string& other) {
  if (one == other) return;
  std::istringstream first(one), second(other);
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

/// The checkpoint of that name; for a result the newest of its checkpoints that is not damaged. @note Collective.
std::unique_ptr<CheckpointReader> open_checkpoint(const std::string& path, const Communicator& communicator) {
  // One a line, the newest first: the paths of files are not expected to have line ends.
  std::string candidates;
  if (communicator.is_root()) {
    for (const FoundCheckpoint& one : find_checkpoints(path)) candidates += one.path + "\n";
  }
  std::istringstream lines(communicator.broadcast(candidates));
  for (std::string candidate; std::getline(lines, candidate);) {
    try {
      return std::make_unique<CheckpointReader>(candidate, communicator);
    } catch (const FileError& error) {
      spdlog::warn("{}; looking for an earlier one", error.what());
    }
  }
  try {
    return std::make_unique<CheckpointReader>(path, communicator);
  } catch (const FileError& error) {
    throw UsageError(error.what());
  }
}

/// Another build may round differently, and another version may mean something else by the same state. @note
/// Collective.
void check_build(const CheckpointReader& checkpoint) {
  if (checkpoint.attribute("checkpoint_format") != fmt::format("{}", checkpoint_format)) {
    throw UsageError(fmt::format("{} has format {}, and this program reads format {}", checkpoint.path(),
                                 checkpoint.attribute("checkpoint_format"), checkpoint_format));
  }
  std::string differences;
  for (const auto& [name, value] : build_attributes()) {
    const std::string there = checkpoint.attribute(name);
    if (there != value) differences += fmt::format("\n  {} is {} there, {} here", name, there, value);
  }
  if (differences.empty()) return;
  throw UsageError(fmt::format("{} was written by another build of bathline; use --any-build to go on all the same:{}",
                               checkpoint.path(), differences));
}

/// The result must be of the same run and hold the records that the checkpoint relies on. @note Collective.
void check_result(const std::string& path, const CheckpointReader& checkpoint, const Prepared& prepared,
                  const Communicator& communicator) {
  const auto index = static_cast<std::size_t>(checkpoint.numbers("case").at(0));
  const std::vector<double> rows = checkpoint.numbers("recorder/rows");
  const std::vector<Case>& cases = prepared.experiment->cases();
  if (index >= cases.size() || rows.size() != 2) throw UsageError(checkpoint.path() + " does not fit its own recipe");
  judge_on_root(communicator, [&] {
    const ResultReader result(path);
    refuse_difference(fmt::format("{} is the result of another recipe than {}", path, checkpoint.path()),
                      result.attribute("recipe_resolved"), prepared.recipe.resolved);
    for (std::size_t i = 0; i <= index; ++i) {
      const std::int64_t needed =
          i == index ? static_cast<std::int64_t>(rows[0])
                     : (cases[i].steps + prepared.recipe.output.integer("every") - 1) / prepared.recipe.output.integer("every") + 1;
      const std::string time = cases[i].label + "/time";
      const std::int64_t there = result.has(time) ? result.shape(time).front() : 0;
      if (there >= needed) continue;
      throw FileError(fmt::format("{} holds {} records of {}, but {} was written after {}; resume an earlier one", path,
                                  there, cases[i].label, checkpoint.path(), needed));
    }
  });
}

}  // namespace

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

int run_recipe(const RunRequest& request, const Communicator& communicator) {
  Launch launch;
  launch.wall_time = request.wall_time;
  launch.progress = request.progress;
  const Prepared prepared = prepare(read_text(request.recipe, communicator), request.recipe, request.settings,
                                    request.petsc_options, communicator);
  launch.path =
      request.output.empty() ? std::filesystem::path(request.recipe).stem().string() + ".h5" : request.output;
  launch.provenance = {.title = prepared.recipe.title,
                       .recipe = prepared.recipe.text,
                       .recipe_resolved = prepared.recipe.resolved,
                       .petsc_version = petsc_version(),
                       .petsc_options = joined(request.petsc_options),
                       .seed = prepared.recipe.output.integer("seed"),
                       .started = utc_now()};
  if (!request.overwrite) refuse_remains(launch.path, communicator);
  std::unique_ptr<ResultFile> file;
  try {
    file = std::make_unique<ResultFile>(launch.path, communicator, request.overwrite);
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
  return carry_out(launch, prepared, std::move(file), nullptr, communicator);
}

int resume_run(const ResumeRequest& request, const Communicator& communicator) {
  Launch launch;
  launch.wall_time = request.wall_time;
  launch.progress = request.progress;
  std::unique_ptr<CheckpointReader> from = open_checkpoint(request.checkpoint, communicator);
  const CheckpointReader& checkpoint = *from;
  if (!request.any_build) check_build(checkpoint);
  const RecipeFolder folder(checkpoint.reader(), communicator);
  const Prepared prepared = prepare(checkpoint.attribute("recipe_resolved"), folder.recipe_file(), {},
                                    words_of(checkpoint.attribute("petsc_options")), communicator);
  if (!request.recipe.empty()) {
    Mistakes mistakes;
    const Recipe wanted = parse_recipe(read_text(request.recipe, communicator), request.recipe, request.settings,
                                       vocabulary(), mistakes);
    if (!mistakes.empty()) refuse(mistakes);
    refuse_difference(checkpoint.path() + " is of another recipe than " + request.recipe, prepared.recipe.resolved,
                      wanted.resolved);
  }
  launch.path = request.output;
  if (launch.path.empty()) {
    const std::filesystem::path beside = std::filesystem::path(checkpoint.path()).parent_path();
    launch.path = (beside / checkpoint.attribute("result")).string();
  }
  launch.provenance = {.title = prepared.recipe.title,
                       .recipe = checkpoint.attribute("recipe"),
                       .recipe_resolved = prepared.recipe.resolved,
                       .petsc_version = petsc_version(),
                       .petsc_options = checkpoint.attribute("petsc_options"),
                       .seed = prepared.recipe.output.integer("seed"),
                       .started = checkpoint.attribute("started")};
  launch.wall_before = std::stod(checkpoint.attribute("wall_time_s"));
  check_result(launch.path, checkpoint, prepared, communicator);
  std::unique_ptr<ResultFile> file;
  try {
    file = std::make_unique<ResultFile>(launch.path, communicator);
  } catch (const FileError& error) {
    throw UsageError(error.what());
  }
  update_provenance(*file, "partial", launch.wall_before);
  file->attribute("failure", std::string());
  file->attribute("resumed", fmt::format("{} at step {} on {} ranks", utc_now(),
                                         static_cast<std::int64_t>(checkpoint.numbers("total_steps").at(0)),
                                         communicator.size()));
  return carry_out(launch, prepared, std::move(file), std::move(from), communicator);
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
