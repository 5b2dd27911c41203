// Pictures of results, which the scripts of the folder analysis/ draw.
#pragma once

#include <string>

namespace bathline {

struct PlotRequest {
  std::string result;  ///< path of a result file
  std::string stem;    ///< of the pictures, without extension; "": that of the result
};

/// Draws the figure of a result as PNG and PDF and returns the script's exit code, whose messages it leaves to it. The
/// folder analysis/ is found beside the folder of the program, or where the environment variable BATHLINE_ANALYSIS
/// says; the interpreter is BATHLINE_PYTHON, or /usr/bin/python3. Throws UsageError where either is missing. For one
/// rank.
int plot_result(const PlotRequest& request);

}  // namespace bathline
