// From the text of a recipe to a prepared run: all checks that are possible before it starts.
// Tested by tests/command_line/mistakes_test.py.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <functional>
#include <set>
#include <sstream>

#include "driver/prepared_run.hpp"
#include "driver/trajectory_recorder.hpp"
#include "record/quantity.hpp"
#include "solve/petsc_options.hpp"
#include "solve/solver_error.hpp"
#include "text/spelling.hpp"

namespace bathline {

namespace {

/// A text with each of the `cases` of a series in place of {}.
std::vector<std::string> of_cases(const Section& series, const std::string& text) {
  const std::size_t place = text.find("{}");
  if (place == std::string::npos || !series.has("cases")) return {text};
  std::vector<std::string> texts;
  for (const std::string& this_case : series.texts("cases"))
    texts.push_back(std::string(text).replace(place, 2, this_case));
  return texts;
}

using QuantityCheck = std::function<void(const Section& section, const std::string& key, const std::string& quantity)>;

/// Calls `check` for all quantities of claims and figures.
void for_each_quantity(const Recipe& recipe, const QuantityCheck& check) {
  for (const Section& claim : recipe.claims) {
    for (const char* key : {"quantity", "minus", "divided_by"}) {
      if (claim.has(key)) check(claim, key, claim.text(key));
    }
  }
  if (!recipe.figure.has("panels")) return;
  for (const Section& panel : recipe.figure.tables("panels")) {
    if (!panel.has("series")) continue;
    for (const Section& series : panel.tables("series")) {
      for (const char* key : {"of", "minus", "error", "x"}) {
        if (!series.holds<std::string>(key)) continue;
        const std::string& text = series.text(key);
        // `x` may be a variable beside that of `of`.
        if (key == std::string("x") && text.find('.') == std::string::npos) continue;
        for (const std::string& quantity : of_cases(series, text)) check(series, key, quantity);
      }
    }
  }
}

/// Claims and figures must name a group that this recipe writes.
void check_quantities(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  std::vector<std::string> names;
  for (const Section& integrator : recipe.integrators) names.push_back(integrator.text("name"));
  names.push_back(recipe.study.text("kind"));
  std::set<std::string> groups(names.begin(), names.end());
  if (recipe.study.has("memory") && recipe.study.boolean("memory")) groups.insert("memory-kernel");
  const auto is_written = [&](const std::string& group) {
    return groups.count(group) > 0 || (group == "certificate" && has_certificates(experiment));
  };
  for_each_quantity(recipe, [&](const Section& section, const std::string& key, const std::string& quantity) {
    ParsedQuantity parsed;
    std::string reason;
    const std::string group = quantity.substr(0, quantity.find_first_of(".["));
    if (!parse_quantity(quantity, parsed, reason)) {
      mistakes.add(section.where(key), fmt::format("`{}` is not a quantity: {}", quantity, reason));
    } else if (!is_written(group)) {
      mistakes.add(section.where(key), fmt::format("`{}` starts with no integrator or study name of this recipe: {}",
                                                   quantity, fmt::join(names, ", ")));
    }
  });
}

/// Why a case does not record `name` with these indices, or "".
std::string why_not_recorded(const SeriesLayout& layout, const OutputPlan& output, const std::string& name,
                             std::span<const std::int64_t> indices) {
  std::vector<std::string> names = {layout.time};
  for (const Dimension& dimension : layout.dimensions) names.push_back(dimension.name);
  for (const Variable& variable : layout.variables) names.push_back(variable.name);
  if (output.section) names.insert(names.end(), {"poincare_q", "poincare_p", "poincare_time"});
  const bool is_of_sites = output.snapshots > 0 && (name.starts_with("displacement") || name.starts_with("site"));
  if (!is_of_sites && std::ranges::find(names, name) == names.end()) {
    return fmt::format("`{}` is not recorded{}", name, spelling_advice(name, names, '`'));
  }
  const auto variable = std::ranges::find(layout.variables, name, &Variable::name);
  if (variable == layout.variables.end()) return "";
  if (indices.size() > variable->dimensions.size()) {
    return fmt::format("`{}` takes at most {} indices", name, variable->dimensions.size());
  }
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto dimension = std::ranges::find(layout.dimensions, variable->dimensions[i], &Dimension::name);
    const auto length = static_cast<std::int64_t>(dimension->length());
    if (indices[i] < length || dimension->name == "environment") continue;
    return fmt::format("index {} of `{}` is out of range: dimension `{}` has {}", indices[i], name, dimension->name,
                       length);
  }
  return "";
}

/// What claims and figures take from the group of a case must be recorded there.
void check_recorded(const PreparedRun& prepared, Mistakes& mistakes) {
  const std::vector<Case>& cases = prepared.experiment->cases();
  for_each_quantity(*prepared.recipe, [&](const Section& section, const std::string& key, const std::string& text) {
    ParsedQuantity quantity;
    std::string reason;
    if (!parse_quantity(text, quantity, reason)) return;
    const std::string path = fmt::format("{}", fmt::join(quantity.parts, "."));
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const Case& this_case = cases[i];
      // Names of integrators may contain dots, or be that of the study.
      if (!path.starts_with(this_case.name + ".") || this_case.name == prepared.recipe->study.text("kind")) continue;
      const std::vector<std::string> noisy(this_case.noise && !this_case.closed ? 1 : 0, "all");
      const OutputPlan& output = prepared.experiment->output();
      const SeriesLayout layout = recorded_series(this_case, prepared.feasibility->problem(i), output, noisy);
      reason = why_not_recorded(layout, output, path.substr(this_case.name.size() + 1), quantity.indices);
      if (reason.empty()) return;
    }
    if (!reason.empty()) mistakes.add(section.where(key), fmt::format("`{}`: {}", text, reason));
  });
}

/// Runs that a study compares must end at the same time.
void check_ends(const Recipe& recipe, const StudyKind& study, Mistakes& mistakes) {
  if (study.allows_own_ends) return;
  for (const Section& integrator : recipe.integrators) {
    if (!integrator.has("end")) continue;
    mistakes.add(integrator.where("end"),
                 fmt::format("end: a study of the kind `{}` needs one end time for all runs", study.entry.name));
  }
}

/// With `particles_only` the environments are incomplete, so that nothing may depend on their sites.
void check_particles_only(const Section& output, const StudyKind& study, Mistakes& mistakes) {
  if (!output.boolean("particles_only")) return;
  if (!study.looks_at_particles) {
    mistakes.add(
        output.where("particles_only"),
        fmt::format("particles_only: a study of the kind `{}` needs the complete environments", study.entry.name));
  }
  if (output.has("snapshots")) {
    mistakes.add(output.where("snapshots"),
                 "snapshots need the sites that `particles_only` drops; remove one of the two keys");
  }
}

/// Snapshots need environments with sites.
void check_snapshots(const Section& output, const Experiment& experiment, Mistakes& mistakes) {
  if (!output.has("snapshots")) return;
  const std::string environment = experiment.environment_without_sites();
  if (environment.empty()) return;
  mistakes.add(
      output.where("snapshots"),
      fmt::format("snapshots need sites, and `{}` stores none: it is computed from its memory kernel", environment));
}

/// Parts of a recipe that need constant masses, or no action z, are mistakes with a general Lagrangian.
void check_lagrangian(const Recipe& recipe, const Experiment& experiment, const StudyKind& study, Mistakes& mistakes) {
  const ParticleSystem& system = experiment.system();
  if (!system.lagrangian && !system.contact) return;
  if (!study.takes_any_lagrangian && (system.lagrangian || !study.takes_contact)) {
    mistakes.add(recipe.study.where("kind"),
                 fmt::format("a study of the kind `{}` needs {}", study.entry.name,
                             system.lagrangian ? "masses and a potential, not a general Lagrangian"
                                               : "a damping matrix, not damping that is part of the Lagrangian"));
  }
  if (!system.contact) return;
  if (recipe.output.boolean("work_rules")) {
    mistakes.add(recipe.output.where("work_rules"),
                 "`work_rules` integrate the work of damping forces, which a Lagrangian with z does not have");
  }
  if (recipe.output.has("poincare_section") && system.lagrangian) {
    mistakes.add(recipe.output.where("poincare_section"),
                 "`poincare_section` interpolates positions and velocities between steps, but not the action z, on "
                 "which this L depends");
  }
}

/// Parts of a recipe that assume deterministic trajectories are mistakes for cases with noise.
void check_noise(const Recipe& recipe, const Experiment& experiment, const StudyKind& study, Mistakes& mistakes) {
  const auto noise_of = [](const Case& this_case) {
    return this_case.closed ? "is closed with a thermal environment" : "is open with a temperature";
  };
  for (const Case& this_case : experiment.cases()) {
    if (!this_case.noise) continue;
    if (!study.takes_noise) {
      mistakes.add(
          this_case.options.where("on"),
          fmt::format(
              "{}: a study of the kind `{}` supports no noise, and `{}` {}; `noise = false` switches the noise off",
              this_case.name, study.entry.name, this_case.name, noise_of(this_case)));
    }
    if (recipe.output.boolean("work_rules")) {
      mistakes.add(
          recipe.output.where("work_rules"),
          fmt::format(
              "`work_rules` integrate the work of damping alone, and `{}` {}; `noise = false` switches the noise off",
              this_case.name, noise_of(this_case)));
    }
  }
}

}  // namespace

PreparedRun prepare(const std::string& text, const std::string& file, const std::vector<std::string>& settings,
                    const std::vector<std::string>& petsc_options, const Program& program) {
  Mistakes mistakes;
  auto recipe = std::make_unique<Recipe>(parse_recipe(text, file, settings, program.catalogue_schema(), mistakes));
  mistakes.throw_if_any();
  return prepare(std::move(recipe), petsc_options, program);
}

PreparedRun prepare(std::unique_ptr<Recipe> recipe, const std::vector<std::string>& petsc_options,
                    const Program& program) {
  PreparedRun prepared;
  prepared.recipe = std::move(recipe);
  prepared.petsc = std::make_unique<PetscSession>(program.communicator(), petsc_options);
  const LogStage stage("Setting up");
  Mistakes mistakes;
  prepared.experiment = std::make_unique<Experiment>(*prepared.recipe, program, mistakes);
  mistakes.throw_if_any();
  prepared.feasibility = std::make_unique<Feasibility>(*prepared.recipe, *prepared.experiment, mistakes);
  mistakes.throw_if_any();
  const StudyKind& kind = *program.catalogues().studies.find(prepared.recipe->study.text("kind"));
  if (prepared.recipe->has_motion) check_lagrangian(*prepared.recipe, *prepared.experiment, kind, mistakes);
  mistakes.throw_if_any();
  completes([&] { prepared.study = kind.make(*prepared.recipe, *prepared.experiment, mistakes); });
  check_quantities(*prepared.recipe, *prepared.experiment, mistakes);
  check_ends(*prepared.recipe, kind, mistakes);
  if (prepared.recipe->has_motion) {
    check_snapshots(prepared.recipe->output, *prepared.experiment, mistakes);
    check_particles_only(prepared.recipe->output, kind, mistakes);
    check_noise(*prepared.recipe, *prepared.experiment, kind, mistakes);
  }
  mistakes.throw_if_any();
  check_recorded(prepared, mistakes);
  mistakes.throw_if_any();
  std::vector<std::string> unknown_options;
  std::string names;
  try {
    prepared.feasibility->set_up_solvers();
    unknown_options = prepared.petsc->unknown_options();
  } catch (const SolverError& error) {
    throw UsageError(fmt::format("invalid solver options: {}", error.what()));
  }
  for (const std::string& option : unknown_options) {
    names += fmt::format("{}`{}`", names.empty() ? "" : ", ", option);
  }
  if (!names.empty()) {
    throw UsageError(
        fmt::format("PETSc has no option {}; `-- -help` prints the options of this run's solvers, and "
                    "options that PETSc reads when it starts, such as -info, are those of PETSC_OPTIONS",
                    names));
  }
  for (const Case& this_case : prepared.experiment->cases()) {
    if (this_case.start) spdlog::info("{}: thermal start, {}", this_case.name, this_case.start->description());
  }
  double bytes = 0.0;
  for (const auto& [name, input] : prepared.experiment->input_files()) bytes += static_cast<double>(input.size());
  if (constexpr double mebibyte = 1 << 20; bytes > mebibyte) {
    spdlog::info("the input files have {:.0f} MiB, which every rank and the result contain, a checkpoint twice",
                 bytes / mebibyte);
  }
  prepared.certificates = certificates_of(*prepared.experiment, *prepared.feasibility);
  log_certificates(prepared.certificates);
  for (const std::string& note : prepared.feasibility->notes()) spdlog::info("{}", note);
  for (const std::string& warning : prepared.feasibility->warnings()) spdlog::warn("{}", warning);
  return prepared;
}

Recipe recipe_of(const ResultReader& result, const Program& program) {
  Mistakes mistakes;
  Recipe recipe =
      parse_recipe(result.attribute("recipe_resolved"), result.path(), {}, program.catalogue_schema(), mistakes);
  mistakes.throw_if_any();
  return recipe;
}

std::vector<std::string> options_for(const std::optional<std::vector<std::string>>& given, const std::string& text,
                                     const std::string& file) {
  if (given) return *given;
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return options_of_file(words, file);
}

}  // namespace bathline
