// From a recipe with [sweep] to one result file for each of its elements.
//
// A file is named after the content of its element, so that a list under [sweep] can be changed without mixing up what
// is there. Whether an element is finished is decided by what its file holds: the resolved recipe, the build, PETSc's
// options and the input files.
// Tested by tests/command_line/sweep_test.py.
#include "driver/sweep_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <optional>

#include "driver/checkpoints.hpp"
#include "driver/prepared_run.hpp"
#include "model/environment_catalogue.hpp"
#include "model/table_file.hpp"
#include "parallel/text_file.hpp"
#include "recipe/sweep.hpp"
#include "record/claims.hpp"
#include "record/result_integrity.hpp"

namespace bathline {

namespace {

struct Element {
  SweepElement settings;
  Recipe recipe;
  std::string path;  ///< of its result
};

std::uint64_t fingerprint(const std::string& text) {  // FNV-1a
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

std::string path_of(const RunRequest& request, const std::string& resolved) {
  namespace fs = std::filesystem;
  const fs::path base = request.output.empty() ? fs::path(request.recipe).stem().string() + ".h5" : request.output;
  const std::string stem = base.extension() == ".h5" ? base.stem().string() : base.filename().string();
  return (base.parent_path() / fmt::format("{}.{:012x}.h5", stem, fingerprint(resolved) & 0xffffffffffffu)).string();
}

std::vector<Element> expand(const RunRequest& request, const std::string& text,
                            const CatalogueSchema& catalogue_schema) {
  Mistakes mistakes;
  std::vector<Element> elements;
  for (SweepElement& settings : expand_sweep(text, request.recipe, request.settings, mistakes)) {
    std::vector<std::string> all = request.settings;
    all.insert(all.end(), settings.begin(), settings.end());
    Mistakes of_element;
    Recipe recipe = parse_recipe(text, request.recipe, all, catalogue_schema, of_element);
    // The same mistake in every element is reported once.
    if (!of_element.empty()) refuse(of_element);
    const std::string path = path_of(request, recipe.resolved);
    elements.push_back({std::move(settings), std::move(recipe), path});
  }
  if (!mistakes.empty()) refuse(mistakes);
  return elements;
}

enum class State { absent, finished, unjudged, interrupted, other };

/// What lies at the path of an element; `code` is the exit code of a finished one. @note Collective.
State state_of(const Element& element, const RunRequest& request, int& code, const Communicator& communicator) {
  std::vector<std::pair<std::string, std::string>> inputs;
  for (const Section& environment : element.recipe.environments) {
    const std::optional<std::string> key = key_of_file(environment);
    if (!key) continue;
    const auto text = read_text_file_on_root(path_beside_recipe(environment, *key), communicator);
    inputs.emplace_back("input_file:" + environment.text(*key), text.value_or(""));
  }
  std::int64_t found[] = {static_cast<std::int64_t>(State::absent), 0};
  if (communicator.is_root()) {
    std::error_code ignored;
    State state = State::absent;
    if (std::filesystem::exists(element.path, ignored)) {
      state = State::other;
      try {
        require_intact(element.path);
        const ResultReader result(element.path);
        bool same = result.attribute("recipe_resolved") == element.recipe.resolved &&
                    result.attribute("petsc_options") == fmt::format("{}", fmt::join(request.petsc_options, " "));
        for (const auto& [name, value] : build_attributes()) same = same && result.attribute(name) == value;
        for (const auto& [name, value] : inputs) {
          same = same && result.has_attribute(name) && result.attribute(name) == value;
        }
        const std::string status = result.attribute("status");
        if (same && (status == "complete" || status == "computed")) {
          state = State::unjudged;  // as a run that was killed just before its end
          const std::vector<ClaimResult> claims = read_claims(result);
          if (status == "complete" && claims.size() == element.recipe.claims.size()) {
            state = State::finished;
            found[1] = exit_code_of(claims);
          }
        } else if (same && status == "partial") {
          state = State::interrupted;
        }
      } catch (const FileError&) {
        // As a kill may leave it: a checkpoint holds what can be gone on with.
        if (!find_checkpoints(element.path).empty()) state = State::interrupted;
      }
    }
    found[0] = static_cast<std::int64_t>(state);
  }
  communicator.broadcast(std::span<std::int64_t>(found));
  code = static_cast<int>(found[1]);
  return static_cast<State>(found[0]);
}

bool has_checkpoints(const std::string& path, const Communicator& communicator) {
  return communicator.broadcast(communicator.is_root() && !find_checkpoints(path).empty());
}

int run_element(const Element& element, const RunRequest& request, double wall_time, const Program& program) {
  const Communicator& communicator = program.communicator();
  int code = exit_code::complete;
  std::unique_ptr<ResultLock> lock;
  State state = state_of(element, request, code, communicator);
  if (state != State::finished || request.overwrite) {
    lock = std::make_unique<ResultLock>(element.path, communicator);
    state = state_of(element, request, code, communicator);  // now that nobody writes it any more
  }
  if (state == State::finished && !request.overwrite) {
    if (communicator.is_root()) fmt::print("{}: finished already\n", element.path);
    return code;
  }
  if (state == State::unjudged && !request.overwrite) {
    if (communicator.is_root()) fmt::print("{}: computed already, its claims are judged now\n", element.path);
    return finalise_result(element.path, element.recipe, communicator);
  }
  if (state == State::other && !request.overwrite) {
    throw UsageError(
        fmt::format("{} is of this recipe, but of another build, other input files or other options, or it is "
                    "damaged; use --overwrite to run it anew",
                    element.path));
  }
  if (state == State::interrupted && !request.overwrite && has_checkpoints(element.path, communicator)) {
    ResumeRequest resumption;
    resumption.checkpoint = element.path;
    resumption.wall_time = wall_time;
    resumption.progress = request.progress;
    resumption.petsc_options = request.petsc_options;
    return resume_run(resumption, program, std::move(lock));
  }
  RunRequest one = request;
  one.settings.insert(one.settings.end(), element.settings.begin(), element.settings.end());
  one.output = element.path;
  one.sweep_settings = element.settings;
  one.wall_time = wall_time;
  one.overwrite = request.overwrite || state == State::interrupted;  // nothing of it could be gone on with
  return run_recipe(one, program, std::move(lock));
}

}  // namespace

int run_all(const RunRequest& request, const Program& program) {
  const Communicator& communicator = program.communicator();
  const auto began = std::chrono::steady_clock::now();
  const std::string text = read_text(request.recipe, communicator);
  const std::vector<Element> elements = expand(request, text, program.catalogue_schema());
  if (elements.empty()) {
    if (request.element) throw UsageError(fmt::format("--element: {} has no [sweep]", request.recipe));
    return run_recipe(request, program);
  }
  const auto count = static_cast<std::int64_t>(elements.size());
  if (request.element && (*request.element < 0 || *request.element >= count)) {
    throw UsageError(fmt::format("--element {}: the sweep of {} has the elements 0 to {}", *request.element,
                                 request.recipe, count - 1));
  }
  int worst = exit_code::complete;
  for (std::int64_t i = request.element.value_or(0); i < (request.element ? *request.element + 1 : count); ++i) {
    double wall_time = request.wall_time;
    if (wall_time > 0.0) {
      const double gone = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
      wall_time = std::max(1e-3, wall_time - communicator.max(gone));
    }
    const Element& element = elements[static_cast<std::size_t>(i)];
    if (communicator.is_root()) fmt::print("element {} of {}: {}\n", i, count, fmt::join(element.settings, " "));
    const int code = run_element(element, request, wall_time, program);
    if (code == exit_code::stopped) return code;
    // The request may have come when there was nothing left of the element to be stopped.
    const bool told_to_stop = communicator.any(StopSignals::received() == SIGUSR1);
    if (told_to_stop && i + 1 < count && !request.element) return exit_code::stopped;
    worst = std::max(worst, code);
  }
  return worst;
}

void check_all(const RunRequest& request, const Program& program) {
  const std::vector<Element> elements =
      expand(request, read_text(request.recipe, program.communicator()), program.catalogue_schema());
  if (elements.empty()) return check_recipe(request, program);
  for (const Element& element : elements) {
    RunRequest one = request;
    one.settings.insert(one.settings.end(), element.settings.begin(), element.settings.end());
    check_recipe(one, program);
  }
}

void list_sweep(const RunRequest& request, bool count_only, const Program& program) {
  const Communicator& communicator = program.communicator();
  const std::vector<Element> elements =
      expand(request, read_text(request.recipe, communicator), program.catalogue_schema());
  if (elements.empty()) throw UsageError(fmt::format("{} has no [sweep]", request.recipe));
  if (count_only) {
    if (communicator.is_root()) fmt::print("{}\n", elements.size());
    return;
  }
  for (std::size_t i = 0; i < elements.size(); ++i) {
    int code = 0;
    const State state = state_of(elements[i], request, code, communicator);
    const char* words[] = {"to do", "finished", "computed", "interrupted", "of another build, input or options"};
    if (!communicator.is_root()) continue;
    fmt::print("{:>4}  {}  {:<11}  {}\n", i, elements[i].path, words[static_cast<int>(state)],
               fmt::join(elements[i].settings, " "));
  }
}

}  // namespace bathline
