// Running a recipe with [sweep]: one result file for each element.
//
// The file name contains a hash of the resolved recipe of the element, so that changing a list under [sweep] does not
// mix up existing results. An element is finished if its file is complete and has the same resolved recipe, build,
// PETSc options and input files.
// Tested by tests/command_line/sweep_test.py.
#include "driver/run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/dist_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "driver/checkpoints.hpp"
#include "driver/json_text.hpp"
#include "driver/prepared_run.hpp"
#include "driver/stop_signals.hpp"
#include "model/environment_catalogue.hpp"
#include "model/table_file.hpp"
#include "parallel/text_file.hpp"
#include "recipe/settings.hpp"
#include "recipe/sweep.hpp"
#include "record/claims.hpp"
#include "record/checksum.hpp"

namespace bathline {

namespace {

/// What identifies an element and its result. The recipes of all elements would take too much memory.
struct Element {
  SweepElement settings;
  std::string resolved;                                     ///< its resolved recipe
  std::unique_ptr<Recipe> recipe;                           ///< of an element by itself
  std::string path;                                         ///< of its result
  std::vector<std::pair<std::string, std::string>> inputs;  ///< attributes of its input files, and their paths
  std::size_t claims = 0;
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

/// The settings of an element. Those of the sweep, whose lists would be read for every element, are left out.
std::vector<std::string> element_settings(const RunRequest& request, const SweepElement& element) {
  std::vector<std::string> settings = settings_of("sweep", request.settings).second;
  settings.insert(settings.end(), element.begin(), element.end());
  return settings;
}

/// The sweep of a request, and the text of its recipe. @note Collective.
struct RequestedSweep {
  RequestedSweep(const RunRequest& request, const Program& program)
      : request(request), program(program), text(recipe_text(request, program.communicator())) {
    Mistakes mistakes;
    sweep = read_sweep(text, request.recipe, request.settings, mistakes);
    mistakes.throw_if_any();
  }

  Recipe recipe_of(const SweepElement& settings) const {
    Mistakes mistakes, located;
    Recipe recipe =
        parse_recipe(text, request.recipe, element_settings(request, settings), program.catalogue_schema(), mistakes);
    for (const Mistake& mistake : mistakes.kept()) {
      const auto [where, message] = sweep.located(mistake, settings);
      located.add(where, message);
    }
    located.throw_if_any();
    return recipe;
  }

  Element element(std::size_t index) const {
    Element element{.settings = sweep.element(index), .resolved = {}, .recipe = {}, .path = {}, .inputs = {}};
    element.recipe = std::make_unique<Recipe>(recipe_of(element.settings));
    const Recipe& recipe = *element.recipe;
    element.resolved = recipe.resolved;
    element.path = path_of(request, recipe.resolved);
    for (const std::string& name : files_of(recipe)) {
      element.inputs.emplace_back("input_file:" + name, path_of_file(recipe.system, name));
    }
    element.claims = recipe.claims.size();
    return element;
  }

  /// All elements; the same mistake in every one is reported once.
  std::vector<Element> elements() const {
    Mistakes mistakes;
    std::vector<Element> elements;
    std::map<std::string, std::size_t> index_of;
    for (std::size_t i = 0; i < sweep.count; ++i) {
      elements.push_back(element(i));
      elements[i].recipe.reset();
      const auto [first, is_new] = index_of.emplace(elements[i].path, i);
      if (is_new) continue;
      mistakes.add(sweep.where, fmt::format("the elements {} ({}) and {} ({}) of [sweep] are the same recipe",
                                            first->second, fmt::join(elements[first->second].settings, " "), i,
                                            fmt::join(elements[i].settings, " ")));
    }
    mistakes.throw_if_any();
    return elements;
  }

  /// Throws UsageError with the mistakes of a recipe without [sweep], which may be why it has none, else with
  /// `message`.
  [[noreturn]] void refuse_without_elements(const std::string& message) const {
    recipe_of({});
    throw UsageError(message);
  }

  const RunRequest& request;
  const Program& program;
  std::string text;
  Sweep sweep;
};

/// While it exists, the log shows equal messages once.
class RepeatedMessageFilter {
 public:
  RepeatedMessageFilter() : sinks_(spdlog::default_logger()->sinks()) {
    spdlog::default_logger()->sinks() = {std::make_shared<Sink>(sinks_)};
  }
  ~RepeatedMessageFilter() { spdlog::default_logger()->sinks() = sinks_; }
  RepeatedMessageFilter(const RepeatedMessageFilter&) = delete;
  RepeatedMessageFilter& operator=(const RepeatedMessageFilter&) = delete;

 private:
  class Sink : public spdlog::sinks::dist_sink<spdlog::details::null_mutex> {
   public:
    using dist_sink::dist_sink;

   protected:
    void sink_it_(const spdlog::details::log_msg& message) override {
      if (shown_.emplace(message.payload.begin(), message.payload.end()).second) dist_sink::sink_it_(message);
    }

   private:
    std::set<std::string> shown_;
  };

  std::vector<spdlog::sink_ptr> sinks_;
};

enum class State { absent, finished, unevaluated, interrupted, other };

/// The state of the result file of an element; `code` is the exit code of a finished one. @note Collective.
State state_of(const Element& element, const RunRequest& request, int& code, const Communicator& communicator) {
  std::vector<std::pair<std::string, std::string>> inputs;
  for (const auto& [name, path] : element.inputs) {
    inputs.emplace_back(name, read_text_file_on_root(path, communicator).value_or(""));
  }
  std::int64_t state_and_code[] = {static_cast<std::int64_t>(State::absent), 0};
  if (communicator.is_root()) {
    std::error_code ignored;
    State state = State::absent;
    if (std::filesystem::exists(element.path, ignored)) {
      state = State::other;
      try {
        require_intact(element.path);
        const ResultReader result(element.path);
        bool same = result.attribute("recipe_resolved") == element.resolved &&
                    result.attribute("petsc_options") == fmt::format("{}", fmt::join(request.petsc_options, " ")) &&
                    build_differences(result, petsc_version()).empty();
        for (const auto& [name, value] : inputs) {
          same = same && result.has_attribute(name) && result.attribute(name) == value;
        }
        const std::string status = result.attribute("status");
        if (same && (status == "complete" || status == "computed")) {
          state = State::unevaluated;  // the run was killed before its claims were evaluated
          const std::vector<ClaimResult> claims = read_claims(result);
          if (status == "complete" && claims.size() == element.claims) {
            state = State::finished;
            state_and_code[1] = exit_code_of(claims);
          }
        } else if (same && status == "partial") {
          state = State::interrupted;
        }
      } catch (const FileError&) {
        // A killed run may leave an unreadable file; it can be resumed if it has a checkpoint.
        if (!find_checkpoints(element.path).empty()) state = State::interrupted;
      }
    }
    state_and_code[0] = static_cast<std::int64_t>(state);
  }
  communicator.broadcast(std::span<std::int64_t>(state_and_code));
  code = static_cast<int>(state_and_code[1]);
  return static_cast<State>(state_and_code[0]);
}

bool has_checkpoints(const std::string& path, const Communicator& communicator) {
  return communicator.broadcast(communicator.is_root() && !find_checkpoints(path).empty());
}

int run_element(Element element, const RequestedSweep& requested, double wall_time) {
  const RunRequest& request = requested.request;
  const Program& program = requested.program;
  const Communicator& communicator = program.communicator();
  int code = exit_code::complete;
  std::unique_ptr<ResultLock> lock;
  std::error_code ignored;
  // Without a file the state is found only once.
  const bool is_new = communicator.broadcast(communicator.is_root() && !std::filesystem::exists(element.path, ignored));
  State state = is_new ? State::absent : state_of(element, request, code, communicator);
  if (state != State::finished || request.overwrite) {
    lock = std::make_unique<ResultLock>(element.path, communicator);
    state = state_of(element, request, code,
                     communicator);  // again, because the lock guarantees that no other run changes it
  }
  if (state == State::finished && !request.overwrite) {
    if (communicator.is_root()) fmt::print("{}: already complete\n", element.path);
    return code;
  }
  if (state == State::unevaluated && !request.overwrite) {
    if (communicator.is_root()) fmt::print("{}: already computed; evaluating its claims\n", element.path);
    return finalise_result(element.path, requested.recipe_of(element.settings), communicator);
  }
  if (state == State::other && !request.overwrite) {
    throw UsageError(
        fmt::format("{} belongs to this recipe but to another build, other input files or other options, or it is "
                    "damaged; --overwrite runs it again",
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
  RunRequest run = request;
  run.settings = element_settings(request, element.settings);
  run.output = element.path;
  run.sweep_settings = element.settings;
  run.wall_time = wall_time;
  run.overwrite = request.overwrite || state == State::interrupted;  // without a checkpoint to resume from
  return run_recipe(run, program, std::move(lock), std::move(element.recipe));
}

}  // namespace

int run_all(const RunRequest& request, const Program& program) {
  const Communicator& communicator = program.communicator();
  const auto start = std::chrono::steady_clock::now();
  const RequestedSweep requested(request, program);
  const auto count = static_cast<std::int64_t>(requested.sweep.count);
  if (count == 0) {
    if (request.elements)
      requested.refuse_without_elements(fmt::format("--elements: {} has no [sweep]", request.recipe));
    return run_recipe(request, program);
  }
  const ElementRange range = request.elements.value_or(ElementRange{0, count - 1});
  if (range.last >= count) {
    throw UsageError(fmt::format("--elements {}: the elements of the sweep of {} are 0 to {}", range.last,
                                 request.recipe, count - 1));
  }
  std::vector<Element> elements;
  if (!request.elements) elements = requested.elements();
  // A signal while the next element is prepared stops its run.
  const StopSignals signals(communicator);
  StopSignals::begin(StopSignals::Part::unstoppable);
  int max_code = exit_code::complete;
  for (std::int64_t i = range.first; i <= range.last; ++i) {
    double wall_time = request.wall_time;
    if (wall_time > 0.0) {
      const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      wall_time = std::max(1e-3, wall_time - communicator.max(elapsed));
    }
    const auto index = static_cast<std::size_t>(i);
    // What one element cannot be run for, such as a damaged file, is no reason to leave out the others. It is thrown on
    // all ranks.
    const int code = exit_code_of([&] {
      Element element = request.elements ? requested.element(index) : std::move(elements[index]);
      if (communicator.is_root()) fmt::print("element {} of {}: {}\n", i, count, fmt::join(element.settings, " "));
      return run_element(std::move(element), requested, wall_time);
    });
    if (code == exit_code::stopped) return code;
    // The signal may have arrived after the last point at which the element could stop.
    if (i < range.last && communicator.any(StopSignals::received() != 0)) {
      report_stop();
      spdlog::warn("stopped after element {} by a signal; the same command continues", i);
      return exit_code::stopped;
    }
    max_code = std::max(max_code, code);
  }
  return max_code;
}

void check_all(const RunRequest& request, const Program& program) {
  const RequestedSweep requested(request, program);
  if (requested.sweep.count == 0) return check_recipe(request, program);
  const RepeatedMessageFilter filter;
  std::set<std::string> printed;
  for (const Element& element : requested.elements()) {
    RunRequest run = request;
    run.settings = element_settings(request, element.settings);
    check_recipe(run, program, &printed);
  }
}

void list_sweep(const RunRequest& request, SweepFormat format, const Program& program) {
  const Communicator& communicator = program.communicator();
  const RequestedSweep requested(request, program);
  if (requested.sweep.count == 0) requested.refuse_without_elements(fmt::format("{} has no [sweep]", request.recipe));
  const std::vector<Element> elements = requested.elements();
  if (format == SweepFormat::count) {
    if (communicator.is_root()) fmt::print("{}\n", elements.size());
    return;
  }
  for (std::size_t i = 0; i < elements.size(); ++i) {
    int code = 0;
    const State state = state_of(elements[i], request, code, communicator);
    const char* descriptions[] = {"to do", "finished", "computed", "interrupted", "of another build, input or options"};
    if (!communicator.is_root()) continue;
    if (format == SweepFormat::json) {
      std::vector<std::string> settings;
      for (const std::string& setting : elements[i].settings) {
        const std::size_t end = setting.find('=');
        settings.push_back(json_string(setting.substr(0, end)) + ": " + json_string(setting.substr(end + 1)));
      }
      fmt::print("{}{{\"index\": {}, \"file\": {}, \"state\": {}, \"settings\": {{{}}}}}{}\n", i == 0 ? "[" : " ", i,
                 json_string(elements[i].path), json_string(descriptions[static_cast<int>(state)]),
                 fmt::join(settings, ", "), i + 1 < elements.size() ? "," : "]");
      continue;
    }
    fmt::print("{:>4}  {}  {:<11}  {}\n", i, elements[i].path, descriptions[static_cast<int>(state)],
               fmt::join(elements[i].settings, " "));
  }
}

}  // namespace bathline
