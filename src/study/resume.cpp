// Going on with a run: its checkpoint, result, recipe and build have to belong together.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "study/launch.hpp"
#include "study/recipe_folder.hpp"
#include "study/vocabulary.hpp"

namespace bathline {

namespace {

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

/// The result must be of the same run and hold the records that the checkpoint relies on. @note Collective.
void check_result(const std::string& path, const CheckpointReader& checkpoint, const Prepared& prepared,
                  const Communicator& communicator) {
  const auto index = static_cast<std::size_t>(checkpoint.count("case"));
  // Either a trajectory is under way, or none is and those of the first cases are complete.
  const bool records = !checkpoint.names("recorder").empty();
  const std::vector<double> rows = records ? checkpoint.numbers("recorder/rows") : std::vector<double>(2);
  const auto complete = records ? index : static_cast<std::size_t>(checkpoint.count("complete_cases"));
  if (checkpoint.rescue(path)) {
    spdlog::warn("{} could not be read and was replaced by the copy in {}; it is now {}.unreadable", path,
                 checkpoint.path(), path);
  }
  const std::vector<Case>& cases = prepared.experiment->cases();
  if (index >= cases.size() || complete > cases.size() || rows.size() != 2)
    throw UsageError(checkpoint.path() + " does not fit its own recipe");
  const std::int64_t every = prepared.recipe.output.integer("every");
  judge_on_root(communicator, [&] {
    const ResultReader result(path);
    refuse_difference(fmt::format("{} is the result of another recipe than {}", path, checkpoint.path()),
                      result.attribute("recipe_resolved"), prepared.recipe.resolved);
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
}

/// All that is known of a run before its result file is opened.
struct Resumption {
  std::unique_ptr<CheckpointReader> from;
  std::unique_ptr<RecipeFolder> folder;  // of the files that the recipe names, which are read again on the way
  std::unique_ptr<Prepared> prepared;
  Launch launch;
  std::int64_t total_steps = 0;
};

Resumption read_checkpoint(const ResumeRequest& request, const Communicator& communicator) {
  Resumption all;
  Launch& launch = all.launch;
  launch.wall_time = request.wall_time;
  launch.progress = request.progress;
  all.from = open_checkpoint(request.checkpoint, communicator);
  const CheckpointReader& checkpoint = *all.from;
  if (!request.any_build) check_build(checkpoint);
  all.folder = std::make_unique<RecipeFolder>(&checkpoint.reader(), communicator);
  all.prepared = std::make_unique<Prepared>(prepare(checkpoint.attribute("recipe_resolved"), all.folder->recipe_file(),
                                                    {}, words_of(checkpoint.attribute("petsc_options")), communicator));
  const Prepared& prepared = *all.prepared;
  if (!request.recipe.empty()) {
    Mistakes mistakes;
    const Recipe wanted =
        parse_recipe(read_text(request.recipe, communicator), request.recipe, request.settings, vocabulary(), mistakes);
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
  try {
    launch.wall_before = std::stod(checkpoint.attribute("wall_time_s"));
  } catch (const std::logic_error&) {  // no number, or too large a one
    throw FileError(fmt::format("wall_time_s of {} is not a number", checkpoint.path()));
  }
  all.total_steps = checkpoint.count("total_steps");
  check_result(launch.path, checkpoint, prepared, communicator);
  return all;
}

}  // namespace

int resume_run(const ResumeRequest& request, const Communicator& communicator) {
  Resumption all;
  std::unique_ptr<ResultFile> file;
  try {
    all = read_checkpoint(request, communicator);
    file = std::make_unique<ResultFile>(all.launch.path, communicator);
  } catch (const FileError& error) {
    throw UsageError(error.what());
  }
  update_provenance(*file, "partial", all.launch.wall_before);
  file->attribute("failure", std::string());
  file->attribute("resumed", fmt::format("{} at step {} on {} ranks", utc_now(), all.total_steps, communicator.size()));
  return carry_out(all.launch, *all.prepared, std::move(file), std::move(all.from), communicator);
}

}  // namespace bathline
