// Text files with a table of two columns, which describe an environment.
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
  const char* row;  ///< what messages call a row
  Column first, second;
  bool rising = false;  ///< whether the first column must be strictly increasing
};

/// The key of the section that names a table, if there is one: `file`, `kernel_file` or `spectral_density_file`.
std::optional<std::string> key_of_file(const Section& section);

/// The key, which no recipe can have, under which a section stores the text of that file, so that everything is built
/// from the same text even if the file changes during the run.
inline constexpr const char* text_of_file = "text of file";

/// Reads the section's file, relative to the recipe's folder, and stores its text in the section. Does nothing where
/// there is no such key or the file cannot be read. @note Collective.
void keep_text_of_file(Section& section, const Communicator& communicator);

/// The rows of the section's table, from the stored text if there is any, else from the file; # begins a comment, and
/// a byte order mark is skipped.
/// Nothing, and a mistake, where the file cannot be read or a line is wrong. @note Collective.
std::optional<std::vector<std::array<double, 2>>> read_table_file(const Section& section, const TableForm& form,
                                                                  const Communicator& communicator, Mistakes& mistakes);

}  // namespace bathline
