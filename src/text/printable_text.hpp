// Text of users for messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace bathline {

/// `text` on one line: control characters and bytes that are not UTF-8 are escaped, and text beyond `limit` characters
/// is replaced by "...".
std::string printable(std::string_view text, std::size_t limit = 60);

/// "1 step", "2 steps".
std::string counted(std::int64_t count, std::string_view noun);

/// Whether `text` is valid UTF-8.
bool is_utf8(std::string_view text);

}  // namespace bathline
