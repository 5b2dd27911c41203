// Texts as strings of JSON.
#pragma once

#include <string>
#include <string_view>

namespace bathline {

/// The text as a string of JSON, quotes included.
std::string json_string(std::string_view text);

}  // namespace bathline
