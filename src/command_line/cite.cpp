// Finding citation keys in recipes and catalogues.
// Tested by tests/command_line/cite_test.py.
#include "command_line/commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "record/build_facts.hpp"
#include "references.hpp"

namespace bathline {

namespace {

/// Whether `key` occurs in `text` as a whole word.
bool has_word(std::string_view text, std::string_view key) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (auto start = text.find(key); start != std::string_view::npos; start = text.find(key, start + 1)) {
    const auto end = start + key.size();
    if ((start == 0 || !is_part(text[start - 1])) && (end == text.size() || !is_part(text[end]))) return true;
  }
  return false;
}

/// The texts at `keys` of a section, one per line.
std::string texts_of(const Section& section, std::initializer_list<const char*> keys) {
  std::string text;
  for (const char* key : keys) {
    if (section.has(key)) text += section.text(key) + "\n";
  }
  return text;
}

/// The source of the entry that `key` of a section names.
std::string source_of(const Section& section, const char* key, const std::vector<CatalogueEntry>& entries) {
  const CatalogueEntry* entry = find_entry(entries, section.text(key));
  return entry == nullptr ? "" : entry->source + "\n";
}

/// The sources of the potentials in the tables of a section.
std::string sources_of_potentials(const Section& section, const std::vector<CatalogueEntry>& potentials) {
  std::string text;
  for (const std::string& key : section.keys()) {
    if (!section.holds<std::vector<Section>>(key)) continue;
    for (const Section& table : section.tables(key)) {
      if (table.holds<std::string>("kind")) text += source_of(table, "kind", potentials);
      text += sources_of_potentials(table, potentials);
    }
  }
  return text;
}

}  // namespace

std::string cite_program() {
  return fmt::format(
      "@software{{bathline,\n"
      "  author  = {{{{The bathline authors}}}},\n"
      "  title   = {{bathline: dissipative mechanics as closed conservative systems}},\n"
      "  version = {{{}}},\n"
      "  year    = {{2026}}\n"
      "}}\n",
      build_facts::version);
}

std::string cite_recipes(const std::vector<Recipe>& recipes, const CatalogueSchema& catalogue_schema) {
  std::string sources;
  for (const Recipe& recipe : recipes) {
    sources += texts_of(recipe.paper, {"key", "figure", "note"});
    for (const Section& claim : recipe.claims) sources += texts_of(claim, {"source", "note"});
    sources += source_of(recipe.system, "kind", catalogue_schema.systems);
    sources += sources_of_potentials(recipe.system, catalogue_schema.potentials);
    for (const Section& environment : recipe.environments) {
      sources += source_of(environment, "kind", catalogue_schema.environments);
      sources += sources_of_potentials(environment, catalogue_schema.potentials);
    }
    for (const Section& integrator : recipe.integrators) {
      sources += source_of(integrator, "method", catalogue_schema.integrators);
    }
    sources += source_of(recipe.study, "kind", catalogue_schema.studies);
  }
  std::string text;
  for (std::string_view rest = references; !rest.empty();) {
    const auto start = rest.find('@');
    if (start == std::string_view::npos) break;
    const auto end = std::min(rest.find("\n}", start), rest.size() - 2) + 2;
    const std::string_view entry = rest.substr(start, end - start);
    const auto open = entry.find('{') + 1;
    if (has_word(sources, entry.substr(open, entry.find(',') - open))) text += fmt::format("\n{}\n", entry);
    rest.remove_prefix(end);
  }
  return text;
}

}  // namespace bathline
