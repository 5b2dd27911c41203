// A short block of a splitting's steps on a line in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "model/line/explicit/time_levels.hpp"
#include "model/line/sites.hpp"

namespace bathline {

/// Levels that `advance_in_place` takes at most. More are worth copying the sites into tiles for.
inline constexpr std::size_t max_in_place_levels = 8;

/// Takes the sites from `first` to before `last` through `levels`, all of them while a stretch of the line is in the
/// first-level cache. With every force one site more becomes worthless on either side.
template <Sites S>
void advance_in_place(const S& sites, std::span<const LineLevel> levels, std::int64_t first, std::int64_t last,
                      double* w, double* p);

}  // namespace bathline
