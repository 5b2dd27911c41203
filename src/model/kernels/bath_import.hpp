// Baths in the conventions and files of other programs.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace bathline {

/// What a bath is read from. Units are those of the recipe.
struct BathSource {
  std::string format;                                  ///< a name of bath_formats()
  std::string file;                                    ///< path, for messages; "": none
  std::string text;                                    ///< its content
  std::map<std::string, std::vector<double>> spectra;  ///< numbers by the name of the spectrum
  std::string cutoff_type = "exponential";
  std::string time_unit;  ///< a number or a name; "": not given
  double mass = 1.0;
  double kT = 0.0;         ///< J
  double omega_max = 0.0;  ///< rad/s; 0: not given
};

/// A spectral density that is typed by its numbers.
struct BathSpectrum {
  const char* name;
  const char* doc;
  int count;  ///< of its numbers
};
const std::vector<BathSpectrum>& bath_spectra();

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
