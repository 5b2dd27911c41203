// Going on with a run: its checkpoint, result, recipe and build have to belong together.
// Tested by tests/command_line/resume_test.py.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <sstream>
#include <stdexcept>

#include "driver/prepared_run.hpp"
#include "driver/unpacked_inputs.hpp"
#include "recipe/printable_text.hpp"
#include "record/result_integrity.hpp"
#include "record/run_in_child_process.hpp"

namespace bathline {

namespace {

/// The checkpoint of that name; for a result the newest of its checkpoints that is not damaged. @note Collective.
std::unique_ptr<CheckpointReader> open_checkpoint(const std::string& path, const Communicator& communicator) {
  std::string candidates;  // the newest first
  if (communicator.is_root()) {
    for (const FoundCheckpoint& one : find_checkpoints(path)) candidates += one.path + '\0';
  }
  std::istringstream paths(communicator.broadcast(candidates));
  for (std::string candidate; std::getline(paths, candidate, '\0');) {
    try {
      return std::make_unique<CheckpointReader>(candidate, communicator);
    } catch (const FileError& error) {
      spdlog::warn("{}; looking for an earlier one", error.what());
    }
  }
  return std::make_unique<CheckpointReader>(path, communicator);
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

std::multiset<std::string> lines_of(const std::string& text) {
  std::multiset<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.insert(line);
  return lines;
}

/// Throws UsageError with the first lines that only one of two texts has, if they differ.
void refuse_difference(const std::string& what, const std::string& there, const std::string& here) {
  if (there == here) return;
  const std::multiset<std::string> first = lines_of(there), second = lines_of(here);
  std::string differences;
  const auto add = [&](const std::multiset<std::string>& lines, const std::multiset<std::string>& others,
                       const char* where) {
    std::vector<std::string> alone;
    std::set_difference(lines.begin(), lines.end(), others.begin(), others.end(), std::back_inserter(alone));
    for (std::size_t i = 0; i < std::min<std::size_t>(alone.size(), 5); ++i) {
      differences += fmt::format("\n  only {}: `{}`", where, alone[i]);
    }
  };
  add(first, second, "there");
  add(second, first, "here");
  if (differences.empty()) differences = " the order of its lines";
  throw UsageError(what + ":" + differences);
}

/// The result must be of the same run and hold the records that the checkpoint relies on. @note Collective.
void check_result(const std::string& path, const CheckpointReader& checkpoint, const PreparedRun& prepared,
                  const Communicator& communicator) {
  const auto index = static_cast<std::size_t>(checkpoint.count("case"));
  // Either a trajectory is under way, or none is and those of the first cases are complete.
  const bool records = !checkpoint.names("recorder").empty();
  const std::vector<double> rows = records ? checkpoint.numbers("recorder/rows") : std::vector<double>(2);
  const auto complete = records ? index : static_cast<std::size_t>(checkpoint.count("complete_cases"));
  std::string unverified;
  const ChecksumState seal = verify_checksum(path, "result", communicator);
  const bool rescued = seal != ChecksumState::valid && checkpoint.restore_backup(path);
  if (rescued) {
    spdlog::warn("{} could not be read and was replaced by the copy in {}; it is now {}.unreadable", path,
                 checkpoint.path(), path);
  }
  const std::vector<Case>& cases = prepared.experiment->cases();
  if (index >= cases.size() || complete > cases.size() || rows.size() != 2)
    throw UsageError(checkpoint.path() + " does not fit its own recipe");
  const std::int64_t every = prepared.experiment->output().every;
  check_on_root(communicator, [&] {
    const std::string why = seal == ChecksumState::valid || rescued ? "" : why_unreadable(path);
    if (!why.empty()) throw FileError(why);
    const ResultReader result(path);
    refuse_difference(fmt::format("{} is the result of another recipe than {}", path, checkpoint.path()),
                      result.attribute("recipe_resolved"), prepared.recipe->resolved);
    for (std::size_t i = 0; i < complete + (records ? 1 : 0); ++i) {
      const std::int64_t all = (cases[i].steps + every - 1) / every + 1;
      const std::int64_t needed = i < complete ? all : count_of(rows[0]);
      const std::string time = cases[i].label + "/time";
      const std::int64_t there = result.has(time) ? result.shape(time).front() : 0;
      if (there >= needed) continue;
      throw FileError(fmt::format("{} holds {} records of {}, but {} was written after {}; resume an earlier one", path,
                                  there, cases[i].label, checkpoint.path(), needed));
    }
  });
  if (rescued) return;
  restore_result(path, seal, checkpoint, unverified, communicator);
  if (!unverified.empty()) spdlog::warn("{}", unverified);
}

/// What `resume` was given, where it is a result and not a checkpoint.
struct NamedResult {
  bool is_one = false;
  bool is_damaged = false;  ///< by its checksum
  bool has_checkpoint = false;
  bool is_computed = false;        ///< nothing is left to do but to judge its claims
  bool is_complete = false;        ///< nor that
  int code = exit_code::complete;  ///< of a complete one
  std::string recipe;              ///< where it is computed or complete
};

/// For one rank.
bool is_damaged(const std::string& path) {
  try {
    return verify_checksum(path, "result") == ChecksumState::invalid;
  } catch (const FileError&) {
    return false;  // who opens it says why it cannot be read
  }
}

/// @note Collective.
NamedResult look_at(const std::string& path, const Program& program) {
  const Communicator& communicator = program.communicator();
  NamedResult found;
  std::error_code ignored;
  if (communicator.is_root() && std::filesystem::is_regular_file(path, ignored)) {
    found.has_checkpoint = !find_checkpoints(path).empty();
    found.is_damaged = is_damaged(path);
    found.is_one = found.has_checkpoint || found.is_damaged;
    const auto read = [&] {
      const ResultReader result(path);
      found.is_one = result.has_attribute("status") && !result.has_attribute("checkpoint_format");
      const std::string status = found.is_one ? result.attribute("status") : "";
      if (status == "complete" || status == "computed") {
        const Recipe recipe = recipe_of(result, program);
        const std::vector<ClaimResult> claims = read_claims(result);
        found.recipe = recipe.resolved;
        found.is_complete = status == "complete" && claims.size() == recipe.claims.size();
        found.is_computed = !found.is_complete;
        found.code = exit_code_of(claims);
      }
    };
    // No HDF5, half of it, or not ours: its checkpoints may mend it.
    if (!found.is_damaged && run_in_child_process([&](const auto&) { read(); }).empty()) read();
  }
  std::int64_t facts[] = {found.is_one,      found.is_damaged,  found.has_checkpoint,
                          found.is_computed, found.is_complete, found.code};
  communicator.broadcast(std::span<std::int64_t>(facts));
  return {facts[0] != 0,
          facts[1] != 0,
          facts[2] != 0,
          facts[3] != 0,
          facts[4] != 0,
          static_cast<int>(facts[5]),
          communicator.broadcast(found.recipe)};
}

/// Throws UsageError where `--recipe` names another recipe than the one that `path` is of. @note Collective.
void check_recipe_is(const std::string& path, const std::string& resolved, const ResumeRequest& request,
                     const Program& program) {
  if (request.recipe.empty()) return;
  Mistakes mistakes;
  const Recipe wanted = parse_recipe(read_text(request.recipe, program.communicator()), request.recipe,
                                     request.settings, program.catalogue_schema(), mistakes);
  if (!mistakes.empty()) refuse(mistakes);
  refuse_difference(path + " is of another recipe than " + request.recipe, resolved, wanted.resolved);
}

/// Where the result is that a run goes on with. What a checkpoint says of that is taken for a name beside it and no
/// more: it may be of somebody else, and whatever it named would be written. @note Collective.
std::string result_of(const ResumeRequest& request, const CheckpointReader& checkpoint,
                      const Communicator& communicator) {
  namespace fs = std::filesystem;
  if (!request.output.empty()) return request.output;
  if (checkpoint.path() != request.checkpoint) return request.checkpoint;  // found beside the result that was named
  const std::string name = checkpoint.attribute("result");
  const std::string advice = "-o says which result to go on with";
  if (name.empty() || name == "." || name == ".." || name.find_first_of("/\n\r") != std::string::npos) {
    throw UsageError(
        fmt::format("{} names `{}`, which is no file beside it; {}", checkpoint.path(), printable(name), advice));
  }
  const fs::path path = fs::path(checkpoint.path()).parent_path() / name;
  check_on_root(communicator, [&] {
    std::error_code ignored;
    if (!fs::is_symlink(path, ignored)) return;
    throw UsageError(fmt::format("{} is a link to another file; {}", path.string(), advice));
  });
  return path.string();
}

/// All that is known of a run before its result file is opened.
struct Resumption {
  std::unique_ptr<ResultLock> lock;
  std::unique_ptr<CheckpointReader> from;
  std::unique_ptr<UnpackedInputs> folder;  // of the files that the recipe names, which are read again on the way
  std::unique_ptr<PreparedRun> prepared;
  RunContext context;
  std::int64_t total_steps = 0;
};

Resumption read_checkpoint(const ResumeRequest& request, const Program& program, std::unique_ptr<ResultLock> lock) {
  const Communicator& communicator = program.communicator();
  Resumption all;
  all.lock = std::move(lock);
  RunContext& context = all.context;
  context.wall_time = request.wall_time;
  context.progress = request.progress;
  all.from = open_checkpoint(request.checkpoint, communicator);
  const CheckpointReader& checkpoint = *all.from;
  if (!request.any_build) check_build(checkpoint);
  all.folder = std::make_unique<UnpackedInputs>(&checkpoint.reader(), program);
  const std::string petsc_options = request.petsc_options ? fmt::format("{}", fmt::join(*request.petsc_options, " "))
                                                          : checkpoint.attribute("petsc_options");
  const std::vector<std::string> options = options_for(request.petsc_options, petsc_options, checkpoint.path());
  all.prepared = std::make_unique<PreparedRun>(
      prepare(checkpoint.attribute("recipe_resolved"), all.folder->recipe_file(), {}, options, program));
  const PreparedRun& prepared = *all.prepared;
  check_recipe_is(checkpoint.path(), prepared.recipe->resolved, request, program);
  context.path = result_of(request, checkpoint, communicator);
  context.provenance = {.title = prepared.recipe->title,
                        .recipe = checkpoint.attribute("recipe"),
                        .recipe_resolved = prepared.recipe->resolved,
                        .petsc_version = petsc_version(),
                        .petsc_options = petsc_options,
                        .seed = static_cast<std::int64_t>(prepared.experiment->seed()),
                        .started = checkpoint.attribute("started")};
  try {
    context.wall_before = std::stod(checkpoint.attribute("wall_time_s"));
  } catch (const std::logic_error&) {  // no number, or too large a one
    throw FileError(fmt::format("wall_time_s of {} is not a number", checkpoint.path()));
  }
  all.total_steps = checkpoint.count("total_steps");
  if (!all.lock) all.lock = std::make_unique<ResultLock>(context.path, communicator);
  check_result(context.path, checkpoint, prepared, communicator);
  return all;
}

}  // namespace

int resume_run(const ResumeRequest& request, const Program& program, std::unique_ptr<ResultLock> lock) {
  const Communicator& communicator = program.communicator();
  const std::string& named_path = request.checkpoint;
  NamedResult named = look_at(named_path, program);
  if (named.is_one && !named.is_complete && !lock) {
    lock = std::make_unique<ResultLock>(request.output.empty() ? named_path : request.output, communicator);
    named = look_at(named_path, program);  // now that nobody writes it any more
  }
  if (named.is_complete || named.is_computed) check_recipe_is(named_path, named.recipe, request, program);
  if (named.is_complete) {
    if (communicator.is_root()) fmt::print("{}: finished already\n", named_path);
    return named.code;
  }
  if (named.is_computed) {
    Mistakes mistakes;
    const Recipe recipe = parse_recipe(named.recipe, named_path, {}, program.catalogue_schema(), mistakes);
    return finalise_result(named_path, recipe, communicator);
  }
  if (named.is_one && !named.has_checkpoint) {
    throw UsageError(fmt::format(
        "{} is {}, and there is no checkpoint beside it to go on from", named_path,
        named.is_damaged ? "damaged: its checksum is another one" : "the result of a run that has not ended"));
  }
  Resumption all;
  std::unique_ptr<StopSignals> signals;
  std::unique_ptr<ResultFile> file;
  try {
    all = read_checkpoint(request, program, std::move(lock));
    signals = std::make_unique<StopSignals>(communicator);
    file = std::make_unique<ResultFile>(all.context.path, communicator);
  } catch (const FileError& error) {
    throw UsageError(error.what());
  }
  update_provenance(*file, "partial", all.context.wall_before);
  file->attribute("failure", std::string());
  file->attribute("petsc_options", all.context.provenance.petsc_options);
  file->attribute("resumed", fmt::format("{} at step {} on {} ranks", utc_now(), all.total_steps, communicator.size()));
  return execute_run(all.context, *all.prepared, std::move(file), std::move(all.from), communicator);
}

}  // namespace bathline
