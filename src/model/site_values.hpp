// Mass and stiffness of the sites of a uniform line, and the start of sites.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "recipe/mistakes.hpp"
#include "recipe/section.hpp"

namespace bathline {

struct SiteValues {
  double mass = 0.0;       ///< kg
  double stiffness = 0.0;  ///< of the spring from site to site, N/m
  /// The closed scheme `gamma` for which the characteristic grid is exact; nothing on other grids.
  std::optional<double> matched_gamma = std::nullopt;
};

/// Whether the line is semi-infinite.
bool is_semi_infinite(const Section& section);

/// The values per site in any of the three forms of a section; nothing, and a mistake, where it has none. `mass` and
/// `stiffness` are the keys of the lumped values, `step` is the time step of the characteristic grid, s.
std::optional<SiteValues> read_site_values(const Section& section, const char* mass, const char* stiffness, double step,
                                           Mistakes& mistakes);

/// The formulas of `key`, one for each axis, as functions of a site's index; none where it is absent or wrong.
std::vector<std::function<double(double)>> read_start_of_sites(const Section& section, const std::string& key, int axes,
                                                               Mistakes& mistakes);

}  // namespace bathline
