// Writing a recipe with one environment replaced by an equivalent one, or the environments of another program.
#pragma once

#include <string>
#include <vector>

#include "driver/program.hpp"
#include "model/kernels/bath_import.hpp"

namespace bathline {

struct ConvertRequest {
  std::string recipe;                 ///< path
  std::vector<std::string> settings;  ///< arguments of --set
  std::string environment;            ///< name
  std::string to;                     ///< "star", "chain" or "exponentials"
  std::string output;                 ///< path of the recipe to write; "": beside the recipe, <recipe>-<name>-<to>.toml
  bool overwrite = false;
};

/// Writes the recipe with all values resolved and the environment as an oscillator bath (a star), a chain or a sum of
/// exponentials, and beside it the table of its parameters. Throws UsageError if the conversion is impossible.
/// @note Collective.
void convert_recipe(const ConvertRequest& request, const Program& program);

struct ImportRequest {
  BathSource source;   ///< without its text, which is read from its file
  std::string output;  ///< path of the TOML file; "": standard output
  bool overwrite = false;
};

/// Reads the bath on rank 0, and writes its environments and its table. Throws UsageError if that is impossible.
/// @note Collective.
void import_environments(const ImportRequest& request, const Program& program);

}  // namespace bathline
