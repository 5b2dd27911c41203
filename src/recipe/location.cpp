// Printing of locations.
#include "recipe/location.hpp"

#include <fmt/format.h>

namespace bathline {

std::string to_string(const Location& where) {
  if (where.line == 0) return where.file;
  return fmt::format("{}:{}:{}", where.file, where.line, where.column);
}

}  // namespace bathline
