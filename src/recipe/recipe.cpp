// From text to recipe: parse, apply `--set`, read every section, fill in names, check, write the resolved text.
#include "recipe/recipe.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "recipe/cases.hpp"
#include "recipe/constants.hpp"
#include "recipe/extended_recipe.hpp"
#include "recipe/method_aliases.hpp"
#include "recipe/recipe_checks.hpp"
#include "recipe/recipe_schema.hpp"
#include "recipe/section_reader.hpp"
#include "recipe/settings.hpp"
#include "recipe/toml_writer.hpp"

namespace bathline {

namespace {

// Defaults that depend on other keys or on the position in the recipe.
void fill_in_names(Recipe& recipe) {
  std::vector<std::string> environments;
  for (std::size_t i = 0; i < recipe.environments.size(); ++i) {
    Section& environment = recipe.environments[i];
    if (!environment.has("name")) environment.set("name", fmt::format("environment-{}", i), environment.where());
    environments.push_back(environment.text("name"));
  }
  for (Section& integrator : recipe.integrators) {
    if (!integrator.has("name")) integrator.set("name", integrator.text("method"), integrator.where());
    if (!integrator.has("environments")) integrator.set("environments", environments, integrator.where());
  }
}

// All tables of one section as TOML.
std::string written(const std::string& name, std::span<const Section> sections,
                    const CatalogueSchema& catalogue_schema) {
  const SectionSchema& schema = recipe_section(name);
  std::string text;
  for (const Section& section : sections) {
    std::vector<Parameter> parameters = schema.parameters;
    if (schema.entries != nullptr) {
      const auto& own = find_entry(catalogue_schema.*schema.entries, section.text(schema.chooser))->parameters;
      parameters.insert(parameters.end(), own.begin(), own.end());
    }
    const std::string keys = toml_keys(section, parameters, name);
    if (!keys.empty()) text += fmt::format("\n{}\n{}", schema.header(), keys);
  }
  return text;
}

/// The key with which the study computes no motion, if the recipe has it; else "". It is a `data_file` of a study that
/// does not require it and has no `observe`, with which data are compared with a motion: they are then in its place.
std::string standalone_key(const Section& study, const CatalogueSchema& catalogue_schema) {
  if (!study.has("kind") || !study.has("data_file")) return "";
  const std::vector<Parameter>& keys = find_entry(catalogue_schema.studies, study.text("kind"))->parameters;
  const auto is_data_file = [](const Parameter& key) { return key.name == "data_file" && !key.required; };
  const auto is_observe = [](const Parameter& key) { return key.name == "observe"; };
  const bool replaces_motion =
      std::any_of(keys.begin(), keys.end(), is_data_file) && std::none_of(keys.begin(), keys.end(), is_observe);
  return replaces_motion ? "data_file" : "";
}

std::span<const Section> controls_in(const Recipe& recipe) {
  if (!recipe.system.has("controls")) return {};
  return recipe.system.tables("controls");
}

std::string resolved_text(const Recipe& recipe, const CatalogueSchema& catalogue_schema) {
  const auto single = [&](const std::string& name, const Section& section) {
    if (!recipe.has_motion && recipe_section(name).is_of_motion) return std::string();
    return written(name, std::span(&section, 1), catalogue_schema);
  };
  return toml_keys(recipe.top, recipe_keys(), "the recipe") + single("paper", recipe.paper) +
         single("system", recipe.system) + written("environments", recipe.environments, catalogue_schema) +
         written("controls", controls_in(recipe), catalogue_schema) + single("time", recipe.time) +
         written("integrators", recipe.integrators, catalogue_schema) + single("study", recipe.study) +
         single("output", recipe.output) + written("claims", recipe.claims, catalogue_schema) +
         single("figure", recipe.figure);
}

}  // namespace

Recipe parse_recipe(const std::string& text, const std::string& file, const std::vector<std::string>& settings,
                    const CatalogueSchema& catalogue_schema, Mistakes& mistakes) {
  Recipe recipe;
  recipe.file = file;
  recipe.text = own_text(text);
  auto root = parse_extended_toml(text, file, mistakes);
  if (!root) return recipe;
  const auto [of_constants, others] = settings_of("constants", settings);
  apply_settings(*root, of_constants, mistakes);
  const Constants constants = Constants::take_from(*root, file, mistakes);
  expand_cases(*root, file, mistakes);
  apply_settings(*root, others, mistakes);
  // The recipe without its sweep is common to all elements; `read_sweep` gives their settings.
  root->erase("sweep");
  insert_constants(*root, constants, file, mistakes);

  resolve_aliases(*root, file, catalogue_schema, mistakes);
  SectionReader reader(*root, file, catalogue_schema, constants, mistakes);
  const auto read = [&](const std::string& name) { return reader.read(recipe_section(name)); };
  recipe.top = reader.read_top();
  if (recipe.top.has("title")) recipe.title = recipe.top.text("title");
  recipe.paper = read("paper").front();
  recipe.study = read("study").front();
  const std::string standalone = standalone_key(recipe.study, catalogue_schema);
  recipe.has_motion = standalone.empty();
  reader.leave_out_motion(standalone);
  recipe.system = read("system").front();
  recipe.environments = read("environments");
  // Controls are forces of the system.
  const std::vector<Section> controls = read("controls");
  if (!controls.empty()) recipe.system.set("controls", controls, controls.front().where());
  recipe.time = read("time").front();
  recipe.integrators = read("integrators");
  recipe.output = read("output").front();
  recipe.claims = read("claims");
  recipe.figure = read("figure").front();

  if (!mistakes.empty()) return recipe;
  fill_in_names(recipe);
  check_recipe(recipe, catalogue_schema, mistakes);
  if (mistakes.empty()) recipe.resolved = resolved_text(recipe, catalogue_schema);
  return recipe;
}

}  // namespace bathline
