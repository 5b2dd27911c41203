// A short block of steps of a splitting on a line, in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "model/line/explicit/time_levels.hpp"
#include "model/line/sites.hpp"

namespace bathline {

/// Maximum number of levels of `advance_in_place`. For more levels tiles are faster.
inline constexpr std::size_t max_in_place_levels = 8;

/// Advances the sites [first, last) by `levels`, one cached section of the line after the other. Every force evaluation
/// makes one more site on either side invalid.
template <Sites S>
void advance_in_place(const S& sites, std::span<const LineLevel> levels, std::int64_t first, std::int64_t last,
                      double* w, double* p);

}  // namespace bathline
