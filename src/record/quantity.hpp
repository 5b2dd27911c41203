// The quantity of a claim: a dotted path into a result file, indices, a statistic.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "record/result_file.hpp"

namespace bathline {

/// "closed.q[0][1].last" parsed. A part need not be the name of a group, because names may contain dots.
struct ParsedQuantity {
  std::vector<std::string> parts;     ///< "closed", "q"
  std::vector<std::int64_t> indices;  ///< 0, 1; they follow the last part
  std::string statistic;              ///< "last"; "" if none is given
};

/// The names of the statistics.
const std::vector<std::string>& statistics();

/// The text of `bathline describe statistics`.
std::string describe_statistics();

/// Parses `text`; if it is not a quantity, returns false and sets `reason`.
bool parse_quantity(const std::string& text, ParsedQuantity& quantity, std::string& reason);

/// The closed interval of the coordinate of the first dimension that selects rows.
struct Window {
  double from = -std::numeric_limits<double>::infinity();
  double until = std::numeric_limits<double>::infinity();
};

/// A measured number, or NaN and the reason.
struct Measurement {
  double value = std::numeric_limits<double>::quiet_NaN();
  std::string problem;
};

/// Measures `quantity` in `file`. Indices apply to the dimensions after the first; for an array that is not over time
/// and without a statistic, to all dimensions. A statistic is over all components that the indices leave. `minus` is
/// subtracted from the result, or, if it is an array without a statistic, from every row before the statistic of
/// `quantity` is computed.
Measurement measure(const ResultReader& file, const ParsedQuantity& quantity, const std::optional<Window>& window,
                    const ParsedQuantity* minus = nullptr);

}  // namespace bathline
