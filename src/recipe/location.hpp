// Locations in recipes and arguments.
#pragma once

#include <string>

namespace bathline {

/// A location in a recipe (`file`, `line`, `column`, both from 1) or a `--set` argument, which has `line == 0`.
struct Location {
  std::string file;
  int line = 0;
  int column = 0;
};

/// "file:line:column", or only the file if there is no line.
std::string to_string(const Location& where);

}  // namespace bathline
