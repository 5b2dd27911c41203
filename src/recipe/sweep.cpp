// Expansion of the lists of [sweep].
// Tested by tests/command_line/sweep_test.py.
#include "recipe/sweep.hpp"

#include <fmt/format.h>

#include <set>
#include <sstream>

#include "recipe/printable_text.hpp"
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

void collect(const toml::table& table, const std::string& path, const std::string& file, std::vector<Sweep::Axis>& axes,
             Mistakes& mistakes) {
  for (const auto& [name, node] : table) {
    const std::string key = path.empty() ? std::string(name.str()) : path + "." + std::string(name.str());
    if (const toml::table* deeper = node.as_table()) {
      collect(*deeper, key, file, axes, mistakes);
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
    Sweep::Axis axis{key, {}, where};
    std::set<std::string> seen;
    for (const auto& value : *list) {
      axis.values.push_back(written(value));
      if (seen.insert(comparable(value)).second) continue;
      mistakes.add(location_of(value.source(), file), fmt::format("sweep of `{}`: the list has the value {} twice",
                                                                  printable(key), printable(axis.values.back())));
    }
    axes.push_back(std::move(axis));
  }
}

}  // namespace

SweepElement Sweep::element(std::size_t index) const {
  SweepElement settings;
  std::size_t rest = index, block = count;
  for (const Axis& axis : axes) {
    block /= axis.values.size();
    settings.push_back(axis.key + "=" + axis.values[rest / block]);
    rest %= block;
  }
  return settings;
}

Mistake Sweep::located(Mistake mistake, const SweepElement& element) const {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (mistake.where.line > 0 || mistake.where.file != origin_of_setting(element[i])) continue;
    return {axes[i].where, fmt::format("sweep of `{}`: {}", printable(axes[i].key), mistake.message)};
  }
  return mistake;
}

Sweep read_sweep(const std::string& text, const std::string& file, const std::vector<std::string>& settings,
                 Mistakes& mistakes) {
  Mistakes reported_elsewhere;
  auto root = parse_toml(text, file, reported_elsewhere);
  if (!root) return {};
  apply_settings(*root, settings, reported_elsewhere);
  const toml::node* node = root->get("sweep");
  if (node == nullptr) return {};
  Sweep sweep;
  sweep.where = location_of(node->source(), file);
  const std::size_t before = mistakes.count();
  if (const toml::table* table = node->as_table()) collect(*table, "", file, sweep.axes, mistakes);
  if (mistakes.count() > before) return {};
  if (sweep.axes.empty()) {
    mistakes.add(sweep.where, "[sweep] has no list, such as time.step = [0.1, 0.05]");
    return {};
  }
  sweep.count = 1;
  for (const Sweep::Axis& axis : sweep.axes) {
    if (sweep.count > max_elements / axis.values.size()) {
      mistakes.add(sweep.where, fmt::format("[sweep] has more than {} combinations", max_elements));
      return {};
    }
    sweep.count *= axis.values.size();
  }
  return sweep;
}

}  // namespace bathline
