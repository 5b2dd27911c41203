// Scans TOML text, skipping strings and comments, and counts the dots of keys.
#include "recipe/key_depth.hpp"

#include <algorithm>

namespace bathline {

namespace {

// End of the string that begins at `begin` (first byte after it); the end of the text if it is not closed, which the
// parser reports.
std::size_t end_of_string(std::string_view toml, std::size_t begin) {
  const char quote = toml[begin];
  const std::string_view three = quote == '"' ? "\"\"\"" : "'''";
  const bool multi_line = toml.substr(begin, 3) == three;
  const std::string_view fence = multi_line ? three : three.substr(0, 1);
  for (std::size_t i = begin + fence.size(); i < toml.size(); ++i) {
    if (quote == '"' && toml[i] == '\\') {
      ++i;
    } else if (toml.substr(i, fence.size()) == fence) {
      i += fence.size();
      // A multi-line string may end in up to two quotes of its own: """a quote: """"".
      for (int own = 0; multi_line && own < 2 && i < toml.size() && toml[i] == quote; ++own) ++i;
      return i;
    } else if (!multi_line && toml[i] == '\n') {
      return toml.size();
    }
  }
  return toml.size();
}

std::pair<int, int> line_and_column(std::string_view toml, std::size_t offset) {
  const std::string_view before = toml.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t begin = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  const auto column = 1 + std::count_if(before.begin() + static_cast<std::ptrdiff_t>(begin), before.end(),
                                        [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
  return {static_cast<int>(line), static_cast<int>(column)};
}

}  // namespace

std::optional<std::pair<int, int>> find_deep_key(std::string_view toml, int limit) {
  int segments = 1;
  for (std::size_t i = 0; i < toml.size();) {
    const char c = toml[i];
    if (c == '"' || c == '\'') {
      i = end_of_string(toml, i);
      continue;
    }
    if (c == '#') {
      i = std::min(toml.find('\n', i), toml.size());
      continue;
    }
    if (c == '.' && ++segments > limit) return line_and_column(toml, i);
    if (std::string_view("\n=,[]{}").find(c) != std::string_view::npos) segments = 1;
    ++i;
  }
  return std::nullopt;
}

}  // namespace bathline
