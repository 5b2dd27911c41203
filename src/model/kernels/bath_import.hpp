// Baths in the conventions and files of other programs.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace bathline {

/// What a bath is read from. Units are those of the recipe.
struct BathSource {
  std::string format;                                       ///< a name of bath_format_names()
  std::string file;                                         ///< path, for messages; "": none
  std::string text;                                         ///< its content
  std::map<std::string, std::vector<double>> numbers = {};  ///< by the name of a BathOption
  std::map<std::string, std::string> words = {};            ///< "time-unit" and "cutoff-type", where they are given
  double kT = 0.0;                                          ///< J
};

/// An option of some formats that takes positive numbers.
struct BathOption {
  const char* name;
  const char* doc;
  int count;  ///< of its numbers
};
const std::vector<BathOption>& bath_options();

/// The names of the formats, and each with its description as lines of text.
std::vector<std::string> bath_format_names();
std::string bath_format_table();

struct ImportedBath {
  std::vector<std::string> notes;  ///< what was assumed, and what must stand beside the bath, as sentences
  std::string environments;        ///< TOML
  std::string rows;                ///< of the table file, if there is one
};

/// The bath as tables [[environments]]; `table` is the name of its table file, "" if there can be none. Throws
/// UnsuitableFunction with the file and line if there is no such bath.
ImportedBath import_bath(const BathSource& source, const std::string& table);

}  // namespace bathline
