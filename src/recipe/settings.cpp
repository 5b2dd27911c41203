// Follows the dotted path of a setting through tables and lists and sets the value at its end.
#include "recipe/settings.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "recipe/exclusive_keys.hpp"
#include "text/printable_text.hpp"
#include "recipe/retired_keys.hpp"
#include "recipe/toml_document.hpp"
#include "recipe/toml_writer.hpp"

namespace bathline {

namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<std::string> split_path(std::string_view path) {
  std::vector<std::string> segments;
  while (true) {
    const auto dot = path.find('.');
    segments.emplace_back(trimmed(path.substr(0, dot)));
    if (dot == std::string_view::npos) return segments;
    path.remove_prefix(dot + 1);
  }
}

std::optional<std::size_t> index_of(const std::string& segment) {
  std::size_t index = 0;
  const char* end = segment.data() + segment.size();
  const auto [rest, error] = std::from_chars(segment.data(), end, index);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return index;
}

std::string joined(const std::vector<std::string>& segments, std::size_t count) {
  std::string path;
  for (std::size_t i = 0; i < count; ++i) path += (i == 0 ? "" : ".") + segments[i];
  return printable(path);
}

// Applies one setting.
class Setting {
 public:
  Setting(const std::string& argument, toml::table& recipe, Mistakes& mistakes)
      : argument_(argument),
        removes_(argument.starts_with(unset_mark)),
        origin_(origin_of_setting(argument)),
        recipe_(recipe),
        mistakes_(mistakes) {}

  void apply() {
    if (removes_) return remove();
    const auto equals = argument_.find('=');
    if (equals == std::string::npos) return add_mistake("has no `=`; write key=value, for instance time.step=0.01");
    if (!is_utf8(argument_)) return add_mistake("is not valid UTF-8");
    segments_ = split_path(std::string_view(argument_).substr(0, equals));
    if (std::find(segments_.begin(), segments_.end(), "") != segments_.end()) {
      return add_mistake("has an empty key; write key=value, for instance time.step=0.01");
    }
    if (toml::node* parent = find_parent()) set_value(*parent, std::string(trimmed(argument_.substr(equals + 1))));
  }

 private:
  void add_mistake(std::string message) { mistakes_.add({origin_, 0, 0}, std::move(message)); }

  void remove() {
    if (!is_utf8(argument_)) return add_mistake("is not valid UTF-8");
    segments_ = split_path(std::string_view(argument_).substr(1));
    toml::node* parent = find_parent();
    if (parent == nullptr) return;
    toml::table* table = parent->as_table();
    if (table != nullptr && table->erase(segments_.back()) > 0) return;
    add_mistake(fmt::format("the recipe has no key `{}`", joined(segments_, segments_.size())));
  }

  // The table or list of the last segment, which need not exist yet; null after a mistake.
  toml::node* find_parent() {
    toml::node* node = &recipe_;
    for (std::size_t depth = 0; depth + 1 < segments_.size(); ++depth) {
      node = find_child(*node, depth);
      if (node == nullptr) return nullptr;
    }
    return node;
  }

  toml::node* find_child(toml::node& node, std::size_t depth) {
    if (toml::array* list = node.as_array()) return find_element(*list, depth);
    toml::table* table = node.as_table();
    if (table == nullptr) {
      add_mistake(fmt::format("`{}` is a value and has no keys", joined(segments_, depth)));
      return nullptr;
    }
    const std::string& segment = segments_[depth];
    if (toml::node* child = table->get(segment)) return child;
    const bool missing_section = depth == 0 && segments_.size() == 2 && !index_of(segments_[1]);
    if (!missing_section) {
      add_mistake(fmt::format("the recipe has no table or list `{}`{}", joined(segments_, depth + 1),
                              depth == 0 ? retired_key_advice("the recipe", segment) : ""));
      return nullptr;
    }
    set_in_table(*table, segment, "{}");
    return table->get(segment);
  }

  toml::node* find_element(toml::array& list, std::size_t depth) {
    if (const auto position = find_position(list, segments_[depth])) return list.get(*position);
    const std::string name = joined(segments_, depth);
    const std::string allowed = list.empty()       ? fmt::format("`{}` is empty", name)
                                : list.size() == 1 ? fmt::format("`{}` has only the index 0", name)
                                                   : fmt::format("`{}` has the indices 0 to {}", name, list.size() - 1);
    add_mistake(fmt::format("`{}` is not an index: {}{}", printable(segments_[depth]), allowed, names_in(list)));
    return nullptr;
  }

  // The name of the table `element`: its `name`, or the method of an integrator without one.
  static std::string name_of(const toml::node& element) {
    const toml::table* table = element.as_table();
    if (table == nullptr) return "";
    for (const char* key : {"name", "method"}) {
      if (const auto name = (*table)[key].value<std::string>()) return *name;
    }
    return "";
  }

  // By index from 0, or by a name that is unique in the list.
  static std::optional<std::size_t> find_position(const toml::array& list, const std::string& segment) {
    if (const auto index = index_of(segment)) return *index < list.size() ? index : std::nullopt;
    std::optional<std::size_t> position;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (name_of(*list.get(i)) != segment) continue;
      if (position) return std::nullopt;
      position = i;
    }
    return position;
  }

  static std::string names_in(const toml::array& list) {
    std::vector<std::string> names;
    for (const toml::node& element : list) {
      if (const std::string name = name_of(element); !name.empty()) names.push_back("`" + printable(name) + "`");
    }
    return names.empty() ? "" : fmt::format(", or the names {}", fmt::join(names, ", "));
  }

  void set_value(toml::node& parent, const std::string& value) {
    const std::string& last = segments_.back();
    if (toml::table* table = parent.as_table()) {
      remove_exclusive_keys(*table, segments_.front(), last);
      set_in_table(*table, last, value);
    } else if (toml::array* list = parent.as_array()) {
      if (find_element(*list, segments_.size() - 1) == nullptr) return;
      toml::table parsed = parse_value(value);
      const auto position = static_cast<std::ptrdiff_t>(*find_position(*list, last));
      list->replace(list->cbegin() + position, std::move(*parsed.get("value")));
    } else {
      add_mistake(fmt::format("`{}` is a value and has no keys", joined(segments_, segments_.size() - 1)));
    }
  }

  void set_in_table(toml::table& table, const std::string& key, const std::string& value) {
    toml::table parsed = parse_value(value);
    // Erased first, so that messages name the setting and not a line of the recipe.
    table.erase(key);
    const toml::source_region location{{}, {}, parsed.get("value")->source().path};
    table.insert_or_assign(toml::key(key, location), std::move(*parsed.get("value")));
  }

  toml::table parse_value(const std::string& value) const {
    auto parsed = parse_toml_value(value, origin_);
    // Parsed again, because only parsed values have a location.
    if (!parsed) parsed = parse_toml_value(toml_text(value), origin_);
    return std::move(*parsed);
  }

  const std::string& argument_;
  bool removes_;
  std::string origin_;
  toml::table& recipe_;
  Mistakes& mistakes_;
  std::vector<std::string> segments_;
};

}  // namespace

std::string origin_of_setting(const std::string& setting) {
  return setting.starts_with(unset_mark) ? "--unset " + printable(setting.substr(1), 200)
                                         : "--set " + printable(setting, 200);
}

std::pair<std::vector<std::string>, std::vector<std::string>> settings_of(const std::string& section,
                                                                          const std::vector<std::string>& settings) {
  std::pair<std::vector<std::string>, std::vector<std::string>> parts;
  for (const std::string& setting : settings) {
    const std::string key = setting.substr(setting.starts_with(unset_mark) ? 1 : 0, setting.find('='));
    const std::string table(trimmed(std::string_view(key).substr(0, key.find_first_of(".="))));
    (table == section ? parts.first : parts.second).push_back(setting);
  }
  return parts;
}

void apply_settings(toml::table& recipe, const std::vector<std::string>& settings, Mistakes& mistakes) {
  for (const std::string& argument : settings) Setting(argument, recipe, mistakes).apply();
}

}  // namespace bathline
