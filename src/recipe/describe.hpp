// The words in which types of values are described, shared by messages and `bathline describe`.
#pragma once

#include <string>

#include "recipe/vocabulary.hpp"

namespace bathline {

/// Type, bound and choices of a parameter in a few words: "number > 0", "\"closed\" | \"open\"", "list of numbers".
std::string value_kind(const Parameter& parameter);

}  // namespace bathline
