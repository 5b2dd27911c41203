// Finding citation keys in recipes and catalogues.
// Tested by tests/command_line/cite_test.py.
#include "command_line/cite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "build_facts.hpp"
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
  std::string resolved;
  for (const Recipe& recipe : recipes) resolved += recipe.resolved + "\n";
  std::string sources = resolved;
  for (const auto& entries : {catalogue_schema.systems, catalogue_schema.potentials, catalogue_schema.environments,
                              catalogue_schema.integrators, catalogue_schema.studies}) {
    for (const CatalogueEntry& entry : entries) {
      const bool named = resolved.find(fmt::format("kind = \"{}\"", entry.name)) != std::string::npos ||
                         resolved.find(fmt::format("\nname = \"{}\"", entry.name)) != std::string::npos;
      if (named) sources += "\n" + entry.source;
    }
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
