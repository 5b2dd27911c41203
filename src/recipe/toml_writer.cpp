// Writes TOML that depends only on the values, so that equal recipes have equal text.
#include "recipe/toml_writer.hpp"

#include <cmath>
#include <vector>

#include <fmt/format.h>

namespace bathline {

namespace {

// "[a, b]" with `write` applied to every element.
template <class List, class Write>
std::string written_list(const List& list, Write write) {
  std::string text;
  for (const auto& element : list) text += (text.empty() ? "" : ", ") + write(element);
  return "[" + text + "]";
}

/// The keys that `table`, the value of `parameter`, may have.
std::vector<Parameter> members_of(const Parameter& parameter, const Section& table) {
  if (parameter.catalogue_name.empty()) return parameter.members;
  return keys_of_kind(*find_entry(*parameter.kinds, table.text("kind")));
}

std::string written_row(const std::vector<double>& row) {
  return row.size() == 1 ? toml_number(row.front()) : written_list(row, toml_number);
}

/// A value as TOML, by its type in the section.
struct WrittenValue {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(long value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const { return toml_number(value); }
  std::string operator()(const std::string& value) const { return toml_text(value); }
  std::string operator()(const std::vector<double>& values) const { return written_list(values, toml_number); }
  std::string operator()(const std::vector<long>& values) const { return written_list(values, *this); }
  std::string operator()(const std::vector<std::string>& values) const { return written_list(values, toml_text); }
  std::string operator()(const Section::Rows& rows) const { return written_list(rows, written_row); }
  // An empty list of tables, which no header can express.
  std::string operator()(const std::vector<Section>&) const { return "[]"; }
};

}  // namespace

std::string toml_number(double value) {
  if (std::isnan(value)) return "nan";
  const std::string text = fmt::format("{}", value);
  const bool is_float = text.find_first_of(".en") != std::string::npos;
  return is_float ? text : text + ".0";
}

std::string toml_text(std::string_view value) {
  std::string text;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '"':
        text += "\\\"";
        break;
      case '\\':
        text += "\\\\";
        break;
      case '\n':
        text += "\\n";
        break;
      case '\t':
        text += "\\t";
        break;
      default:
        if (byte < 0x20 || byte == 0x7f) {
          text += fmt::format("\\u{:04X}", byte);
        } else {
          text += c;
        }
    }
  }
  return '"' + text + '"';
}

std::string toml_keys(const Section& section, std::span<const Parameter> parameters, const std::string& path) {
  std::string keys, tables;
  for (const Parameter& parameter : named_parameters(parameters, section.keys())) {
    if (!section.has(parameter.name)) continue;
    const std::string inner = path.empty() ? parameter.name : path + "." + parameter.name;
    const bool has_tables = section.holds<std::vector<Section>>(parameter.name);
    if (has_tables && parameter.type == ValueType::table) {
      const Section& table = section.table(parameter.name);
      tables += fmt::format("\n[{}]\n{}", inner, toml_keys(table, members_of(parameter, table), inner));
    } else if (has_tables && !section.tables(parameter.name).empty()) {
      for (const Section& table : section.tables(parameter.name)) {
        tables += fmt::format("\n[[{}]]\n{}", inner, toml_keys(table, members_of(parameter, table), inner));
      }
    } else {
      keys += fmt::format("{} = {}\n", parameter.name, std::visit(WrittenValue(), section.value(parameter.name)));
    }
  }
  return keys + tables;
}

}  // namespace bathline
