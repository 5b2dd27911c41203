// One run from the recipe's text to the finished result file.
// Tested by tests/command_line/commands_test.py.
#include "driver/run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>

#include "driver/prepared_run.hpp"
#include "text/printable_text.hpp"

namespace bathline {

namespace {

/// The environments of a problem: ", 345 sites (line, short), 500 oscillators (bath)".
std::string environments_of(const Problem& problem) {
  struct SiteGroup {
    std::int64_t count = 0;  // of sites, or of environments without sites
    std::string names;
  };
  std::map<std::string, SiteGroup, std::greater<>> by_name;
  for (const auto& environment : problem.environments()) {
    const EnvironmentProperties& properties = environment->properties();
    const bool is_semi_infinite = properties.sites == 0 && !properties.is_white;
    SiteGroup& group = by_name[properties.is_white ? "damper"
                               : is_semi_infinite  ? "semi-infinite line"
                                                   : properties.site_name];
    group.count += std::max<std::int64_t>(properties.sites, 1);
    group.names += (group.names.empty() ? "" : ", ") + environment->name();
  }
  std::string text;
  for (const auto& [name, group] : by_name) {
    text += fmt::format(", {} ({})", counted(group.count, name), group.names);
  }
  return text;
}

}  // namespace

int exit_code_of(const std::function<int()>& command) {
  try {
    return command();
  } catch (const UsageError& error) {
    spdlog::error("{}", error.what());
    return exit_code::usage;
  } catch (const FileError& error) {
    spdlog::error("{}", error.what());
    return exit_code::numerical_failure;
  }
}

std::string recipe_text(const RunRequest& request, const Communicator& communicator) {
  return request.text ? with_extended_recipes(*request.text, request.recipe, communicator)
                      : read_recipe_text(request.recipe, communicator);
}

void check_recipe(const RunRequest& request, const Program& program, std::set<std::string>* printed) {
  const PreparedRun prepared = prepare(recipe_text(request, program.communicator()), request.recipe, request.settings,
                                       request.petsc_options, program);
  if (!program.communicator().is_root()) return;
  const auto print = [&](const std::string& line) {
    if (printed == nullptr || printed->insert(line).second) fmt::print("{}\n", line);
  };
  print(fmt::format("{}: valid; {}", request.recipe, prepared.recipe->title));
  for (std::size_t i = 0; i < prepared.experiment->cases().size(); ++i) {
    const Case& this_case = prepared.experiment->cases()[i];
    const std::string environments = environments_of(prepared.feasibility->problem(i));
    const std::optional<PoincarePlan>& section = prepared.experiment->output().section;
    const double points = section ? section->points(static_cast<double>(this_case.steps) * this_case.step) : 0.0;
    print(fmt::format(
        "  {:<24} {} on the {} system, {} of {}{}{}", this_case.name, this_case.method->entry.name,
        this_case.closed ? "closed" : "open", counted(this_case.steps, "step"), this_case.step, environments,
        points > 0.0 ? fmt::format(", {:.0f} point{} of the section", points, points < 1.5 ? "" : "s") : ""));
  }
}

int run_recipe(const RunRequest& request, const Program& program, std::unique_ptr<ResultLock> lock,
               std::unique_ptr<Recipe> recipe) {
  const Communicator& communicator = program.communicator();
  RunContext context;
  context.wall_time = request.wall_time;
  context.progress = request.progress;
  const PreparedRun prepared = recipe ? prepare(std::move(recipe), request.petsc_options, program)
                                      : prepare(recipe_text(request, communicator), request.recipe, request.settings,
                                                request.petsc_options, program);
  context.path =
      request.output.empty() ? std::filesystem::path(request.recipe).stem().string() + ".h5" : request.output;
  context.provenance =
      provenance_of(prepared, prepared.recipe->text, fmt::format("{}", fmt::join(request.petsc_options, " ")));
  const StopSignals signals(communicator);
  if (!lock) lock = std::make_unique<ResultLock>(context.path, communicator);
  for (const std::string& setting : request.sweep_settings) context.sweep_settings += setting + "\n";
  std::unique_ptr<ResultFile> file = create_result(context, prepared, request.overwrite, communicator);
  return execute_run(context, prepared, std::move(file), nullptr, communicator);
}

}  // namespace bathline
