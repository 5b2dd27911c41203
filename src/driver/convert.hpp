// Writing a recipe with one environment replaced by an equivalent one.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "driver/program.hpp"

namespace bathline {

/// Throws UsageError if the file exists.
void require_absent(const std::filesystem::path& path);
/// Throws UsageError if the file cannot be written.
void write_new_file(const std::filesystem::path& path, const std::string& text);

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

}  // namespace bathline
