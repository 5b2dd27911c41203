// Text files with a table of numbers: of two columns for an environment, of more for drives.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "parallel/communicator.hpp"
#include "recipe/mistakes.hpp"
#include "recipe/recipe.hpp"
#include "recipe/section.hpp"
#include "recipe/catalogue_schema.hpp"
#include "text/printed_precision.hpp"

namespace bathline {

struct TableForm {
  struct Column {
    const char* name;
    const char* units;
    Bound bound = Bound::positive;
  };
  const char* row;  ///< what messages call a row
  Column first, second;
  bool rising = false;                                 ///< whether the first column must be strictly increasing
  bool may_be_equal = false;                           ///< or may stay the same
  std::size_t columns = 2;                             ///< those after the second are like it
  std::optional<Column> error = {};                    ///< of a number, which then follows each after the first
  std::size_t least = 1;                               ///< rows
  const char* advice = "leave out the other columns";  ///< where there are more
};

/// The key of the section that names a table, if there is one: `file`, `kernel_file`, `spectral_density_file` or
/// `drive_file`.
std::optional<std::string> key_of_file(const Section& section);

/// The names of all files that the section and the tables in it read: that of `key_of_file`, and those of `table` in
/// formulas.
std::set<std::string> files_of(const Section& section);
/// Those of the system and the environments of a recipe.
std::set<std::string> files_of(const Recipe& recipe);
/// The path of a file, relative to the recipe's folder even where `--set` gives the name.
std::filesystem::path path_of_file(const Section& section, const std::string& name);

/// Reads the files of the section and of the tables in it into their `files`, but for those that cannot be read.
/// @note Collective.
void keep_texts_of_files(Section& section, const Communicator& communicator);
/// Columns of one of the section's `files`; `first` receives how the first is printed. Throws std::runtime_error with
/// what is wrong.
std::vector<std::vector<double>> read_columns(const Section& section, const std::string& name, const TableForm& form,
                                              PrintedPrecision* first = nullptr);

/// The rows of the section's table, read now if its `files` have not been; # begins a comment. Nothing, and a mistake,
/// where the file cannot be read or a line is wrong. @note Collective.
std::optional<std::vector<std::array<double, 2>>> read_table_file(const Section& section, const TableForm& form,
                                                                  const Communicator& communicator, Mistakes& mistakes);

}  // namespace bathline
