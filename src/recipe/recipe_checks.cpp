// The rules between keys: alternatives, pairs of limits, unique names, and names that refer to each other.
#include "recipe/recipe_checks.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "text/printable_text.hpp"
#include "text/spelling.hpp"

namespace bathline {

namespace {

const char* const name_characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

void check_not_empty(const Section& section, const std::string& key, Mistakes& mistakes) {
  if (section.text(key).empty()) {
    mistakes.add(section.where(key), fmt::format("{} = \"\": must not be empty", key));
  }
}

// Names become parts of HDF5 paths and lines of tables.
void check_name(const Section& section, const std::string& key, Mistakes& mistakes) {
  check_not_empty(section, key, mistakes);
  const std::string& name = section.text(key);
  const auto is_forbidden = [](unsigned char c) { return c == '/' || c < 0x20 || c == 0x7f; };
  if (name != "." && name != ".." && std::none_of(name.begin(), name.end(), is_forbidden)) return;
  mistakes.add(
      section.where(key),
      fmt::format("{} = \"{}\": a name must not contain `/`, line ends or other control characters, nor be `.` or `..`",
                  key, printable(name)));
}

// No two sections may have the same text at `key`.
void check_unique(const std::vector<Section>& sections, const std::string& key, Mistakes& mistakes) {
  std::map<std::string, Location> seen;
  for (const Section& section : sections) {
    const std::string& text = section.text(key);
    const auto [first, is_new] = seen.emplace(text, section.where(key));
    if (is_new) continue;
    mistakes.add(section.where(key), fmt::format("{} = \"{}\": must be unique, but {} has it too; set another `{}`",
                                                 key, printable(text), to_string(first->second), key));
  }
}

// Names of integrators become groups of the result file, beside those of the program and of the studies.
void check_integrator_names(const std::vector<Section>& integrators, const std::vector<CatalogueEntry>& studies,
                            Mistakes& mistakes) {
  check_unique(integrators, "name", mistakes);
  std::vector<std::string> reserved = {"claims", "certificate"};
  for (const CatalogueEntry& study : studies) reserved.push_back(study.name);
  for (const Section& integrator : integrators) {
    const std::string& name = integrator.text("name");
    const bool is_reserved = std::find(reserved.begin(), reserved.end(), name) != reserved.end();
    const bool is_spelt_well = !name.empty() && name.find_first_not_of(name_characters) == std::string::npos;
    if (is_spelt_well && !is_reserved) continue;
    const std::string message = is_reserved ? "is reserved for the program; reserved are " + quoted_names(reserved, '"')
                                            : "must consist of letters, digits, `_` and `-`, and not be empty";
    mistakes.add(integrator.where("name"), fmt::format("name = \"{}\": {}", printable(name), message));
  }
}

void check_environment_names(const std::vector<Section>& environments, Mistakes& mistakes) {
  check_unique(environments, "name", mistakes);
  for (const Section& environment : environments) check_name(environment, "name", mistakes);
}

void check_selected_environments(const Section& integrator, const std::vector<Section>& environments,
                                 Mistakes& mistakes) {
  std::vector<std::string> known;
  for (const Section& environment : environments) known.push_back(environment.text("name"));
  const Location where = integrator.where("environments");
  const auto& selected = integrator.texts("environments");
  const std::set<std::string> all_known(known.begin(), known.end());
  std::set<std::string> seen;
  for (auto name = selected.begin(); name != selected.end(); ++name) {
    const bool is_new = seen.insert(*name).second;
    if (all_known.count(*name) == 0) {
      mistakes.add(where, fmt::format("environments: no environment is called \"{}\"{}", printable(*name),
                                      spelling_advice(*name, known, '"')));
    } else if (!is_new) {
      mistakes.add(where, fmt::format("environments: \"{}\" is named twice", printable(*name)));
    }
  }
}

enum class Equal { allowed, refused };

// Requires two numbers in ascending order at `key`.
void check_limits(const Section& section, const std::string& key, Equal equal, Mistakes& mistakes) {
  if (!section.has(key)) return;
  const auto& limits = section.numbers(key);
  if (limits.size() != 2) {
    mistakes.add(section.where(key), fmt::format("{} has {} numbers: must be two, [low, high]", key, limits.size()));
  } else if (equal == Equal::allowed ? limits[0] > limits[1] : limits[0] >= limits[1]) {
    mistakes.add(section.where(key), fmt::format("{} = [{}, {}]: must be [low, high] with the lower number first", key,
                                                 limits[0], limits[1]));
  }
}

void check_claim(const Section& claim, Mistakes& mistakes) {
  check_name(claim, "name", mistakes);
  check_not_empty(claim, "quantity", mistakes);
  check_limits(claim, "bounds", Equal::allowed, mistakes);
  if (claim.has("from") && claim.has("until") && claim.number("from") > claim.number("until")) {
    mistakes.add(claim.where("until"),
                 fmt::format("until = {}: must not lie before from = {}", claim.number("until"), claim.number("from")));
  }
}

// From a thumbnail to a poster; at 200 dots per inch larger figures need gigabytes.
constexpr double min_inches = 0.5, max_inches = 40.0;
constexpr std::int64_t max_columns = 16;

void check_size(const Section& figure, Mistakes& mistakes) {
  for (const char* key : {"width", "height"}) {
    if (!figure.has(key)) continue;
    const double inches = figure.number(key);
    if (inches >= min_inches && inches <= max_inches) continue;
    mistakes.add(figure.where(key),
                 fmt::format("{} = {}: must be from {} to {} inches", key, inches, min_inches, max_inches));
  }
  if (figure.has("columns") && figure.integer("columns") > max_columns) {
    mistakes.add(figure.where("columns"),
                 fmt::format("columns = {}: must be at most {}", figure.integer("columns"), max_columns));
  }
}

void check_figure(const Section& figure, Mistakes& mistakes) {
  check_size(figure, mistakes);
  if (!figure.has("panels")) return;
  for (const Section& panel : figure.tables("panels")) {
    check_limits(panel, "xlim", Equal::refused, mistakes);
    check_limits(panel, "ylim", Equal::refused, mistakes);
  }
}

/// Whether the run will record what a kind of figure draws where no panels name it.
void check_figure_kind(const Recipe& recipe, Mistakes& mistakes) {
  const Section& figure = recipe.figure;
  if (!figure.has("kind") || figure.has("panels")) return;
  const std::string &kind = figure.text("kind"), &study = recipe.study.text("kind");
  const std::string drawn = kind == "norms"                           ? "energy-transfer"
                            : kind == "convergence" || kind == "work" ? "convergence"
                                                                      : study;
  if (drawn != study) {
    mistakes.add(
        figure.where("kind"),
        fmt::format(
            "a figure of the kind `{}` draws results of the study `{}`, but the study is `{}`; name others in `panels`",
            kind, drawn, study));
  } else if (kind == "wave" && !recipe.output.has("snapshots")) {
    mistakes.add(figure.where("kind"),
                 "a figure of the kind `wave` draws displacements of sites: store them by `snapshots = 10` in "
                 "[output], at every tenth step, or name the positions of a chain in `panels`");
  }
}

}  // namespace

void check_recipe(const Recipe& recipe, const CatalogueSchema& catalogue_schema, Mistakes& mistakes) {
  check_not_empty(recipe.top, "title", mistakes);
  check_integrator_names(recipe.integrators, catalogue_schema.studies, mistakes);
  check_environment_names(recipe.environments, mistakes);
  for (const Section& integrator : recipe.integrators)
    check_selected_environments(integrator, recipe.environments, mistakes);
  if (recipe.system.has("controls")) {
    check_unique(recipe.system.tables("controls"), "name", mistakes);
    for (const Section& control : recipe.system.tables("controls")) {
      check_limits(control, "bounds", Equal::allowed, mistakes);
    }
  }
  check_unique(recipe.claims, "name", mistakes);
  for (const Section& claim : recipe.claims) check_claim(claim, mistakes);
  check_figure(recipe.figure, mistakes);
  check_figure_kind(recipe, mistakes);
}

}  // namespace bathline
