// Expansion of the lists of [sweep].
// Tested by tests/command_line/sweep_test.py.
#include "recipe/sweep.hpp"

#include <fmt/format.h>

#include <sstream>

#include "recipe/printable_text.hpp"
#include "recipe/settings.hpp"
#include "recipe/toml_document.hpp"
#include "recipe/toml_writer.hpp"

namespace bathline {

namespace {

/// A sweep of more runs is a mistake.
constexpr std::size_t max_elements = 1000000;

struct Axis {
  std::string key;
  std::vector<std::string> values;  // as TOML
};

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

void collect(const toml::table& table, const std::string& path, const std::string& file, std::vector<Axis>& axes,
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
    Axis axis{key, {}};
    for (const auto& value : *list) axis.values.push_back(written(value));
    axes.push_back(std::move(axis));
  }
}

}  // namespace

std::vector<SweepElement> expand_sweep(const std::string& text, const std::string& file,
                                       const std::vector<std::string>& settings, Mistakes& mistakes) {
  Mistakes reported_elsewhere;
  auto root = parse_toml(text, file, reported_elsewhere);
  if (!root) return {};
  apply_settings(*root, settings, reported_elsewhere);
  const toml::node* sweep = root->get("sweep");
  if (sweep == nullptr) return {};
  const toml::table* table = sweep->as_table();
  std::vector<Axis> axes;
  if (table != nullptr) collect(*table, "", file, axes, mistakes);
  if (axes.empty()) {
    if (mistakes.empty()) {
      mistakes.add(location_of(sweep->source(), file), "[sweep] has no list, such as time.step = [0.1, 0.05]");
    }
    return {};
  }
  std::size_t count = 1;
  for (const Axis& axis : axes) {
    if (count > max_elements / axis.values.size()) {
      mistakes.add(location_of(sweep->source(), file),
                   fmt::format("[sweep] has more than {} combinations", max_elements));
      return {};
    }
    count *= axis.values.size();
  }
  std::vector<SweepElement> elements(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t rest = i, block = count;
    for (const Axis& axis : axes) {
      block /= axis.values.size();
      elements[i].push_back(axis.key + "=" + axis.values[rest / block]);
      rest %= block;
    }
  }
  return elements;
}

}  // namespace bathline
