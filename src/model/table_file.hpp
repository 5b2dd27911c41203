// Tables that an environment is read from: two numbers per line.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "parallel/communicator.hpp"
#include "recipe/mistakes.hpp"
#include "recipe/section.hpp"
#include "recipe/catalogue_schema.hpp"

namespace bathline {

struct TableForm {
  struct Column {
    const char* name;
    const char* units;
    Bound bound = Bound::positive;
  };
  const char* row;  ///< what a line describes
  Column first, second;
  bool rising = false;  ///< whether the first number grows from line to line
};

/// The key of a section that names a file to be read, if it has one: `file`, `kernel_file`, `spectral_density_file`.
std::optional<std::string> key_of_file(const Section& section);

/// Under this key, which no recipe has, a section keeps the text of that file, so that whatever is built from it is
/// built from the same.
inline constexpr const char* text_of_file = "text of file";

/// Reads the text of the section's file, seen from the recipe's folder, and keeps it there. Nothing where there is no
/// such key or it cannot be read. @note Collective.
void keep_text_of_file(Section& section, const Communicator& communicator);

/// The rows of the table that the key of the file names, as it is kept or, where it is not, as it is read now; # begins
/// a comment. Nothing where it cannot be read or a line is wrong, which is added to the mistakes. @note Collective.
std::optional<std::vector<std::array<double, 2>>> read_table_file(const Section& section, const TableForm& form,
                                                                  const Communicator& communicator, Mistakes& mistakes);

}  // namespace bathline
