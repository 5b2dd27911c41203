// Expansion of the lists of [sweep].
// Tested by tests/command_line/sweep_test.py.
#include "recipe/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "recipe/extended_recipe.hpp"
#include "text/printable_text.hpp"
#include "recipe/settings.hpp"
#include "recipe/toml_document.hpp"
#include "recipe/toml_writer.hpp"

namespace bathline {

namespace {

/// A sweep of more runs is a mistake.
constexpr std::size_t max_elements = 1000000;

std::string written(const toml::node& node) {
  // By toml_writer, which keeps all digits.
  if (const auto* number = node.as_floating_point()) return toml_number(number->get());
  if (const auto* text = node.as_string()) return toml_text(text->get());
  if (const auto* list = node.as_array()) {
    std::string all;
    for (const auto& element : *list) all += (all.empty() ? "" : ", ") + written(element);
    return "[" + all + "]";
  }
  std::ostringstream out;
  out << toml::node_view<const toml::node>(node);
  return out.str();
}

/// Values that are written alike, integers as numbers.
std::string comparable(const toml::node& node) {
  const auto* integer = node.as_integer();
  return integer == nullptr ? written(node) : toml_number(static_cast<double>(integer->get()));
}

/// Reads the lists of keys in `zip`; removes the key.
std::vector<std::vector<std::string>> take_zip(toml::table& table, const std::string& file, Mistakes& mistakes) {
  std::vector<std::vector<std::string>> groups;
  const toml::node* zip = table.get("zip");
  if (zip == nullptr) return groups;
  const auto refuse = [&](const std::string& message) {
    mistakes.add(location_of(zip->source(), file), "zip of [sweep]: " + message);
  };
  const auto* lists = zip->as_array();
  bool is_good = lists != nullptr;
  for (std::size_t i = 0; is_good && i < lists->size(); ++i) {
    const auto* keys = (*lists)[i].as_array();
    is_good = keys != nullptr && keys->size() >= 2 && keys->is_homogeneous(toml::node_type::string);
    if (!is_good) break;
    std::vector<std::string>& group = groups.emplace_back();
    for (const auto& key : *keys) group.push_back(key.as_string()->get());
  }
  if (!is_good) refuse("must be a list of lists of at least two swept keys, such as [[\"system.k\", \"time.step\"]]");
  table.erase("zip");
  return groups;
}

/// Joins the axes of the keys that change together to one axis in the place of the first.
void join(const std::vector<std::vector<std::string>>& groups, std::vector<Sweep::Axis>& axes, const Location& where,
          Mistakes& mistakes) {
  for (const auto& group : groups) {
    std::size_t first = axes.size();
    std::set<std::string> names;
    for (const std::string& name : group) {
      const auto match = std::find_if(axes.begin(), axes.end(), [&](const Sweep::Axis& axis) {
        return axis.size() == 1 && axis.front().name == name;
      });
      if (match == axes.end() || !names.insert(name).second) {
        mistakes.add(where, fmt::format("zip of [sweep]: `{}` is not a swept key, or is named twice", printable(name)));
        return;
      }
      first = std::min(first, static_cast<std::size_t>(match - axes.begin()));
    }
    Sweep::Axis joined;
    for (std::size_t i = axes.size(); i-- > first;) {
      if (axes[i].size() != 1 || std::find(group.begin(), group.end(), axes[i].front().name) == group.end()) continue;
      joined.insert(joined.begin(), axes[i].front());
      axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(i));
    }
    axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(first), joined);
    for (const Sweep::Key& key : joined) {
      if (key.values.size() == joined.front().values.size()) continue;
      mistakes.add(
          key.where,
          fmt::format("zip of [sweep]: the lists of `{}` and `{}` must have one length, but have {} and {} values",
                      printable(joined.front().name), printable(key.name), joined.front().values.size(),
                      key.values.size()));
    }
  }
}

/// `zipped` are the keys whose lists may have a value twice.
void collect(const toml::table& table, const std::string& path, const std::string& file,
             const std::set<std::string>& zipped, std::vector<Sweep::Axis>& axes, Mistakes& mistakes) {
  for (const auto& [name, node] : table) {
    const std::string key = path.empty() ? std::string(name.str()) : path + "." + std::string(name.str());
    if (const toml::table* deeper = node.as_table()) {
      collect(*deeper, key, file, zipped, axes, mistakes);
      continue;
    }
    const toml::array* list = node.as_array();
    if (list == nullptr || list->empty()) {
      mistakes.add(
          location_of(node.source(), file),
          fmt::format("sweep of `{}`: must be a list of at least one value, such as [1.0, 2.0]", printable(key)));
      continue;
    }
    const Location where = location_of(name.source(), file);
    if (key.starts_with("sweep.") || key == "sweep") {
      mistakes.add(where, fmt::format("sweep of `{}`: a sweep cannot change itself", printable(key)));
      continue;
    }
    Sweep::Key axis{key, {}, where};
    std::set<std::string> seen;
    for (const auto& value : *list) {
      axis.values.push_back(written(value));
      if (seen.insert(comparable(value)).second || zipped.count(key) > 0) continue;
      mistakes.add(location_of(value.source(), file), fmt::format("sweep of `{}`: the list has the value {} twice",
                                                                  printable(key), printable(axis.values.back())));
    }
    axes.push_back({std::move(axis)});
  }
}

}  // namespace

SweepElement Sweep::element(std::size_t index) const {
  SweepElement settings;
  std::size_t rest = index, block = count;
  for (const Axis& axis : axes) {
    block /= axis.front().values.size();
    for (const Key& key : axis) settings.push_back(key.name + "=" + key.values[rest / block]);
    rest %= block;
  }
  return settings;
}

Mistake Sweep::located(Mistake mistake, const SweepElement& element) const {
  std::size_t i = 0;
  for (const Axis& axis : axes) {
    for (const Key& key : axis) {
      if (mistake.where.line > 0 || mistake.where.file != origin_of_setting(element[i++])) continue;
      return {key.where, fmt::format("sweep of `{}`: {}", printable(key.name), mistake.message)};
    }
  }
  return mistake;
}

Sweep read_sweep(const std::string& text, const std::string& file, const std::vector<std::string>& settings,
                 Mistakes& mistakes) {
  Mistakes reported_elsewhere;
  auto root = parse_extended_toml(text, file, reported_elsewhere);
  if (!root) return {};
  const auto [of_sweep, others] = settings_of("sweep", settings);
  apply_settings(*root, others, reported_elsewhere);
  apply_settings(*root, of_sweep, mistakes);
  toml::node* node = root->get("sweep");
  if (node == nullptr) return {};
  Sweep sweep;
  sweep.where = location_of(node->source(), file);
  const std::size_t before = mistakes.count();
  if (toml::table* table = node->as_table()) {
    const std::vector<std::vector<std::string>> groups = take_zip(*table, file, mistakes);
    std::set<std::string> zipped;
    for (const auto& group : groups) zipped.insert(group.begin(), group.end());
    collect(*table, "", file, zipped, sweep.axes, mistakes);
    if (mistakes.count() == before) join(groups, sweep.axes, sweep.where, mistakes);
  }
  if (mistakes.count() > before) return {};
  if (sweep.axes.empty()) {
    mistakes.add(sweep.where, "[sweep] has no list, such as time.step = [0.1, 0.05]");
    return {};
  }
  sweep.count = 1;
  for (const Sweep::Axis& axis : sweep.axes) {
    if (sweep.count > max_elements / axis.front().values.size()) {
      mistakes.add(sweep.where, fmt::format("[sweep] has more than {} combinations", max_elements));
      return {};
    }
    sweep.count *= axis.front().values.size();
  }
  return sweep;
}

}  // namespace bathline
