// The output of `bathline list` and `bathline describe`.
// Tested by tests/command_line/commands_test.py.
#include "command_line/commands.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "driver/recipe_library.hpp"
#include "formula/parser.hpp"
#include "recipe/recipe_schema.hpp"
#include "text/spelling.hpp"
#include "record/quantity.hpp"

namespace bathline {

namespace {

struct Category {
  const char* plural;
  const char* singular;
  std::vector<CatalogueEntry> CatalogueSchema::*entries;
};

constexpr Category categories[] = {{"systems", "system", &CatalogueSchema::systems},
                                   {"potentials", "potential", &CatalogueSchema::potentials},
                                   {"environments", "environment", &CatalogueSchema::environments},
                                   {"integrators", "integrator", &CatalogueSchema::integrators},
                                   {"studies", "study", &CatalogueSchema::studies}};

}  // namespace

std::string list_names(const std::string& what, const CatalogueSchema& catalogue_schema) {
  std::string text;
  for (const Category& category : categories) {
    if (!what.empty() && what != category.plural) continue;
    if (what.empty()) text += fmt::format("{}\n", category.plural);
    for (const CatalogueEntry& entry : catalogue_schema.*category.entries) {
      std::string aliases;
      for (const Alias& alias : entry.aliases) aliases += (aliases.empty() ? "; also " : ", ") + alias.name;
      text += fmt::format("{}{:<22} {}{}\n", what.empty() ? "  " : "", entry.name, entry.summary, aliases);
    }
  }
  if (what.empty() || what == "recipes") {
    if (what.empty()) text += "recipes\n";
    for (const LibraryRecipe& recipe : library_recipes()) {
      text += fmt::format("{}{:<22} {}\n", what.empty() ? "  " : "", recipe.name, recipe.title);
    }
  }
  return text;
}

std::vector<std::string> names_to_describe(const CatalogueSchema& catalogue_schema) {
  std::vector<std::string> names = {"recipe", "statistics"};
  for (const SectionSchema& section : recipe_sections()) names.push_back(section.name);
  for (const Category& category : categories) {
    for (const CatalogueEntry& entry : catalogue_schema.*category.entries) {
      names.push_back(entry.name);
      for (const Alias& alias : entry.aliases) names.push_back(alias.name);
    }
  }
  return names;
}

std::string describe_name(const std::string& name, const Program& program) {
  if (name == "recipe") return describe_recipe();
  // All entries of the name are shown, which may be several, of different kinds.
  std::string text = name == "formula" ? describe_formulas() : name == "statistics" ? describe_statistics() : "";
  for (const SectionSchema& section : recipe_sections()) {
    if (section.name == name) text += describe(section);
  }
  if (name == "claims") text += "\n" + describe_statistics();
  for (const Category& category : categories) {
    const std::vector<CatalogueEntry>& entries = program.catalogue_schema().*category.entries;
    std::vector<const CatalogueEntry*> matches = entries_by_keyword(entries, name);
    if (const CatalogueEntry* named = find_entry(entries, name)) matches.insert(matches.begin(), named);
    for (const CatalogueEntry* match : matches) {
      CatalogueEntry entry = *match;
      if (category.entries == &CatalogueSchema::integrators) {
        // The properties of a method stand before its notes. Some limits take a search, so they are computed here only.
        const std::string properties = describe_properties(*program.catalogues().integrators.find(entry.name));
        entry.notes = properties + (entry.notes.empty() ? "" : " ") + entry.notes;
      }
      text += (text.empty() ? "" : "\n") + describe(entry, category.singular);
    }
  }
  if (!text.empty()) return text;
  std::error_code ignored;
  std::vector<std::string> names = names_to_describe(program.catalogue_schema());
  bool is_recipe = std::filesystem::is_regular_file(name, ignored);
  for (const LibraryRecipe& recipe : library_recipes()) {
    is_recipe = is_recipe || recipe.name == name;
    names.push_back(recipe.name);
  }
  if (program.communicator().broadcast(is_recipe)) return describe_recipe(name, program);
  const std::string close = closest_name(name, names);
  throw UsageError(
      fmt::format("unknown name `{}`; {}", name,
                  close.empty() ? "`bathline list` shows all names" : fmt::format("did you mean `{}`?", close)));
}

}  // namespace bathline
