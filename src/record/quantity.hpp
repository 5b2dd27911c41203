// The quantity that a claim speaks of: a dotted path into a result file, indices, a statistic.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "record/result_file.hpp"

namespace bathline {

/// "closed.q[0][1].last" taken apart. The parts are not yet names of groups: a name may itself contain a dot.
struct ParsedQuantity {
  std::vector<std::string> parts;     ///< "closed", "q"
  std::vector<std::int64_t> indices;  ///< 0, 1; they follow the last part
  std::string statistic;              ///< "last"; "" where none is given
};

/// The statistics that a quantity may end in.
const std::vector<std::string>& statistics();

/// Takes `text` apart; where it is no quantity, returns false and says `why`.
bool parse_quantity(const std::string& text, ParsedQuantity& quantity, std::string& why);

/// The rows to look at, by the coordinate of the first dimension; both ends belong to it.
struct Window {
  double from = -std::numeric_limits<double>::infinity();
  double until = std::numeric_limits<double>::infinity();
};

/// A number out of a result file, or NaN and why there is none.
struct Measurement {
  double value = std::numeric_limits<double>::quiet_NaN();
  std::string problem;
};

/// Measures `quantity` in `file`. Indices apply to the dimensions after the first; without a statistic and for an array
/// that is not over time to all dimensions. A statistic goes over all components that the indices leave. `minus` is
/// subtracted; where it has no statistic and is no single number, from every row before the statistic of `quantity`.
Measurement measure(const ResultReader& file, const ParsedQuantity& quantity, const std::optional<Window>& window,
                    const ParsedQuantity* minus = nullptr);

}  // namespace bathline
