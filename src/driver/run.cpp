// One run from the recipe's text to the finished result file.
// Tested by tests/command_line/commands_test.py.
#include "driver/run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <functional>
#include <map>

#include "driver/prepared_run.hpp"

namespace bathline {

namespace {

/// The environments of a problem: ", 345 sites (line, short), 500 oscillators (bath)".
std::string environments_of(const Problem& problem) {
  struct SiteGroup {
    std::int64_t sites = 0;
    std::string names;
  };
  std::map<std::string, SiteGroup, std::greater<>> by_name;
  for (const auto& environment : problem.environments()) {
    const EnvironmentProperties& properties = environment->properties();
    const bool is_endless = properties.sites == 0 && !properties.is_white;
    SiteGroup& group =
        by_name[properties.is_white ? "damper" : (is_endless ? "semi-infinite " : "") + properties.site_name];
    group.sites += properties.is_white ? 1 : properties.sites;
    group.names += (group.names.empty() ? "" : ", ") + environment->name();
  }
  std::string text;
  for (const auto& [name, group] : by_name) {
    const std::string count = group.sites == 0 ? "" : fmt::format("{} ", group.sites);
    text += fmt::format(", {}{}{} ({})", count, name, group.sites == 1 ? "" : "s", group.names);
  }
  return text;
}

}  // namespace

void check_recipe(const RunRequest& request, const Program& program) {
  const PreparedRun prepared = prepare(read_text(request.recipe, program.communicator()), request.recipe,
                                       request.settings, request.petsc_options, program);
  if (!program.communicator().is_root()) return;
  fmt::print("{}: valid; {}\n", request.recipe, prepared.recipe->title);
  for (std::size_t i = 0; i < prepared.experiment->cases().size(); ++i) {
    const Case& this_case = prepared.experiment->cases()[i];
    const std::string environments = environments_of(prepared.feasibility->problem(i));
    const std::optional<PoincarePlan>& section = prepared.experiment->output().section;
    const double points = section ? section->points(static_cast<double>(this_case.steps) * this_case.step) : 0.0;
    fmt::print("  {:<24} {} on the {} system, {} steps of {}{}{}\n", this_case.label, this_case.method->entry.name,
               this_case.closed ? "closed" : "open", this_case.steps, this_case.step, environments,
               points > 0.0 ? fmt::format(", {:.0f} points of the section", points) : "");
  }
}

int run_recipe(const RunRequest& request, const Program& program, std::unique_ptr<ResultLock> lock) {
  const Communicator& communicator = program.communicator();
  RunContext context;
  context.wall_time = request.wall_time;
  context.progress = request.progress;
  const PreparedRun prepared = prepare(read_text(request.recipe, communicator), request.recipe, request.settings,
                                       request.petsc_options, program);
  context.path =
      request.output.empty() ? std::filesystem::path(request.recipe).stem().string() + ".h5" : request.output;
  context.provenance = {.title = prepared.recipe->title,
                        .recipe = prepared.recipe->text,
                        .recipe_resolved = prepared.recipe->resolved,
                        .petsc_version = petsc_version(),
                        .petsc_options = fmt::format("{}", fmt::join(request.petsc_options, " ")),
                        .seed = static_cast<std::int64_t>(prepared.experiment->seed()),
                        .started = utc_now()};
  if (!lock) lock = std::make_unique<ResultLock>(context.path, communicator);
  const StopSignals signals(communicator);
  std::unique_ptr<ResultFile> file = create_result(context, prepared, request.overwrite, communicator);
  if (!request.sweep_settings.empty()) {
    std::string lines;
    for (const std::string& setting : request.sweep_settings) lines += setting + "\n";
    file->attribute("sweep_settings", lines);
    file->flush();
  }
  return execute_run(context, prepared, std::move(file), nullptr, communicator);
}

}  // namespace bathline
