// A short block of steps of a splitting on a line, in place.
//
// The kicks and drifts sweep a section of the line one after the other, each one site behind the one before it. A kick
// and the drift beside it share a pass through the registers, which keeps memory accesses in flight all the time.
#include "model/line/explicit/in_place_sweeps.hpp"

#include <array>

#include "model/line/explicit/register_rows.hpp"

namespace bathline {

namespace {

/// Sites of a section, which stays in the first-level cache for all levels.
constexpr std::int64_t section_sites = 192;
static_assert(section_sites % simd_width == 0);

/// A kick or a drift, and how far it has swept.
struct SweptSubstep {
  bool kicks;
  double weighted_step;
  std::int64_t margin;  // invalid sites on either side
  std::int64_t done;
};

template <Sites S>
void advance(const S& sites, SweptSubstep& substep, std::int64_t end, double* w, double* p) {
  if (end <= substep.done) return;
  if (substep.kicks) {
    kick_sites(sites, substep.weighted_step, substep.done, end, w, p);
  } else {
    drift_sites(sites, substep.weighted_step, substep.done, end, w, p);
  }
  substep.done = end;
}

/// A section of a kick and a drift, in this order if `kicks_first`. The second is one site behind the first.
template <bool kicks_first, Sites S>
void advance_both(const S& line, double kick, double drift, std::int64_t begin, double* w, double* p) {
  const auto sites = line.mapped([](const double* row) { return RowOfRegisters{row}; });
  const SimdDouble strength = splat(kick * line.stiffness);
  const SimdDouble step = splat(drift / line.mass);
  const auto kick_at = [&](std::int64_t j, SimdDouble left, SimdDouble here, SimdDouble right) {
    const SimdDouble now =
        kicked(sites, here, load(p + j), strength, sites.pull(j, here - left), sites.pull(j + 1, right - here));
    store(now, p + j);
    return now;
  };
  const auto drift_at = [&](std::int64_t j, SimdDouble here, SimdDouble momentum) {
    const SimdDouble now = drifted(here, sites.per_mass(j, step), momentum);
    store(now, w + j);
    return now;
  };
  const std::int64_t end = begin + section_sites;
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
void advance_both(const S& sites, SweptSubstep& first, SweptSubstep& second, double* w, double* p) {
  if (first.kicks) {
    advance_both<true>(sites, first.weighted_step, second.weighted_step, first.done, w, p);
  } else {
    advance_both<false>(sites, second.weighted_step, first.weighted_step, first.done, w, p);
  }
  first.done += section_sites;
  second.done += section_sites;
}

}  // namespace

template <Sites S>
void advance_in_place(const S& sites, std::span<const LineLevel> levels, std::int64_t first, std::int64_t last,
                      double* w, double* p) {
  std::array<SweptSubstep, 4 * max_in_place_levels> substeps;
  std::int64_t count = 0, margin = 0;
  for (const LineLevel& level : levels) {
    if (level.widens_stencil) ++margin;
    for (int k = 0; k < level.kicks; ++k)
      substeps[count++] = {.kicks = true, .weighted_step = level.kick[k], .margin = margin, .done = first + margin};
    for (int k = 0; k < level.drifts; ++k)
      substeps[count++] = {.kicks = false, .weighted_step = level.drift[k], .margin = margin, .done = first + margin};
  }
  // The first section establishes the distances, the last one ends all sweeps at `last`.
  bool at_distance = false;
  for (std::int64_t to = first + section_sites;; to += section_sites) {
    const bool at_end = to >= last;
    for (std::int64_t i = 0; i < count; ++i) {
      const bool both = at_distance && !at_end && i + 1 < count && substeps[i].kicks != substeps[i + 1].kicks;
      if (!both) {
        advance(sites, substeps[i], at_end ? last - substeps[i].margin : to - i, w, p);
        continue;
      }
      advance_both(sites, substeps[i], substeps[i + 1], w, p);
      ++i;
    }
    if (at_end) break;
    at_distance = true;
  }
}

#define BATHLINE_ADVANCE_IN_PLACE(...)                                                                                \
  template void advance_in_place(const __VA_ARGS__&, std::span<const LineLevel>, std::int64_t, std::int64_t, double*, \
                                 double*)
BATHLINE_FOR_ALL_SITES(BATHLINE_ADVANCE_IN_PLACE);

}  // namespace bathline
