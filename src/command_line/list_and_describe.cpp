// What `bathline list` and `bathline describe` print.
// Tested by tests/command_line/commands_test.py.
#include "command_line/list_and_describe.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <vector>

#include "driver/recipe_library.hpp"
#include "formula/parser.hpp"
#include "recipe/recipe_schema.hpp"
#include "recipe/spelling.hpp"

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
      text += fmt::format("{}{:<22} {}\n", what.empty() ? "  " : "", entry.name, entry.summary);
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
  std::vector<std::string> names = {"recipe"};
  for (const Category& category : categories) {
    for (const CatalogueEntry& entry : catalogue_schema.*category.entries) names.push_back(entry.name);
  }
  return names;
}

std::string describe_name(const std::string& name, const Program& program) {
  if (name == "recipe") return describe_recipe();
  // A name may stand for several things: all of them are shown.
  std::string text = name == "formula" ? describe_formulas() : "";
  for (const Category& category : categories) {
    const std::vector<CatalogueEntry>& entries = program.catalogue_schema().*category.entries;
    const CatalogueEntry* found = find_entry(entries, name);
    if (found == nullptr) continue;
    CatalogueEntry entry = *found;
    if (category.entries == &CatalogueSchema::integrators) {
      // What a method promises stands before its notes; some limits are searched for, which not every start shall do.
      const std::string properties = describe_properties(*program.catalogues().integrators.find(name));
      entry.notes = properties + (entry.notes.empty() ? "" : " ") + entry.notes;
    }
    text += (text.empty() ? "" : "\n") + describe(entry, category.singular);
  }
  if (!text.empty()) return text;
  std::error_code ignored;
  std::vector<std::string> known = names_to_describe(program.catalogue_schema());
  bool is_recipe = std::filesystem::is_regular_file(name, ignored);
  for (const LibraryRecipe& recipe : library_recipes()) {
    is_recipe = is_recipe || recipe.name == name;
    known.push_back(recipe.name);
  }
  if (program.communicator().broadcast(is_recipe)) return describe_recipe(name, program);
  const std::string close = closest_name(name, known);
  throw UsageError(
      fmt::format("there is nothing called `{}`; {}", name,
                  close.empty() ? "`bathline list` shows all names" : fmt::format("did you mean `{}`?", close)));
}

}  // namespace bathline
