// Lists of names for messages, and suggestions for misspelt names.
#pragma once

#include <span>
#include <string>

namespace bathline {

/// The name in `candidates` that is closest to a misspelt `name`, or "" if none is close.
std::string closest_name(const std::string& name, std::span<const std::string> candidates);

/// The end of a message on an unknown name: "; did you mean `sites`?", or all of `known` if none is close.
std::string spelling_advice(const std::string& name, std::span<const std::string> known, char quote);

/// The names in quotes, separated by commas.
std::string quoted_names(std::span<const std::string> names, char quote);

}  // namespace bathline
