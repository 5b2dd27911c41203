// A piece of a uniform line taken through implicit one-stage steps in cache.
#include "model/line_implicit_tile.hpp"

#include <algorithm>

namespace bathline {

namespace {

/// Three numbers a site, in the first-level cache.
constexpr std::int64_t in_cache = 1280;

}  // namespace

std::int64_t LineImplicitTile::capacity_for(const ImplicitRecursion& recursion, std::int64_t reach) {
  const std::int64_t least = std::max({in_cache, 4 * reach, parts * recursion.memory()});
  constexpr std::int64_t unit = parts * lanes;
  return (least + unit - 1) / unit * unit;
}

LineImplicitTile::LineImplicitTile(const ImplicitRecursion& recursion, std::int64_t capacity)
    : recursion_(recursion),
      memory_(recursion.memory()),
      v_(static_cast<std::size_t>(capacity / parts)),
      p_(v_.size()),
      y_(v_.size()) {}

void LineImplicitTile::load(const double* w, const double* p, std::int64_t count) {
  count_ = count;
  part_ = std::max(memory_, (count + parts - 1) / parts);
  spread(w, v_);
  spread(p, p_);
}

void LineImplicitTile::spread(const double* from, Field& to) const {
  for (int stream = 0; stream < streams; ++stream) {
    const std::int64_t begin = stream * lanes * part_;
    std::int64_t j = 0;
    for (; j + lanes <= part_ && begin + (lanes - 1) * part_ + j + lanes <= count_; j += lanes) {
      Lanes square[lanes];
      for (int lane = 0; lane < lanes; ++lane) square[lane] = bathline::load(from + begin + lane * part_ + j);
      transpose(square);
      for (int i = 0; i < lanes; ++i) to[static_cast<std::size_t>(j + i)].at[stream] = square[i];
    }
    // Room that is left over goes on like the last site, so that no spring there is stretched.
    for (; j < part_; ++j) {
      Lanes& row = to[static_cast<std::size_t>(j)].at[stream];
      for (int lane = 0; lane < lanes; ++lane) row[lane] = from[std::min(begin + lane * part_ + j, count_ - 1)];
    }
  }
}

void LineImplicitTile::collect(const Field& from, std::int64_t offset, std::int64_t count, double* to) const {
  const std::int64_t end = offset + count;
  for (int stream = 0; stream < streams; ++stream) {
    for (std::int64_t j = 0; j < part_; j += lanes) {
      const std::int64_t width = std::min<std::int64_t>(lanes, part_ - j);
      Lanes square[lanes] = {};
      for (int i = 0; i < width; ++i) square[i] = from[static_cast<std::size_t>(j + i)].at[stream];
      transpose(square);
      for (int lane = 0; lane < lanes; ++lane) {
        const std::int64_t site = (stream * lanes + lane) * part_ + j;
        if (width == lanes && site >= offset && site + lanes <= end) {
          bathline::store(square[lane], to + (site - offset));
        } else {
          for (std::int64_t i = std::max<std::int64_t>(0, offset - site); i < std::min(width, end - site); ++i) {
            to[site + i - offset] = square[lane][i];
          }
        }
      }
    }
  }
}

void LineImplicitTile::store(std::int64_t offset, std::int64_t count, double* w, double* p) const {
  collect(v_, offset, count, w);
  collect(p_, offset, count, p);
}

void LineImplicitTile::advance(int steps, std::span<const std::span<const double>> ahead) {
  constexpr std::size_t cache_line = 8;  // numbers
  const auto sweeps = static_cast<std::size_t>(steps) + 1;
  for (std::size_t index = 0; index < sweeps; ++index) {
    if (recursion_.slip == 0.0) {
      sweep<false>(static_cast<int>(index), steps);
    } else {
      sweep<true>(static_cast<int>(index), steps);
    }
    for (const std::span<const double> field : ahead) {
      const std::size_t end = field.size() * (index + 1) / sweeps;
      for (std::size_t i = field.size() * index / sweeps; i < end; i += cache_line) {
        __builtin_prefetch(field.data() + i, 0, 2);
      }
    }
  }
}

template <bool slips>
void LineImplicitTile::sweep(int index, int steps) {
  const bool forward = index % 2 == 0;
  if (index == 0) {
    sweep<true, slips, Sweep::first>();
  } else if (index == steps) {
    forward ? sweep<true, slips, Sweep::last>() : sweep<false, slips, Sweep::last>();
  } else {
    forward ? sweep<true, slips, Sweep::middle>() : sweep<false, slips, Sweep::middle>();
  }
}

template <bool forward, bool slips, LineImplicitTile::Sweep kind>
[[gnu::noinline]] void LineImplicitTile::sweep() {
  constexpr bool ends_step = kind != Sweep::first, begins_step = kind != Sweep::last;
  Register* __restrict v = v_.data();
  Register* __restrict p = p_.data();
  Register* __restrict y = y_.data();
  const Lanes r = Lanes{} + recursion_.decay;
  const Lanes kick = Lanes{} - recursion_.kick, slip = Lanes{} - recursion_.slip;
  const Lanes drift = Lanes{} + (kind == Sweep::first  ? recursion_.to_stage
                                 : kind == Sweep::last ? recursion_.last_drift
                                                       : recursion_.drift);
  const std::int64_t part = part_;
  const auto at = [part](std::int64_t k) { return forward ? k : part - 1 - k; };
  // The value of the part that this sweep comes from; none comes before the first.
  const auto inherited = [](const Register& x) {
    Register result;
    for (int s = 0; s < streams; ++s) {
      if constexpr (forward) {
        const Lanes before = s > 0 ? x.at[s - 1] : Lanes{};
        result.at[s] = lane_order::mixed(before, x.at[s], [](int i) { return i > 0 ? lanes + i - 1 : lanes - 1; });
      } else {
        const Lanes behind = s + 1 < streams ? x.at[s + 1] : Lanes{};
        result.at[s] = lane_order::mixed(x.at[s], behind, [](int i) { return i + 1; });
      }
    }
    return result;
  };

  Register z{}, last_y{}, next_y{}, last_v{};
  if constexpr (ends_step) {
    for (std::int64_t k = part - memory_; k < part; ++k) {
      const Register& here = y[at(k)];
      for (int s = 0; s < streams; ++s) {
        z.at[s] = fused(r, z.at[s], here.at[s] - last_y.at[s]);
        last_y.at[s] = here.at[s];
      }
    }
    z = inherited(z);
    last_y = inherited(last_y);
  }
  const auto advance_site = [&](std::int64_t j, bool is_first) __attribute__((always_inline)) {
    for (int s = 0; s < streams; ++s) {
      Lanes momentum = p[j].at[s], moved = v[j].at[s];
      if constexpr (ends_step) {
        const Lanes here = y[j].at[s];
        z.at[s] = fused(r, z.at[s], here - last_y.at[s]);
        last_y.at[s] = here;
        momentum = fused(kick, z.at[s], momentum);
        p[j].at[s] = momentum;
        if constexpr (slips) moved = fused(slip, z.at[s], moved);
      }
      moved = fused(drift, momentum, moved);
      v[j].at[s] = moved;
      if constexpr (begins_step) {
        next_y.at[s] = is_first ? Lanes{} : fused(r, next_y.at[s], moved - last_v.at[s]);
        last_v.at[s] = moved;
        y[j].at[s] = next_y.at[s];
      }
    }
  };
  advance_site(at(0), true);
#pragma GCC unroll 2
  for (std::int64_t k = 1; k < part; ++k) advance_site(at(k), false);

  if constexpr (begins_step) {
    // Every part has begun as if no spring came before it. The first one is the piece's, where it is left at that.
    Register missing = inherited(next_y);
    const Register before = inherited(last_v);
    for (int s = 0; s < streams; ++s) missing.at[s] = fused(r, missing.at[s], v[at(0)].at[s] - before.at[s]);
    if constexpr (forward) {
      missing.at[0][0] = 0.0;
    } else {
      missing.at[streams - 1][lanes - 1] = 0.0;
    }
    for (std::int64_t k = 0; k < memory_; ++k) {
      for (int s = 0; s < streams; ++s) {
        y[at(k)].at[s] += missing.at[s];
        missing.at[s] *= r;
      }
    }
  }
}

}  // namespace bathline
