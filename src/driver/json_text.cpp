// Texts as strings of JSON.
// Tested by tests/command_line/log_test.py.
#include "driver/json_text.hpp"

#include <fmt/format.h>

namespace bathline {

std::string json_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      result += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      result += c;
    }
  }
  return result + "\"";
}

}  // namespace bathline
