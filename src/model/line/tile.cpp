// A piece of a line taken through a splitting's kicks and drifts in cache.
#include "model/line/tile.hpp"

#include <algorithm>

#include "model/line/update.hpp"

namespace bathline {

namespace {

constexpr std::int64_t longest_part = LineTile::capacity / lanes;
static_assert(LineTile::capacity % (lanes * lanes) == 0);

}  // namespace

LineTile::LineTile(double stiffness, double mass)
    : uniform_(true), stiffness_(stiffness), mass_(mass), w_(longest_part + 2 * margin), p_(w_.size()) {}

LineTile::LineTile()
    : uniform_(false), w_(longest_part + 2 * margin), p_(w_.size()), spring_(w_.size()), inverse_mass_(w_.size()) {}

void LineTile::load(const double* w, const double* p, std::int64_t count) {
  count_ = count;
  part_ = std::max<std::int64_t>(depth, (count + lanes - 1) / lanes);
  spread(w, w_);
  spread(p, p_);
}

void LineTile::load_springs(const double* stiffness, const double* inverse_mass) {
  spread(stiffness, spring_);
  spread(inverse_mass, inverse_mass_);
  copy_over_ends(spring_, margin);
  copy_over_ends(inverse_mass_, margin);
}

void LineTile::spread(const double* from, Field& to) const {
  Register* part = inside(to);
  std::int64_t j = 0;
  // The last lane's part may be shorter than the others, or missing.
  for (; j + lanes <= part_ && (lanes - 1) * part_ + j + lanes <= count_; j += lanes) {
    Lanes square[lanes];
    for (int lane = 0; lane < lanes; ++lane) square[lane] = bathline::load(from + lane * part_ + j);
    transpose(square);
    for (int i = 0; i < lanes; ++i) part[j + i].at = square[i];
  }
  for (; j < part_; ++j) {
    for (int lane = 0; lane < lanes; ++lane) {
      const std::int64_t site = lane * part_ + j;
      part[j].at[lane] = site < count_ ? from[site] : 0.0;
    }
  }
}

void LineTile::collect(const Field& from, std::int64_t offset, std::int64_t count, double* to) const {
  const Register* part = inside(from);
  const std::int64_t end = offset + count;
  for (std::int64_t j = 0; j < part_; j += lanes) {
    const std::int64_t width = std::min<std::int64_t>(lanes, part_ - j);
    Lanes square[lanes];
    for (int i = 0; i < lanes; ++i) square[i] = part[j + i].at;
    transpose(square);
    for (int lane = 0; lane < lanes; ++lane) {
      const std::int64_t site = lane * part_ + j;
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

void LineTile::store(std::int64_t offset, std::int64_t count, double* w, double* p) const {
  collect(w_, offset, count, w);
  collect(p_, offset, count, p);
}

/// `width` registers on either side, from the neighbouring lanes' parts; a part may be shorter than that.
void LineTile::copy_over_ends(Field& field, std::int64_t width) const {
  Register* part = inside(field);
  for (std::int64_t g = 0; g < width; ++g) {
    part[-1 - g].at = from_lane_before(part[part_ - 1 - g].at);
    part[part_ + g].at = from_lane_behind(part[g].at);
  }
}

void LineTile::advance(std::span<const LineLevel> levels, std::span<const std::span<const double>> ahead) {
  if (uniform_) {
    sweep_all<true>(levels, ahead);
  } else {
    sweep_all<false>(levels, ahead);
  }
}

template <bool uniform>
void LineTile::sweep_all(std::span<const LineLevel> levels, std::span<const std::span<const double>> ahead) {
  constexpr std::size_t cache_line = 8;  // numbers
  const std::size_t all = levels.size();
  std::size_t fetched = 0;
  while (!levels.empty()) {
    const LineLevel& first = levels.front();
    std::size_t done = 1;
    switch (3 * first.kicks + first.drifts) {
      case 1:
        done = sweep_some<uniform, 0, 1>(levels);
        break;
      case 2:
        done = sweep_some<uniform, 0, 2>(levels);
        break;
      case 3:
        done = sweep_some<uniform, 1, 0>(levels);
        break;
      case 4:
        done = sweep_some<uniform, 1, 1>(levels);
        break;
      case 5:
        done = sweep_some<uniform, 1, 2>(levels);
        break;
      case 6:
        done = sweep_some<uniform, 2, 0>(levels);
        break;
      case 7:
        done = sweep_some<uniform, 2, 1>(levels);
        break;
      case 8:
        done = sweep_some<uniform, 2, 2>(levels);
        break;
    }
    levels = levels.subspan(done);
    const std::size_t share = all - levels.size();
    std::size_t end = fetched;
    for (const std::span<const double> field : ahead) {
      end = field.size() * share / all;
      for (std::size_t i = fetched; i < end; i += cache_line) __builtin_prefetch(field.data() + i, 0, 2);
    }
    fetched = end;
  }
}

template <bool uniform, int kicks, int drifts>
std::size_t LineTile::sweep_some(std::span<const LineLevel> levels) {
  if constexpr (kicks > 0 && drifts > 0) {
    if (levels.size() >= depth && std::all_of(levels.begin(), levels.begin() + depth, [&](const LineLevel& level) {
          return level.same_kind(levels.front());
        })) {
      sweep<uniform, depth, kicks, drifts>(levels);
      return depth;
    }
  }
  sweep<uniform, 1, kicks, drifts>(levels);
  return 1;
}

template <bool uniform, int at_once, int kicks, int drifts>
[[gnu::noinline]] void LineTile::sweep(std::span<const LineLevel> levels) {
  copy_over_ends(w_, at_once);
  copy_over_ends(p_, at_once);
  Lanes strength[at_once][kicks > 0 ? kicks : 1], rate[at_once][drifts > 0 ? drifts : 1];
  for (int a = 0; a < at_once; ++a) {
    for (int i = 0; i < kicks; ++i) strength[a][i] = Lanes{} + levels[a].kick[i] * (uniform ? stiffness_ : 1.0);
    for (int i = 0; i < drifts; ++i) rate[a][i] = Lanes{} + (uniform ? levels[a].drift[i] / mass_ : levels[a].drift[i]);
  }
  // Each level holds the site whose right neighbour it waits for, and hands it on to the next level when that comes.
  struct Waiting {
    Lanes w{}, p{}, left{};
  } waiting[at_once];
  Register* w = inside(w_);
  Register* p = inside(p_);
  const Register* spring = inside(spring_);
  const Register* inverse_mass = inside(inverse_mass_);
  const std::int64_t end = part_ + at_once;
#pragma GCC unroll 2
  for (std::int64_t j = -at_once; j < end; ++j) {
    Lanes next_w = w[j].at, next_p = p[j].at;
#pragma GCC unroll 4
    for (int a = 0; a < at_once; ++a) {
      Waiting& here = waiting[a];
      Lanes right = next_w - here.w;
      if constexpr (!uniform) right *= spring[j - a].at;
      Lanes moved_w = here.w, moved_p = here.p;
      for (int i = 0; i < kicks; ++i) moved_p = kicked(moved_p, strength[a][i], here.left, right);
      for (int i = 0; i < drifts; ++i) {
        if constexpr (uniform) {
          moved_w = drifted(moved_w, rate[a][i], moved_p);
        } else {
          moved_w = drifted(moved_w, rate[a][i] * inverse_mass[j - a - 1].at, moved_p);
        }
      }
      here = {next_w, next_p, right};
      next_w = moved_w;
      next_p = moved_p;
    }
    w[j - at_once].at = next_w;
    p[j - at_once].at = next_p;
  }
}

}  // namespace bathline
