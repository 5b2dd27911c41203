// What the user wrote, made fit to stand inside a message.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bathline {

/// `text` on one line: control characters and bytes that are not UTF-8 are escaped, and what is longer than
/// `limit` characters is cut off with "...".
std::string printable(std::string_view text, std::size_t limit = 60);

/// True where all of `text` is UTF-8.
bool is_utf8(std::string_view text);

}  // namespace bathline
