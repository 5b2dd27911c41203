// A short block of a splitting's steps on a line in place.
//
// Every kick and drift follows the one before it at the distance of a site, a stretch of the line at a time. A kick and
// a drift in a row share a pass through the registers: memory is waited for all the time then, as it would not be while
// one of them goes through what is in cache.
#include "model/line/explicit/in_place_sweeps.hpp"

#include <array>

#include "model/line/explicit/register_rows.hpp"

namespace bathline {

namespace {

/// Sites that stay in the first-level cache for all levels.
constexpr std::int64_t stretch = 192;
static_assert(stretch % simd_width == 0);

/// A kick or a drift, and up to where it has come.
struct Part {
  bool kicks;
  double weighted_step;
  std::int64_t lost;  // sites on either side
  std::int64_t done;
};

template <Sites S>
void advance(const S& sites, Part& part, std::int64_t end, double* w, double* p) {
  if (end <= part.done) return;
  if (part.kicks) {
    kick_sites(sites, part.weighted_step, part.done, end, w, p);
  } else {
    drift_sites(sites, part.weighted_step, part.done, end, w, p);
  }
  part.done = end;
}

/// A stretch of a kick and a drift, in this order if `kicks_first`. The second is a site behind the first.
template <bool kicks_first, Sites S>
void advance_both(const S& line, double kick, double drift, std::int64_t begin, double* w, double* p) {
  const auto sites = line.mapped([](const double* row) { return RowOfRegisters{row}; });
  const SimdDouble strength = splat(kick * line.stiffness);
  const SimdDouble step = splat(drift / line.mass);
  const auto kick_at = [&](std::int64_t j, SimdDouble left, SimdDouble here, SimdDouble right) {
    const SimdDouble now = kicked(load(p + j), strength, sites.pull(j, here - left), sites.pull(j + 1, right - here));
    store(now, p + j);
    return now;
  };
  const auto drift_at = [&](std::int64_t j, SimdDouble here, SimdDouble momentum) {
    const SimdDouble now = drifted(here, sites.per_mass(j, step), momentum);
    store(now, w + j);
    return now;
  };
  const std::int64_t end = begin + stretch;
  if constexpr (kicks_first) {
    SimdDouble before = load(p + begin - simd_width);
    for (std::int64_t j = begin; j < end; j += simd_width) {
      const SimdDouble left = load(w + j - 1);
      const SimdDouble now = kick_at(j, left, load(w + j), load(w + j + 1));
      drift_at(j - 1, left, concat_shift<1>(before, now));
      before = now;
    }
  } else {
    SimdDouble before = load(w + begin - simd_width);
    for (std::int64_t j = begin; j < end; j += simd_width) {
      const SimdDouble now = drift_at(j, load(w + j), load(p + j));
      kick_at(j - 1, concat_shift<2>(before, now), concat_shift<1>(before, now), now);
      before = now;
    }
  }
}

template <Sites S>
void advance_both(const S& sites, Part& first, Part& second, double* w, double* p) {
  if (first.kicks) {
    advance_both<true>(sites, first.weighted_step, second.weighted_step, first.done, w, p);
  } else {
    advance_both<false>(sites, second.weighted_step, first.weighted_step, first.done, w, p);
  }
  first.done += stretch;
  second.done += stretch;
}

}  // namespace

template <Sites S>
void advance_in_place(const S& sites, std::span<const LineLevel> levels, std::int64_t first, std::int64_t last,
                      double* w, double* p) {
  std::array<Part, 4 * max_in_place_levels> parts;
  std::int64_t count = 0, lost = 0;
  for (const LineLevel& level : levels) {
    if (level.widens_stencil) ++lost;
    for (int k = 0; k < level.kicks; ++k)
      parts[count++] = {.kicks = true, .weighted_step = level.kick[k], .lost = lost, .done = first + lost};
    for (int k = 0; k < level.drifts; ++k)
      parts[count++] = {.kicks = false, .weighted_step = level.drift[k], .lost = lost, .done = first + lost};
  }
  // The first stretch brings them to their distances, the last one lets them all come to the end.
  bool at_distance = false;
  for (std::int64_t to = first + stretch;; to += stretch) {
    const bool at_end = to >= last;
    for (std::int64_t i = 0; i < count; ++i) {
      const bool both = at_distance && !at_end && i + 1 < count && parts[i].kicks != parts[i + 1].kicks;
      if (!both) {
        advance(sites, parts[i], at_end ? last - parts[i].lost : to - i, w, p);
        continue;
      }
      advance_both(sites, parts[i], parts[i + 1], w, p);
      ++i;
    }
    if (at_end) break;
    at_distance = true;
  }
}

template void advance_in_place(const UniformSites&, std::span<const LineLevel>, std::int64_t, std::int64_t, double*,
                               double*);
template void advance_in_place(const NonuniformSites<>&, std::span<const LineLevel>, std::int64_t, std::int64_t,
                               double*, double*);

}  // namespace bathline
