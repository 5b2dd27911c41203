// Copies of tables with values in place of names in braces.
#include "recipe/cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "recipe/catalogue_schema.hpp"
#include "recipe/toml_document.hpp"
#include "text/printable_text.hpp"

namespace bathline {

namespace {

/// Larger recipes are mistakes.
constexpr std::size_t max_cases = 1'000;
constexpr std::size_t max_text_bytes = max_formula_bytes;

/// Inserts values into the texts below a node.
class Insertion {
 public:
  Insertion(const toml::table& values, const std::string& file, Mistakes& mistakes)
      : values_(values), file_(file), mistakes_(mistakes) {}

  void into(toml::table& table) {
    for (auto&& [key, node] : table) {
      where_ = location_of(key.source(), file_);
      const toml::node* value = insert(node);
      if (value == nullptr) continue;
      value->visit([&, &name = key](const auto& concrete) { table.insert_or_assign(name, concrete); });
    }
  }

  /// The values that some text names.
  const std::set<std::string>& used() const { return used_; }

 private:
  /// Changes the texts below `node`; returns the value that replaces `node` itself, if one does.
  const toml::node* insert(toml::node& node) {
    if (toml::table* table = node.as_table()) into(*table);
    if (toml::array* list = node.as_array()) {
      for (auto i = list->begin(); i != list->end(); ++i) {
        const toml::node* value = insert(*i);
        if (value != nullptr) value->visit([&](const auto& concrete) { list->replace(i, concrete); });
      }
    }
    if (!node.is_string()) return nullptr;
    const std::string text = node.as_string()->get();
    if (const toml::node* value = value_of(text)) return value;
    if (auto changed = inserted(text)) *node.as_string() = std::move(*changed);
    return nullptr;
  }

  /// The value of "{name}".
  const toml::node* value_of(const std::string& text) {
    if (text.size() < 3 || text.front() != '{' || text.back() != '}') return nullptr;
    const std::string name = text.substr(1, text.size() - 2);
    const toml::node* value = values_.get(name);
    if (value != nullptr) used_.insert(name);
    return value;
  }

  std::optional<std::string> inserted(const std::string& text) {
    std::string result;
    std::size_t end = 0;
    for (std::size_t open = text.find('{'); open != std::string::npos; open = text.find('{', open + 1)) {
      const std::size_t close = text.find('}', open);
      if (close == std::string::npos) break;
      const toml::node* value = value_of(text.substr(open, close - open + 1));
      if (value == nullptr) continue;
      result += text.substr(end, open - end) +
                written(*value, text.substr(open, close - open + 1), text.find_first_not_of(' ', close + 1), text);
      end = close + 1;
      if (result.size() + text.size() - end > max_text_bytes) {
        mistakes_.add(where_, fmt::format("with its values inserted, the text has more than {} bytes", max_text_bytes));
        return std::nullopt;
      }
    }
    if (end == 0) return std::nullopt;
    return result + text.substr(end);
  }

  /// The value as a part of a text. A negative number before a power has parentheses, as in formulas -1^2 is -(1^2).
  std::string written(const toml::node& value, const std::string& name, std::size_t next, const std::string& text) {
    if (const auto* word = value.as_string()) return word->get();
    if (value.is_boolean()) return value.value_or(false) ? "true" : "false";
    if (!value.is_number()) {
      mistakes_.add(where_, fmt::format("{} is a list or a table, which can only replace a whole text", name));
      return "";
    }
    const std::string number =
        value.is_integer() ? fmt::format("{}", *value.value<std::int64_t>()) : fmt::format("{}", number_of(value));
    const bool is_base = number.front() == '-' && next != std::string::npos && text[next] == '^';
    return is_base ? '(' + number + ')' : number;
  }

  const toml::table& values_;
  const std::string& file_;
  Mistakes& mistakes_;
  Location where_;
  std::set<std::string> used_;
};

class CaseExpansion {
 public:
  CaseExpansion(const std::string& file, Mistakes& mistakes) : file_(file), mistakes_(mistakes) {}

  void expand(toml::node& node) {
    if (toml::table* table = node.as_table()) {
      for (auto&& [key, value] : *table) expand(value);
    } else if (toml::array* list = node.as_array()) {
      const bool has_cases = std::any_of(list->begin(), list->end(), [](const toml::node& element) {
        return element.is_table() && element.as_table()->contains("for_each");
      });
      if (has_cases) *list = with_cases(std::move(*list));
      for (toml::node& element : *list) expand(element);
    }
  }

 private:
  toml::array with_cases(toml::array&& list) {
    toml::array expanded;
    for (toml::node& element : list) {
      toml::table* table = element.as_table();
      const auto given = table == nullptr ? toml::table::iterator() : table->find("for_each");
      if (table == nullptr || given == table->end()) {
        element.visit([&](auto& concrete) { expanded.push_back(std::move(concrete)); });
        continue;
      }
      const Location where = location_of(given->first.source(), file_);
      const std::vector<toml::table> cases = cases_of(given->second, where);
      table->erase(given);
      std::set<std::string> unused;
      for (const toml::table& values : cases) {
        for (const auto& [key, value] : values) unused.insert(std::string(key.str()));
      }
      for (const toml::table& values : cases) {
        toml::table copy = *table;
        Insertion insertion(values, file_, mistakes_);
        insertion.into(copy);
        for (const std::string& name : insertion.used()) unused.erase(name);
        expanded.push_back(std::move(copy));
      }
      for (const std::string& name : unused) {
        mistakes_.add(where, fmt::format("for_each: no text of this table contains {{{}}}", printable(name)));
      }
    }
    return expanded;
  }

  /// The values of every case.
  std::vector<toml::table> cases_of(const toml::node& given, const Location& where) {
    std::vector<toml::table> cases(1);
    std::vector<std::pair<const toml::key*, const toml::array*>> lists;
    const toml::table* table = given.as_table();
    if (table != nullptr) {
      for (const auto& [key, list] : *table) lists.emplace_back(&key, list.as_array());
    }
    std::sort(lists.begin(), lists.end(),
              [](const auto& a, const auto& b) { return a.first->source().begin < b.first->source().begin; });
    bool is_good = !lists.empty();
    for (const auto& [key, list] : lists) {
      is_good = is_good && list != nullptr && cases.size() * list->size() <= max_cases;
      if (!is_good) break;
      std::vector<toml::table> longer;
      for (const toml::table& values : cases) {
        for (const toml::node& element : *list)
          add_values(longer.emplace_back(values), std::string(key->str()), element);
      }
      cases = std::move(longer);
    }
    for (const toml::table& values : cases) {
      is_good = is_good &&
                std::all_of(values.begin(), values.end(), [](const auto& pair) { return is_name(pair.first.str()); });
    }
    count_ += cases.size();
    if (is_good && !cases.empty() && count_ <= max_cases) return cases;
    mistakes_.add(where, fmt::format("for_each must be a table of lists by name, such as {{ stages = [1, 2] }}, with "
                                     "at most {} cases in a recipe",
                                     max_cases));
    return {};
  }

  /// Adds the value called `name`, or the values of a table by their own names.
  static void add_values(toml::table& values, const std::string& name, const toml::node& element) {
    if (const toml::table* several = element.as_table()) {
      for (const auto& [key, value] : *several) add_values(values, std::string(key.str()), value);
    } else {
      element.visit([&](const auto& concrete) { values.insert_or_assign(name, concrete); });
    }
  }

  const std::string& file_;
  Mistakes& mistakes_;
  std::size_t count_ = 0;
};

}  // namespace

void expand_cases(toml::table& recipe, const std::string& file, Mistakes& mistakes) {
  CaseExpansion(file, mistakes).expand(recipe);
}

void insert_constants(toml::table& recipe, const Constants& constants, const std::string& file, Mistakes& mistakes) {
  Insertion(constants.values(), file, mistakes).into(recipe);
}

}  // namespace bathline
