// Resuming a run: its checkpoint, result, recipe and build must belong together.
// Tested by tests/command_line/resume_test.py.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <sstream>
#include <stdexcept>

#include "driver/prepared_run.hpp"
#include "driver/unpacked_inputs.hpp"
#include "text/printable_text.hpp"
#include "record/checksum.hpp"
#include "record/guarded_reader.hpp"

namespace bathline {

namespace {

/// The checkpoint of that path; for a result, its newest intact checkpoint. @note Collective.
std::unique_ptr<CheckpointReader> open_checkpoint(const std::string& path, GuardedReader& guard,
                                                  const Communicator& communicator) {
  std::string candidates;  // newest first
  if (communicator.is_root()) {
    for (const CheckpointEntry& checkpoint : find_checkpoints(path)) candidates += checkpoint.path + '\0';
  }
  std::istringstream paths(communicator.broadcast(candidates));
  for (std::string candidate; std::getline(paths, candidate, '\0');) {
    try {
      return std::make_unique<CheckpointReader>(candidate, guard, communicator);
    } catch (const FileError& error) {
      spdlog::warn("{}; trying an earlier checkpoint", error.what());
    }
  }
  return std::make_unique<CheckpointReader>(path, guard, communicator);
}

/// Throws UsageError for another build, which may round differently or interpret the state differently. @note
/// Collective.
void check_build(const CheckpointReader& checkpoint, const Communicator& communicator) {
  if (checkpoint.attribute("checkpoint_format") != fmt::format("{}", checkpoint_format)) {
    throw UsageError(fmt::format("{} has checkpoint format {}, but this program reads format {}", checkpoint.path(),
                                 checkpoint.attribute("checkpoint_format"), checkpoint_format));
  }
  std::string differences;
  check_on_root(communicator, [&] { differences = build_differences(checkpoint.reader(), petsc_version()); });
  differences = communicator.broadcast(differences);
  if (differences.empty()) return;
  throw UsageError(fmt::format("{} was written by another build of bathline; --any-build resumes it anyway:{}",
                               checkpoint.path(), differences));
}

std::multiset<std::string> lines_of(const std::string& text) {
  std::multiset<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.insert(line);
  return lines;
}

/// Throws UsageError, with the first lines that only one of the texts has, if the texts differ.
void require_same_text(const std::string& what, const std::string& there, const std::string& here) {
  if (there == here) return;
  const std::multiset<std::string> first = lines_of(there), second = lines_of(here);
  std::string differences;
  const auto add = [&](const std::multiset<std::string>& lines, const std::multiset<std::string>& others,
                       const char* where) {
    std::vector<std::string> unmatched;
    std::set_difference(lines.begin(), lines.end(), others.begin(), others.end(), std::back_inserter(unmatched));
    for (std::size_t i = 0; i < std::min<std::size_t>(unmatched.size(), 5); ++i) {
      differences += fmt::format("\n  only {}: `{}`", where, unmatched[i]);
    }
  };
  add(first, second, "there");
  add(second, first, "here");
  if (differences.empty()) differences = " the order of its lines";
  throw UsageError(what + ":" + differences);
}

/// Throws UsageError if there is a file at `path` that the copy in the checkpoint must not replace: it is not a result,
/// or one of another recipe. A result that a kill has torn may be replaced. @note Collective.
void require_replaceable(const std::string& path, const CheckpointReader& checkpoint, GuardedReader& guard,
                         const Communicator& communicator) {
  const std::string resolved = checkpoint.attribute("recipe_resolved");
  check_on_root(communicator, [&] {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) return;
    size_of_file(path);  // refuses what is not a regular file
    if (!may_be_a_result(path)) throw FileError("{} is not an HDF5 file, and only results are replaced", path);
    if (access(path.c_str(), W_OK) != 0)
      throw FileError("cannot write {}: {}", path, std::generic_category().message(errno));
    try {
      guard.require_readable(path, GuardedReader::no_values);
      const ResultReader result(path);
      if (!result.has_attribute("recipe_resolved"))
        throw UsageError(fmt::format("{} is not a result of bathline: it has no attribute recipe_resolved", path));
      require_same_text(fmt::format("{} is the result of a different recipe than {}", path, checkpoint.path()),
                        result.attribute("recipe_resolved"), resolved);
    } catch (const ExternalLinks&) {
      throw;
    } catch (const FileError&) {  // torn
    }
  });
}

/// The file that `resume` was given.
struct NamedFile {
  enum State : std::int64_t {
    other,       ///< a checkpoint, no file, or one that cannot be read
    damaged,     ///< a result whose checksum does not match
    unfinished,  ///< the result of a run that has not reached its end
    computed,    ///< a result whose claims are still to be evaluated
    complete
  };
  State state = other;
  int code = exit_code::complete;  ///< of a complete result
  std::string recipe;              ///< if computed or complete
};

/// For one rank.
bool is_damaged(const std::string& path) {
  try {
    return verify_checksum(path, "result") == ChecksumState::invalid;
  } catch (const FileError&) {
    return false;  // opening it reports why it cannot be read
  }
}

NamedFile state_of(const ResultReader& result, const Program& program) {
  if (!result.has_attribute("status") || result.has_attribute("checkpoint_format")) return {};
  const std::string status = result.attribute("status");
  if (status != "complete" && status != "computed") return {NamedFile::unfinished, exit_code::complete, ""};
  const Recipe recipe = recipe_of(result, program);
  const std::vector<ClaimResult> claims = read_claims(result);
  const bool is_complete = status == "complete" && claims.size() == recipe.claims.size();
  return {is_complete ? NamedFile::complete : NamedFile::computed, exit_code_of(claims), recipe.resolved};
}

/// @note Collective.
NamedFile inspect(const std::string& path, GuardedReader& guard, const Program& program) {
  const Communicator& communicator = program.communicator();
  NamedFile named;
  std::error_code ignored;
  if (communicator.is_root() && std::filesystem::is_regular_file(path, ignored)) {
    if (is_damaged(path)) {
      named.state = NamedFile::damaged;
    } else {
      try {
        guard.require_readable(path, "claims/");
        named = state_of(ResultReader(path), program);
      } catch (const std::exception&) {  // opening it reports why it cannot be read
      }
    }
  }
  std::int64_t numbers[] = {named.state, named.code};
  communicator.broadcast(std::span<std::int64_t>(numbers));
  return {static_cast<NamedFile::State>(numbers[0]), static_cast<int>(numbers[1]),
          communicator.broadcast(named.recipe)};
}

/// Throws UsageError if `--recipe` names a different recipe than that of `path`. @note Collective.
void require_recipe(const std::string& path, const std::string& resolved, const ResumeRequest& request,
                    const Program& program) {
  if (request.recipe.empty()) return;
  Mistakes mistakes;
  const Recipe requested = parse_recipe(read_recipe_text(request.recipe, program.communicator()), request.recipe,
                                        request.settings, program.catalogue_schema(), mistakes);
  mistakes.throw_if_any();
  require_same_text(path + " belongs to a different recipe than " + request.recipe, resolved, requested.resolved);
}

/// The path of the result to continue. The name that a checkpoint stores is only accepted as a file beside it: the
/// checkpoint may come from somebody else, and the named file will be written. @note Collective.
std::string result_path(const ResumeRequest& request, const CheckpointReader& checkpoint,
                        const Communicator& communicator) {
  namespace fs = std::filesystem;
  if (!request.output.empty()) return request.output;
  if (checkpoint.path() != request.checkpoint) return request.checkpoint;  // the request names the result
  const std::string name = checkpoint.attribute("result");
  const std::string advice = "give the result with -o";
  if (name.empty() || name == "." || name == ".." || name.find_first_of("/\n\r") != std::string::npos) {
    throw UsageError(fmt::format("{} names the result `{}`, which is not a file name; {}", checkpoint.path(),
                                 printable(name), advice));
  }
  const fs::path path = fs::path(checkpoint.path()).parent_path() / name;
  check_on_root(communicator, [&] {
    std::error_code ignored;
    if (!fs::is_symlink(path, ignored)) return;
    throw UsageError(fmt::format("{} is a symbolic link; {}", path.string(), advice));
  });
  return path.string();
}

/// A run to be resumed, before its result file is opened.
struct Resumption {
  std::unique_ptr<ResultLock> lock;
  std::unique_ptr<CheckpointReader> from;
  std::unique_ptr<UnpackedInputs> folder;  // of the recipe's input files, which are read again during the run
  std::unique_ptr<PreparedRun> prepared;
  RunContext context;
  std::int64_t total_steps = 0;
};

Resumption read_checkpoint(const ResumeRequest& request, GuardedReader& guard, const Program& program,
                           std::unique_ptr<ResultLock> lock) {
  const Communicator& communicator = program.communicator();
  Resumption resumption;
  resumption.lock = std::move(lock);
  RunContext& context = resumption.context;
  context.wall_time = request.wall_time;
  context.progress = request.progress;
  resumption.from = open_checkpoint(request.checkpoint, guard, communicator);
  const CheckpointReader& checkpoint = *resumption.from;
  if (!request.any_build) check_build(checkpoint, communicator);
  resumption.folder = std::make_unique<UnpackedInputs>(&checkpoint.reader(), program);
  const std::string petsc_options = request.petsc_options ? fmt::format("{}", fmt::join(*request.petsc_options, " "))
                                                          : checkpoint.attribute("petsc_options");
  const std::vector<std::string> options = options_for(request.petsc_options, petsc_options, checkpoint.path());
  resumption.prepared = std::make_unique<PreparedRun>(
      prepare(checkpoint.attribute("recipe_resolved"), resumption.folder->recipe_file(), {}, options, program));
  const PreparedRun& prepared = *resumption.prepared;
  require_recipe(checkpoint.path(), prepared.recipe->resolved, request, program);
  context.path = result_path(request, checkpoint, communicator);
  context.provenance = provenance_of(prepared, checkpoint.attribute("recipe"), petsc_options);
  context.provenance.started = checkpoint.attribute("started");
  try {
    context.wall_before = std::stod(checkpoint.attribute("wall_time_s"));
  } catch (const std::logic_error&) {  // not a number, or out of range
    throw FileError("wall_time_s of {} is not a number", checkpoint.path());
  }
  resumption.total_steps = checkpoint.count("total_steps");
  if (!resumption.lock) resumption.lock = std::make_unique<ResultLock>(context.path, communicator);
  require_replaceable(context.path, checkpoint, guard, communicator);
  checkpoint.restore_result(context.path, guard);
  guard.end();
  return resumption;
}

}  // namespace

int resume_run(const ResumeRequest& request, const Program& program, std::unique_ptr<ResultLock> lock) {
  const Communicator& communicator = program.communicator();
  const std::string& named_path = request.checkpoint;
  GuardedReader guard;
  NamedFile named = inspect(named_path, guard, program);
  if (named.state != NamedFile::other && named.state != NamedFile::complete && !lock) {
    lock = std::make_unique<ResultLock>(request.output.empty() ? named_path : request.output, communicator);
    named = inspect(named_path, guard, program);  // again, because the lock guarantees that no other run changes it
  }
  if (!named.recipe.empty()) require_recipe(named_path, named.recipe, request, program);
  if (named.state == NamedFile::complete) {
    if (communicator.is_root()) fmt::print("{}: already complete\n", named_path);
    return named.code;
  }
  if (named.state == NamedFile::computed) {
    Mistakes mistakes;
    const Recipe recipe = parse_recipe(named.recipe, named_path, {}, program.catalogue_schema(), mistakes);
    return finalise_result(named_path, recipe, communicator);
  }
  if (named.state != NamedFile::other &&
      communicator.broadcast(communicator.is_root() && find_checkpoints(named_path).empty())) {
    throw UsageError(fmt::format("{} is {}, and there is no checkpoint beside it to resume from", named_path,
                                 named.state == NamedFile::damaged ? "damaged (its checksum does not match)"
                                                                   : "the result of an unfinished run"));
  }
  const StopSignals signals(communicator);
  Resumption resumption;
  std::unique_ptr<ResultFile> file;
  try {
    resumption = read_checkpoint(request, guard, program, std::move(lock));
    file = std::make_unique<ResultFile>(resumption.context.path, communicator);
  } catch (const FileError& error) {
    throw UsageError(error.what());
  }
  update_provenance(*file, "partial", resumption.context.wall_before);
  file->attribute("failure", std::string());
  file->attribute("petsc_options", resumption.context.provenance.petsc_options);
  file->attribute("resumed", fmt::format("{} at step {} on {}", utc_now(), resumption.total_steps,
                                         counted(communicator.size(), "rank")));
  return execute_run(resumption.context, *resumption.prepared, std::move(file), std::move(resumption.from),
                     communicator);
}

}  // namespace bathline
