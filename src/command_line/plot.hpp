// Pictures of results, which the scripts of the folder analysis/ draw.
#pragma once

#include <string>

namespace bathline {

struct PlotRequest {
  std::string result;  ///< path of a result file
  std::string stem;    ///< of the pictures, without extension; "": that of the result
};

/// Draws the figure of a result as PNG and PDF and returns the script's exit code, whose messages it leaves to it.
/// BATHLINE_ANALYSIS names another folder than the program's own analysis/; the interpreter is BATHLINE_PYTHON, or
/// /usr/bin/python3. Throws UsageError where either is missing. For one rank.
int plot_result(const PlotRequest& request);

}  // namespace bathline
