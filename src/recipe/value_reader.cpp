// Checks of type, bound and choice; every message quotes the value and says what would be right.
#include "recipe/value_reader.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

#include "text/printable_text.hpp"
#include "text/spelling.hpp"
#include "recipe/toml_document.hpp"
#include "recipe/toml_writer.hpp"
#include "recipe/describe.hpp"

namespace bathline {

namespace {

// The value, printable in a message.
std::string shown_value(const toml::node& node) {
  if (const auto* text = node.as_string()) return '"' + printable(text->get()) + '"';
  if (const auto* number = node.as_floating_point()) return toml_number(number->get());
  if (node.is_table()) return "{...}";
  if (node.is_array()) return "[...]";
  std::ostringstream out;
  node.visit([&out](const auto& concrete) { out << concrete; });
  return out.str();
}

// "; write 3" for 3.0.
std::string integer_advice(const toml::node& node) {
  const auto* number = node.as_floating_point();
  const bool is_whole = number != nullptr && std::abs(**number) < 1e15 && std::trunc(**number) == **number;
  return is_whole ? fmt::format("; write {}", static_cast<long>(**number)) : "";
}

}  // namespace

void ValueReader::reject(const toml::node& node, const std::string& name, const Location& where,
                         const std::string& message) {
  mistakes_.add(where, fmt::format("{} = {}: {}", name, shown_value(node), message));
}

std::optional<bool> ValueReader::boolean(const toml::node& node, const std::string& name, const Location& where) {
  if (const auto* value = node.as_boolean()) return value->get();
  reject(node, name, where, fmt::format("must be true or false, not {}", type_found(node)));
  return std::nullopt;
}

std::optional<long> ValueReader::integer(const toml::node& node, const std::string& name, Bound bound,
                                         const Location& where, std::span<const std::string> choices) {
  if (node.is_floating_point()) {
    reject(node, name, where, fmt::format("must be an integer, not {}{}", type_found(node), integer_advice(node)));
    return std::nullopt;
  }
  const auto number = value(node, name, where, "an integer");
  if (!number) return std::nullopt;
  const char* broken = broken_bound(*number, bound);
  if (broken == nullptr && node.is_string() && (std::trunc(*number) != *number || std::abs(*number) > 1e15)) {
    broken = "must be an integer";
  }
  if (broken != nullptr) {
    reject(node, name, where, broken);
    return std::nullopt;
  }
  const long value = node.is_integer() ? static_cast<long>(node.as_integer()->get()) : static_cast<long>(*number);
  if (!choices.empty() && std::find(choices.begin(), choices.end(), std::to_string(value)) == choices.end()) {
    std::string known;
    for (const std::string& choice : choices) known += (known.empty() ? "" : ", ") + choice;
    reject(node, name, where, "must be one of " + known);
    return std::nullopt;
  }
  return value;
}

std::optional<double> ValueReader::number(const toml::node& node, const std::string& name, Bound bound,
                                          const Location& where, const std::string& units) {
  const auto number = value(node, name, where, "a number");
  if (!number) return std::nullopt;
  if (const char* broken = broken_bound(*number, bound)) {
    const bool is_massless = *number == 0.0 && units == "kg" && bound == Bound::positive;
    reject(node, name, where, std::string(broken) + (is_massless ? how_to_hold : ""));
    return std::nullopt;
  }
  return number;
}

bool ValueReader::is_expression(const toml::node& node) const {
  if (!node.is_string()) return false;
  try {
    constants_.value_of(node.as_string()->get());
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

std::optional<double> ValueReader::value(const toml::node& node, const std::string& name, const Location& where,
                                         const std::string& expected) {
  if (node.is_number()) return number_of(node);
  std::string reason;
  if (node.is_string()) {
    try {
      return constants_.value_of(node.as_string()->get());
    } catch (const std::runtime_error& error) {
      reason = fmt::format("; as an expression: {}", error.what());
    }
  }
  reject(node, name, where, fmt::format("must be {}, not {}{}", expected, type_found(node), reason));
  return std::nullopt;
}

std::optional<std::string> ValueReader::text(const toml::node& node, const std::string& name,
                                             std::span<const std::string> choices, const Location& where) {
  const auto* value = node.as_string();
  if (value == nullptr) {
    const bool quotable = !node.is_table() && !node.is_array();
    const std::string advice = quotable ? fmt::format("; write \"{}\"", shown_value(node)) : "";
    reject(node, name, where, fmt::format("must be a text, not {}{}", type_found(node), advice));
    return std::nullopt;
  }
  const std::string& text = value->get();
  // HDF5 strings end at this character, so that the rest would be lost.
  if (text.find('\0') != std::string::npos) {
    reject(node, name, where, "must not contain the character of code 0");
    return std::nullopt;
  }
  if (choices.empty() || std::find(choices.begin(), choices.end(), text) != choices.end()) return text;
  reject(node, name, where, "not one of the choices" + spelling_advice(text, choices, '"'));
  return std::nullopt;
}

std::string type_found(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "a list";
    case toml::node_type::string:
      return "a text";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a number with a fraction";
    case toml::node_type::boolean:
      return "a boolean";
    default:
      return "a date or time";
  }
}

}  // namespace bathline
