// Keys and names that recipes of earlier versions used, with what stands in their place.
#pragma once

#include <string>

namespace bathline {

/// What a message on the unknown key `key` of the section `header` ("[system]", "the recipe") adds, such as
/// ": it is called `kT`", where the key was in use before version 0.2; "" otherwise.
std::string retired_key_advice(const std::string& header, const std::string& key);

/// The same of names that are values: kinds of studies and statistics of quantities.
std::string retired_name_advice(const std::string& name);

}  // namespace bathline
