// From the text of a recipe to all that can be judged before a run.
// Tested by tests/command_line/mistakes_test.py.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "driver/prepared_run.hpp"
#include "record/quantity.hpp"
#include "solve/petsc_options.hpp"
#include "solve/solver_error.hpp"

namespace bathline {

namespace {

/// Claims must name a group that this recipe will write.
void check_claims(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  std::string known;
  std::set<std::string> groups;
  const auto add_group = [&](const Section& section, const std::string& key) {
    return where_readable([&] {
      groups.insert(section.text(key));
      known += (known.empty() ? "" : ", ") + section.text(key);
    });
  };
  bool all_are_known = true;
  for (const Section& integrator : recipe.integrators) all_are_known &= add_group(integrator, "name");
  all_are_known &= add_group(recipe.study, "kind");
  all_are_known &= where_readable([&] {
    if (recipe.study.has("memory") && recipe.study.boolean("memory")) groups.insert("memory-kernel");
  });
  const auto is_written = [&](const std::string& group) {
    return groups.count(group) > 0 || (group == "certificate" && has_certificates(experiment));
  };
  const auto check = [&](const Section& claim, const std::string& key) {
    if (!claim.has(key)) return;
    const std::string& quantity = claim.text(key);
    ParsedQuantity parsed;
    std::string why;
    const std::string group = quantity.substr(0, quantity.find_first_of(".["));
    if (!parse_quantity(quantity, parsed, why)) {
      mistakes.add(claim.where(key), fmt::format("`{}` is no quantity: {}", quantity, why));
    } else if (all_are_known && !is_written(group)) {
      mistakes.add(claim.where(key),
                   fmt::format("`{}` begins with neither a label of this recipe nor its study: {}", quantity, known));
    }
  };
  for (const Section& claim : recipe.claims) {
    for (const char* key : {"quantity", "minus", "divided_by"}) where_readable([&] { check(claim, key); });
  }
}

/// Runs that are compared end together.
void check_ends(const Recipe& recipe, const StudyKind& study, Mistakes& mistakes) {
  if (study.allows_own_ends) return;
  for (const Section& integrator : recipe.integrators) {
    if (!integrator.has("end")) continue;
    mistakes.add(integrator.where("end"),
                 fmt::format("end: in a study of the kind `{}` all runs end together", study.entry.name));
  }
}

/// Where environments are left behind nothing can be seen of them.
void check_particles_only(const Section& output, const StudyKind& study, Mistakes& mistakes) {
  if (!output.boolean("particles_only")) return;
  if (!study.looks_at_particles) {
    mistakes.add(
        output.where("particles_only"),
        fmt::format("particles_only: a study of the kind `{}` needs the environments to the end", study.entry.name));
  }
  if (output.has("snapshots")) {
    mistakes.add(output.where("snapshots"),
                 "snapshots need the sites that `particles_only` leaves out; drop one of them");
  }
}

/// Snapshots show sites.
void check_snapshots(const Section& output, const Experiment& experiment, Mistakes& mistakes) {
  if (!output.has("snapshots")) return;
  const std::string siteless = experiment.environment_without_sites();
  if (siteless.empty()) return;
  mistakes.add(
      output.where("snapshots"),
      fmt::format("snapshots are of sites, and `{}` keeps none: what it does follows from its memory", siteless));
}

/// What of a recipe needs constant masses, which a Lagrangian of its own need not have, or no action.
void check_lagrangian(const Recipe& recipe, const Experiment& experiment, const StudyKind& study, Mistakes& mistakes) {
  if (!experiment.system().lagrangian) return;
  if (!study.takes_any_lagrangian) {
    mistakes.add(recipe.study.where("kind"),
                 fmt::format("a study of the kind `{}` needs masses and a potential, not a Lagrangian of any form",
                             study.entry.name));
  }
  if (!experiment.system().contact) return;
  if (recipe.output.boolean("work_rules")) {
    mistakes.add(recipe.output.where("work_rules"),
                 "`work_rules` sum the work of damping forces; what a Lagrangian with z loses is no such work");
  }
  if (recipe.output.has("poincare_section")) {
    mistakes.add(recipe.output.where("poincare_section"),
                 "`poincare_section` knows positions and velocities between two steps, but no action z, on which this "
                 "L depends");
  }
}

/// What of a recipe is about one motion, and means nothing of one that noise drives.
void check_noise(const Recipe& recipe, const Experiment& experiment, const StudyKind& study, Mistakes& mistakes) {
  const auto why = [](const Case& one) {
    return one.closed ? "is closed with a warm memory" : "is open at a temperature";
  };
  for (const Case& one : experiment.cases()) {
    if (!one.noise) continue;
    if (!study.takes_noise) {
      mistakes.add(one.options.where("on"),
                   fmt::format("{}: a study of the kind `{}` is of motions without noise, and `{}` {}; `noise = false` "
                               "leaves the noise out",
                               one.label, study.entry.name, one.label, why(one)));
    }
    if (recipe.output.boolean("work_rules")) {
      mistakes.add(
          recipe.output.where("work_rules"),
          fmt::format("`work_rules` sum the work of damping alone, and `{}` {}; `noise = false` leaves the noise out",
                      one.label, why(one)));
    }
  }
}

}  // namespace

PreparedRun prepare(const std::string& text, const std::string& file, const std::vector<std::string>& settings,
                    const std::vector<std::string>& petsc_options, const Program& program) {
  PreparedRun prepared;
  Mistakes mistakes;
  *prepared.recipe = parse_recipe(text, file, settings, program.catalogue_schema(), mistakes);
  if (!prepared.recipe->is_toml) refuse(mistakes);
  prepared.petsc = std::make_unique<PetscSession>(program.communicator(), petsc_options);
  const LogStage stage("Setting up");
  prepared.experiment = std::make_unique<Experiment>(*prepared.recipe, program, mistakes);
  prepared.feasibility = std::make_unique<Feasibility>(*prepared.recipe, *prepared.experiment, mistakes);
  const StudyKind* kind = nullptr;
  where_readable([&] {
    kind = program.catalogues().studies.find(prepared.recipe->study.text("kind"));
    prepared.study = kind->make(*prepared.recipe, *prepared.experiment, mistakes);
  });
  check_claims(*prepared.recipe, *prepared.experiment, mistakes);
  where_readable([&] { check_snapshots(prepared.recipe->output, *prepared.experiment, mistakes); });
  if (kind != nullptr) {
    check_ends(*prepared.recipe, *kind, mistakes);
    where_readable([&] { check_particles_only(prepared.recipe->output, *kind, mistakes); });
    where_readable([&] { check_lagrangian(*prepared.recipe, *prepared.experiment, *kind, mistakes); });
    where_readable([&] { check_noise(*prepared.recipe, *prepared.experiment, *kind, mistakes); });
  }
  if (!mistakes.empty()) refuse(mistakes);
  std::vector<std::string> unknown_options;
  std::string unknown;
  try {
    prepared.feasibility->set_up_solvers();
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
  for (const Case& one : prepared.experiment->cases()) {
    if (one.start) spdlog::info("{}: thermal start, {}", one.label, one.start->description());
  }
  prepared.certificates = certificates_of(*prepared.experiment, *prepared.feasibility);
  log_certificates(prepared.certificates);
  for (const std::string& warning : prepared.feasibility->warnings()) spdlog::warn("{}", warning);
  return prepared;
}

Recipe recipe_of(const ResultReader& result, const Program& program) {
  Mistakes mistakes;
  Recipe recipe =
      parse_recipe(result.attribute("recipe_resolved"), result.path(), {}, program.catalogue_schema(), mistakes);
  if (!mistakes.empty()) refuse(mistakes);
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

[[noreturn]] void refuse(const Mistakes& mistakes) { throw UsageError(mistakes.report()); }

}  // namespace bathline
