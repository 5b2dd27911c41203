// Where something stands in what the user wrote.
#pragma once

#include <string>

namespace bathline {

/// A place in a recipe (`file`, `line`, `column`, both from 1) or in a `--set` argument.
/// `line == 0` means that there is no line to point at.
struct Location {
  std::string file;
  int line = 0;
  int column = 0;
};

/// "file:line:column", or only the file where there is no line.
std::string to_string(const Location& where);

}  // namespace bathline
