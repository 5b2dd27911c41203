// Tables that an environment is read from: two positive numbers per line.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "parallel/communicator.hpp"
#include "recipe/mistakes.hpp"
#include "recipe/section.hpp"

namespace bathline {

struct TableForm {
  struct Column {
    const char* name;
    const char* units;
  };
  const char* row;  ///< what a line describes
  Column first, second;
  bool rising = false;  ///< whether the first number grows from line to line
};

/// The rows of the table that the key `file` names, seen from the recipe's folder; # begins a comment. Nothing where it
/// cannot be read or a line is wrong, which is added to the mistakes. @note Collective.
std::optional<std::vector<std::array<double, 2>>> read_table_file(const Section& section, const TableForm& form,
                                                                  const Communicator& communicator, Mistakes& mistakes);

}  // namespace bathline
