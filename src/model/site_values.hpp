// What the sites of a line of equal ones are made of.
#pragma once

#include <optional>

#include "recipe/mistakes.hpp"
#include "recipe/section.hpp"

namespace bathline {

struct SiteValues {
  double mass = 0.0;       ///< kg
  double stiffness = 0.0;  ///< of the spring from site to site, N/m
  /// On the characteristic grid, which follows from the step: the closed scheme `gamma` that it is exact for.
  std::optional<double> matched_gamma = std::nullopt;
};

/// Whether a line is without end. Throws UnreadableValue where that cannot be read.
bool is_semi_infinite(const Section& section);

/// The values per site, from whichever of the three forms the section uses, or nothing, and a mistake. `mass` and
/// `stiffness` are the kind's names of its lumped values, `step` is that of the characteristic grid, in s.
std::optional<SiteValues> read_site_values(const Section& section, const char* mass, const char* stiffness, double step,
                                           Mistakes& mistakes);

}  // namespace bathline
