// A piece of a uniform line taken through steps with several stages in cache.
#include "model/line/implicit/stage_tile.hpp"

#include <algorithm>

#include "model/line/implicit/mode_factors.hpp"

namespace bathline {

namespace {

/// Numbers in the first-level cache.
constexpr std::int64_t in_cache = 3840;

std::size_t numbers_of_modes(const LineRecursion& recursion) {
  return 2 * recursion.pairs.size() + recursion.singles.size();
}

}  // namespace

bool LineStageTile::serves(const LineRecursion& recursion) {
  const std::size_t pairs = recursion.pairs.size(), singles = recursion.singles.size();
  return (pairs == 0 && singles == 1) || (pairs == 1 && singles <= 1) || (pairs == 2 && singles == 0);
}

std::int64_t LineStageTile::capacity_for(const LineRecursion& recursion, std::int64_t reach) {
  const auto numbers = static_cast<std::int64_t>(2 + numbers_of_modes(recursion));
  return Parts::capacity(std::max({in_cache / numbers, 4 * reach, Parts::parts * recursion.decay_length()}));
}

LineStageTile::LineStageTile(const LineRecursion& recursion, std::int64_t capacity)
    : recursion_(recursion),
      decay_length_(recursion.decay_length()),
      w_(static_cast<std::size_t>(capacity / Parts::parts)),
      p_(w_.size()),
      y_(numbers_of_modes(recursion), Field(w_.size())) {}

void LineStageTile::load(const double* w, const double* p, std::int64_t count) {
  parts_ = Parts(count, decay_length_);
  parts_.pack(w, w_.data());
  parts_.pack(p, p_.data());
}

void LineStageTile::store(std::int64_t offset, std::int64_t count, double* w, double* p) const {
  parts_.unpack(w_.data(), offset, count, w);
  parts_.unpack(p_.data(), offset, count, p);
}

void LineStageTile::advance(int steps, std::span<const std::span<const double>> ahead) {
  const std::size_t pairs = recursion_.pairs.size();
  for (int index = 0; index <= steps; ++index) {
    if (pairs == 0) {
      sweep<0, 1>(index, steps);
    } else if (pairs == 2) {
      sweep<2, 0>(index, steps);
    } else if (recursion_.singles.empty()) {
      sweep<1, 0>(index, steps);
    } else {
      sweep<1, 1>(index, steps);
    }
    fetch_share(ahead, static_cast<std::size_t>(index), static_cast<std::size_t>(steps) + 1);
  }
}

template <int pairs, int singles>
void LineStageTile::sweep(int index, int steps) {
  const bool forward = index % 2 == 0;
  if (index == 0) {
    sweep<pairs, singles, Way::forward, Sweep::first>();
  } else if (index == steps) {
    forward ? sweep<pairs, singles, Way::forward, Sweep::last>() : sweep<pairs, singles, Way::back, Sweep::last>();
  } else {
    forward ? sweep<pairs, singles, Way::forward, Sweep::middle>() : sweep<pairs, singles, Way::back, Sweep::middle>();
  }
}

template <int pairs, int singles, LineStageTile::Way sense, LineStageTile::Sweep kind>
[[gnu::noinline]] void LineStageTile::sweep() {
  constexpr bool forward = sense == Way::forward, ends_step = kind != Sweep::first, begins_step = kind != Sweep::last;
  using Factors = ModeFactors<pairs, singles>;
  using Modes = typename Factors::Modes;
  constexpr int numbers = Factors::numbers;
  Register* __restrict w = w_.data();
  Register* __restrict p = p_.data();
  Register* y[numbers];
  for (int i = 0; i < numbers; ++i) y[i] = y_[static_cast<std::size_t>(i)].data();
  const Factors factors(recursion_);
  const SimdDouble drift = splat(recursion_.drift);
  const std::int64_t part = parts_.part;
  const auto at = [part](std::int64_t k) { return forward ? k : part - 1 - k; };

  const auto carry_over = [&](Modes(&of_streams)[streams]) {
    for (int i = 0; i < numbers; ++i) {
      Register x;
      for (int s = 0; s < streams; ++s) x.at[s] = of_streams[s].of[i];
      x = carry_in<forward>(x);
      for (int s = 0; s < streams; ++s) of_streams[s].of[i] = x.at[s];
    }
  };

  Modes z[streams] = {}, last_y[streams] = {}, next_y[streams] = {};
  Register last_w{}, last_p{};
  const auto second_filter = [&](std::int64_t j, int s) __attribute__((always_inline)) {
    Modes input;
    for (int i = 0; i < numbers; ++i) {
      const SimdDouble here = y[i][j].at[s];
      input.of[i] = here - last_y[s].of[i];
      last_y[s].of[i] = here;
    }
    factors.filter(z[s], input);
  };
  if constexpr (ends_step) {
    for (std::int64_t k = part - decay_length_; k < part; ++k) {
      for (int s = 0; s < streams; ++s) second_filter(at(k), s);
    }
    carry_over(z);
    carry_over(last_y);
  }
  const auto advance_site = [&](std::int64_t j, Site site) __attribute__((always_inline)) {
    for (int s = 0; s < streams; ++s) {
      SimdDouble momentum = p[j].at[s], moved = w[j].at[s];
      if constexpr (ends_step) {
        second_filter(j, s);
        moved = Factors::add(multiply_add(drift, momentum, moved), factors.displacement_weight, z[s]);
        momentum = Factors::add(momentum, factors.momentum_weight, z[s]);
        w[j].at[s] = moved;
        p[j].at[s] = momentum;
      }
      if constexpr (begins_step) {
        if (site == Site::later)
          factors.filter(next_y[s], factors.input_change(moved - last_w.at[s], momentum - last_p.at[s]));
        last_w.at[s] = moved;
        last_p.at[s] = momentum;
        for (int i = 0; i < numbers; ++i) y[i][j].at[s] = next_y[s].of[i];
      }
    }
  };
  advance_site(at(0), Site::first);
  for (std::int64_t k = 1; k < part; ++k) advance_site(at(k), Site::later);

  if constexpr (begins_step) {
    // Every part has begun as if no spring came before it. The first one is the piece's, where it is left at that.
    carry_over(next_y);
    const Register before_w = carry_in<forward>(last_w), before_p = carry_in<forward>(last_p);
    for (int s = 0; s < streams; ++s) {
      factors.filter(next_y[s], factors.input_change(w[at(0)].at[s] - before_w.at[s], p[at(0)].at[s] - before_p.at[s]));
    }
    for (int i = 0; i < numbers; ++i) {
      Register missing;
      for (int s = 0; s < streams; ++s) missing.at[s] = next_y[s].of[i];
      clear_first_part<forward>(missing);
      for (int s = 0; s < streams; ++s) next_y[s].of[i] = missing.at[s];
    }
    for (std::int64_t k = 0; k < decay_length_; ++k) {
      for (int s = 0; s < streams; ++s) {
        for (int i = 0; i < numbers; ++i) y[i][at(k)].at[s] += next_y[s].of[i];
        factors.filter(next_y[s], Modes{});
      }
    }
  }
}

}  // namespace bathline
