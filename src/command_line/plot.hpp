// Plotting results with the scripts of the folder analysis/.
#pragma once

#include <string>

namespace bathline {

struct PlotRequest {
  std::string result;  ///< path of a result file
  std::string stem;    ///< path of the pictures without extension; "": that of the result
};

/// Plots the figure of a result as PNG and PDF and returns the exit code of the script, which prints its own messages.
/// BATHLINE_ANALYSIS overrides the folder analysis/; the interpreter is BATHLINE_PYTHON, or /usr/bin/python3. Throws
/// UsageError if either is missing. For one rank.
int plot_result(const PlotRequest& request);

}  // namespace bathline
