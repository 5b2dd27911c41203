// Reading data and parameters of a fit.
// Tested by tests/study/fit_test.cpp.
#include "study/fit/from_recipe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "model/table_file.hpp"

namespace bathline {

namespace {

using Eigen::VectorXd;

/// The interval of a parameter, by the bounds of its key and its own.
void read_bounds(const Section& section, FitParameter& parameter, Mistakes& mistakes) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  parameter.lower = -infinity;
  parameter.upper = infinity;
  for (const NumberAt& place : parameter.places) {
    const auto [lower, upper] = place.limits();
    parameter.lower = std::max(parameter.lower, lower);
    parameter.upper = std::min(parameter.upper, upper);
  }
  if (!section.has("bounds")) return;
  const std::vector<double>& bounds = section.numbers("bounds");
  if (bounds.size() != 2 || !(bounds[0] <= parameter.start && parameter.start <= bounds[1] && bounds[0] < bounds[1])) {
    mistakes.add(section.where("bounds"),
                 fmt::format("bounds of {}: must be two numbers, [low, high], around its start {}", parameter.name,
                             parameter.start));
    return;
  }
  parameter.lower = std::max(parameter.lower, bounds[0]);
  parameter.upper = std::min(parameter.upper, bounds[1]);
}

FitParameter read_parameter(const Section& section, const Recipe& recipe, const Program& program, Mistakes& mistakes) {
  FitParameter parameter;
  const std::vector<std::string> paths =
      section.holds<std::string>("of") ? std::vector<std::string>{section.text("of")} : section.texts("of");
  if (paths.empty()) {
    mistakes.add(section.where("of"), "of = []: name at least one number of the recipe, as \"system.k\"");
    throw InvalidValue();
  }
  parameter.name = section.has("name") ? section.text("name") : paths.front();
  for (const std::string& path : paths) {
    try {
      parameter.places.emplace_back(path, recipe, program.catalogue_schema());
    } catch (const std::runtime_error& error) {
      mistakes.add(section.where("of"),
                   fmt::format("of = \"{}\" names no number of the recipe: {}", path, error.what()));
      throw InvalidValue();
    }
  }
  parameter.start = parameter.places.front().value();
  for (const NumberAt& place : parameter.places) {
    if (place.value() == parameter.start) continue;
    mistakes.add(section.where("of"), fmt::format("{} has two starts, {} and {}: give the numbers of the recipe that "
                                                  "it stands for the same value",
                                                  parameter.name, parameter.start, place.value()));
  }
  if (parameter.start == 0.0 && !section.has("scale")) {
    mistakes.add(section.where(),
                 fmt::format("{} starts at 0 and needs a `scale`, the size that it may have", parameter.name));
  }
  parameter.scale = section.has("scale") ? section.number("scale") : std::abs(parameter.start);
  read_bounds(section, parameter, mistakes);
  return parameter;
}

/// Runs that depend on random numbers are refused; those with noise are refused for all studies that do not take it.
void refuse_thermal_starts(const Experiment& experiment, Mistakes& mistakes) {
  for (const Case& this_case : experiment.cases()) {
    bool is_warm = this_case.start != nullptr && this_case.start->is_warm();
    if (this_case.closed) {
      const Problem problem = experiment.make_problem(this_case);
      for (const auto& environment : problem.environments()) {
        is_warm = is_warm || environment->properties().temperature > 0.0;
      }
    }
    if (!is_warm) continue;
    mistakes.add(this_case.options.where("on"),
                 fmt::format("a fit compares data with one motion, but that of `{}` starts at random: leave out `kT`",
                             this_case.name));
  }
}

}  // namespace

FitPlan read_fit_plan(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  FitPlan plan{recipe, {}, {}, {}};
  for (Section* section : {&plan.recipe.system, &plan.recipe.study}) {
    keep_texts_of_files(*section, experiment.communicator());
  }
  for (Section& section : plan.recipe.environments) keep_texts_of_files(section, experiment.communicator());
  const Section& study = plan.recipe.study;
  completes([&] {
    const CostVariables variables(experiment.system(), plan.recipe.system);
    plan.data = read_measured_values(study, experiment, variables, false, mistakes);
  });
  for (const Section& section : study.tables("parameters")) {
    completes([&] { plan.parameters.push_back(read_parameter(section, recipe, experiment.program(), mistakes)); });
  }
  if (study.tables("parameters").empty()) {
    mistakes.add(study.where("parameters"), "parameters = []: name at least one, as [[study.parameters]] of = ...");
  }
  for (std::size_t j = 0; j < plan.parameters.size(); ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      if (plan.parameters[i].name != plan.parameters[j].name) continue;
      mistakes.add(
          study.tables("parameters")[j].where(),
          fmt::format("two parameters are called {}; give one of them another `name`", plan.parameters[i].name));
    }
  }
  plan.options = {.deviation_is_known = study.has("sigma"), .confidence = study.number("confidence")};
  if (!(plan.options.confidence > 0.0 && plan.options.confidence < 1.0)) {
    mistakes.add(study.where("confidence"), "confidence: must lie between 0 and 1, without these");
  }
  plan.starts = static_cast<int>(study.integer("starts"));
  plan.spread = study.number("spread");
  plan.halve_step = study.boolean("halve_step");
  plan.repeats = study.integer("repeats");
  if (mistakes.empty() && plan.data.count() <= std::ssize(plan.parameters)) {
    mistakes.add(study.where("data_file"), fmt::format("{} measured values are too few for {} parameters and their "
                                                       "errors",
                                                       plan.data.count(), plan.parameters.size()));
  }
  completes([&] { refuse_thermal_starts(experiment, mistakes); });
  if (mistakes.empty()) query_minimiser_options();
  return plan;
}

std::vector<Parameter> fit_parameters() {
  Parameter of = required("of", ValueType::texts, "",
                          "path of a number of system or environments, as for `--set`: \"system.k\", \"system.q0.0\", "
                          "\"environments.bath.stiffness.1\"; a list of paths for numbers that stay equal");
  of.alternative_types = {ValueType::text};
  std::vector<Parameter> members = {
      std::move(of), optional("name", ValueType::text, "", "name in the results; default: the first path"),
      optional("bounds", ValueType::numbers, "", "lowest and highest value; default: those that the key allows"),
      optional("scale", ValueType::number, "",
               "size of the parameter, of which differences take a part; default: its start", Bound::positive)};
  std::vector<Parameter> parameters = data_parameters(true);
  const std::vector<Parameter> own = {
      {.name = "parameters",
       .type = ValueType::tables,
       .doc = "the numbers that are fitted; the search starts at those of the recipe",
       .required = true,
       .members = std::move(members)},
      defaulted("confidence", ValueType::number, "", "0.95", "probability of the intervals", Bound::unit_interval),
      defaulted("starts", ValueType::integer, "", "1",
                "number of searches, of which the one with the least sum of squares is recorded: the first from the "
                "numbers of the recipe, the others from random ones, as minima are several in general",
                Bound::positive),
      defaulted("spread", ValueType::number, "", "0.5",
                "how far the other starts are from the first, in units of `scale`: the standard deviation, of "
                "logarithms for numbers that must be positive; between two `bounds` starts are uniform",
                Bound::positive),
      defaulted("halve_step", ValueType::boolean, "", "true",
                "whether a second fit with half the step measures how far the step shifts the parameters"),
      defaulted("repeats", ValueType::integer, "", "0",
                "number of experiments that are repeated with random errors and fitted again, which tests the "
                "intervals",
                Bound::nonnegative)};
  parameters.insert(parameters.end(), own.begin(), own.end());
  return parameters;
}

}  // namespace bathline
