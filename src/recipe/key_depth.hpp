// A guard for the TOML parser, which bounds nested values but not dotted keys: a key of a million segments makes a tree
// so deep that its destruction overflows the stack.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

namespace bathline {

/// Line and column (from 1) at which a dotted key (`a.b.c`) gets more than `limit` segments, if one does.
std::optional<std::pair<int, int>> find_deep_key(std::string_view toml, int limit);

}  // namespace bathline
