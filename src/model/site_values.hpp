// Mass and stiffness of the sites of a uniform line.
#pragma once

#include <optional>

#include "recipe/mistakes.hpp"
#include "recipe/section.hpp"

namespace bathline {

struct SiteValues {
  double mass = 0.0;       ///< kg
  double stiffness = 0.0;  ///< of the spring from site to site, N/m
  /// The closed scheme `gamma` for which the characteristic grid is exact; nothing on other grids.
  std::optional<double> matched_gamma = std::nullopt;
};

/// Whether the line is semi-infinite. Throws UnreadableValue where that cannot be read.
bool is_semi_infinite(const Section& section);

/// The values per site in any of the three forms of a section; nothing, and a mistake, where it has none. `mass` and
/// `stiffness` are the keys of the lumped values, `step` is the time step of the characteristic grid, s.
std::optional<SiteValues> read_site_values(const Section& section, const char* mass, const char* stiffness, double step,
                                           Mistakes& mistakes);

}  // namespace bathline
