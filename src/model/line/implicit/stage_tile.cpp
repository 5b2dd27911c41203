// An interior piece of a uniform line, advanced in cache by steps with several stages.
#include "model/line/implicit/stage_tile.hpp"

#include <algorithm>

#include "model/line/implicit/mode_factors.hpp"

namespace bathline {

namespace {

/// Values that fit into the first-level cache.
constexpr std::int64_t cached_values = 3840;

std::size_t values_per_site(const LineRecursion& recursion) {
  return 2 * recursion.pairs.size() + recursion.singles.size();
}

}  // namespace

bool LineStageTile::supports(const LineRecursion& recursion) {
  const std::size_t pairs = recursion.pairs.size(), singles = recursion.singles.size();
  return (pairs == 0 && singles == 1) || (pairs == 1 && singles <= 1) || (pairs == 2 && singles == 0);
}

std::int64_t LineStageTile::capacity_for(const LineRecursion& recursion, std::int64_t reach) {
  const auto numbers = static_cast<std::int64_t>(2 + values_per_site(recursion));
  return LineTile::capacity_for(recursion, reach, cached_values / numbers);
}

LineStageTile::LineStageTile(const LineRecursion& recursion, std::int64_t capacity)
    : LineTile(recursion, capacity), recursion_(recursion), y_(values_per_site(recursion), Field(w_.size())) {}

void LineStageTile::advance(int steps, std::span<const std::span<const double>> ahead) {
  const auto advance_with = [&]<int pairs, int singles>() {
    for_each_sweep(steps, ahead,
                   [&]<Direction direction, Sweep kind>(int) { sweep<pairs, singles, direction, kind>(); });
  };
  if (recursion_.pairs.empty()) {
    advance_with.operator()<0, 1>();
  } else if (recursion_.pairs.size() == 2) {
    advance_with.operator()<2, 0>();
  } else if (recursion_.singles.empty()) {
    advance_with.operator()<1, 0>();
  } else {
    advance_with.operator()<1, 1>();
  }
}

template <int pairs, int singles, LineStageTile::Direction direction, LineStageTile::Sweep kind>
[[gnu::noinline]] void LineStageTile::sweep() {
  constexpr bool forward = direction == Direction::forward, ends_step = kind != Sweep::first,
                 begins_step = kind != Sweep::last;
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
  const auto position = [part](std::int64_t k) { return forward ? k : part - 1 - k; };

  const auto carry_over = [&](Modes(&modes)[streams]) {
    for (int i = 0; i < numbers; ++i) {
      Register x;
      for (int s = 0; s < streams; ++s) x.value[s] = modes[s].value[i];
      x = carry_in<forward>(x);
      for (int s = 0; s < streams; ++s) modes[s].value[i] = x.value[s];
    }
  };

  Modes z[streams] = {}, last_y[streams] = {}, next_y[streams] = {};
  Register last_w{}, last_p{};
  const auto second_filter = [&](std::int64_t j, int s) __attribute__((always_inline)) {
    Modes input;
    for (int i = 0; i < numbers; ++i) {
      const SimdDouble here = y[i][j].value[s];
      input.value[i] = here - last_y[s].value[i];
      last_y[s].value[i] = here;
    }
    factors.filter(z[s], input);
  };
  if constexpr (ends_step) {
    for (std::int64_t k = part - decay_length_; k < part; ++k) {
      for (int s = 0; s < streams; ++s) second_filter(position(k), s);
    }
    carry_over(z);
    carry_over(last_y);
  }
  const auto advance_site = [&](std::int64_t j, Site site) __attribute__((always_inline)) {
    for (int s = 0; s < streams; ++s) {
      SimdDouble momentum = p[j].value[s], displacement = w[j].value[s];
      if constexpr (ends_step) {
        second_filter(j, s);
        displacement = Factors::add(multiply_add(drift, momentum, displacement), factors.displacement_weight, z[s]);
        momentum = Factors::add(momentum, factors.momentum_weight, z[s]);
        w[j].value[s] = displacement;
        p[j].value[s] = momentum;
      }
      if constexpr (begins_step) {
        if (site == Site::later)
          factors.filter(next_y[s], factors.input_change(displacement - last_w.value[s], momentum - last_p.value[s]));
        last_w.value[s] = displacement;
        last_p.value[s] = momentum;
        for (int i = 0; i < numbers; ++i) y[i][j].value[s] = next_y[s].value[i];
      }
    }
  };
  advance_site(position(0), Site::first);
  for (std::int64_t k = 1; k < part; ++k) advance_site(position(k), Site::later);

  if constexpr (begins_step) {
    // Every part has begun with a zero carry. The correction of the first part, where the piece begins, remains zero.
    carry_over(next_y);
    const Register before_w = carry_in<forward>(last_w), before_p = carry_in<forward>(last_p);
    for (int s = 0; s < streams; ++s) {
      factors.filter(next_y[s], factors.input_change(w[position(0)].value[s] - before_w.value[s],
                                                     p[position(0)].value[s] - before_p.value[s]));
    }
    for (int i = 0; i < numbers; ++i) {
      Register correction;
      for (int s = 0; s < streams; ++s) correction.value[s] = next_y[s].value[i];
      clear_first_part<forward>(correction);
      for (int s = 0; s < streams; ++s) next_y[s].value[i] = correction.value[s];
    }
    for (std::int64_t k = 0; k < decay_length_; ++k) {
      for (int s = 0; s < streams; ++s) {
        for (int i = 0; i < numbers; ++i) y[i][position(k)].value[s] += next_y[s].value[i];
        factors.filter(next_y[s], Modes{});
      }
    }
  }
}

}  // namespace bathline
