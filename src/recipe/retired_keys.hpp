// Keys and names of recipes of earlier versions, with their replacements.
#pragma once

#include <string>

namespace bathline {

/// The end of a message on the unknown key `key` of the section `header` ("[system]", "the recipe"), such as ": it is
/// called `kT`", if the key was in use before version 0.2; "" otherwise.
std::string retired_key_advice(const std::string& header, const std::string& key);

/// The same for names that are values: kinds of studies and statistics of quantities.
std::string retired_name_advice(const std::string& name);

}  // namespace bathline
