// Reads the recipes that a recipe extends, and replaces their keys.
#include "recipe/extended_recipe.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "recipe/exclusive_keys.hpp"
#include "text/printable_text.hpp"
#include "recipe/toml_document.hpp"

namespace bathline {

namespace {

constexpr std::size_t max_recipes = 16;

// Begins each text but the first, before its path and a line break. TOML does not allow this character.
constexpr char separator = '\f';

struct RecipeText {
  std::string file, text;
};

std::vector<RecipeText> split(const std::string& all, const std::string& file) {
  std::vector<RecipeText> texts;
  for (std::size_t begin = 0; begin <= all.size();) {
    const std::size_t end = std::min(all.find(separator, begin), all.size());
    std::string text = all.substr(begin, end - begin);
    if (texts.empty()) {
      texts.push_back({file, std::move(text)});
    } else {
      const std::size_t line = text.find('\n');
      texts.push_back({text.substr(0, line), line == std::string::npos ? "" : text.substr(line + 1)});
    }
    begin = end + 1;
  }
  return texts;
}

// The path of the recipe that `table` of `file` extends.
std::string extended_file(const toml::table& table, const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  return (folder / table["extends"].value_or(std::string())).lexically_normal().string();
}

bool has_text(const toml::table& table) { return table["extends"].is_string(); }

bool is_among(const std::vector<RecipeText>& texts, std::size_t count, const std::string& file) {
  return std::any_of(texts.begin(), texts.begin() + static_cast<std::ptrdiff_t>(count), [&](const RecipeText& text) {
    return std::filesystem::path(text.file).lexically_normal() == file;
  });
}

void replace_keys(toml::table& base, toml::table&& changes, const std::string& section) {
  const auto kind = changes["kind"].value<std::string>();
  if (kind && kind != base["kind"].value<std::string>()) base.clear();
  for (const auto& [key, value] : changes) remove_exclusive_keys(base, section, std::string(key.str()));
  for (auto&& [key, value] : changes) {
    toml::table* inner = base[key.str()].as_table();
    if (inner != nullptr && value.is_table()) {
      replace_keys(*inner, std::move(*value.as_table()), section.empty() ? std::string(key.str()) : section + ".");
      continue;
    }
    base.erase(key.str());  // so that messages name the location of the key that replaces it
    base.insert_or_assign(key, std::move(value));
  }
}

}  // namespace

std::string with_extended_recipes(const std::string& text, const std::string& file, const ReadFile& read) {
  std::string all = text;
  std::vector<RecipeText> texts = {{file, text}};
  Mistakes reported_by_parser;
  while (texts.size() < max_recipes) {
    const auto table = parse_toml(texts.back().text, texts.back().file, reported_by_parser);
    if (!table || !has_text(*table)) break;
    const std::string next = extended_file(*table, texts.back().file);
    if (is_among(texts, texts.size(), next)) break;
    std::optional<std::string> content = read(next);
    if (!content) break;
    all += separator + next + '\n' + *content;
    texts.push_back({next, std::move(*content)});
  }
  return all;
}

std::string own_text(const std::string& text) { return split(text, "").front().text; }

std::optional<toml::table> parse_extended_toml(const std::string& text, const std::string& file, Mistakes& mistakes) {
  const std::vector<RecipeText> texts = split(text, file);
  std::vector<toml::table> tables;
  for (std::size_t i = 0;; ++i) {
    auto table = parse_toml(texts[i].text, texts[i].file, mistakes);
    if (!table) return std::nullopt;
    tables.push_back(std::move(*table));
    const toml::node* extends = tables.back().get("extends");
    if (extends == nullptr) break;
    std::string reason;
    const std::string next = extended_file(tables.back(), texts[i].file);
    if (!has_text(tables.back())) {
      reason = "must be the path of another recipe, relative to this one";
    } else if (is_among(texts, i + 1, next)) {
      reason = fmt::format("{} extends itself, directly or through others", printable(next));
    } else if (i + 1 == max_recipes) {
      reason = fmt::format("at most {} recipes may extend one another", max_recipes);
    } else if (i + 1 == texts.size()) {
      reason = fmt::format("cannot read the recipe {}", printable(next));
    }
    if (!reason.empty()) {
      mistakes.add(location_of(extends->source(), file), "extends: " + reason);
      return std::nullopt;
    }
  }
  toml::table recipe = std::move(tables.back());
  for (std::size_t i = tables.size() - 1; i-- > 0;) replace_keys(recipe, std::move(tables[i]), "");
  recipe.erase("extends");
  return recipe;
}

}  // namespace bathline
