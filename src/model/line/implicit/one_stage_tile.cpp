// An interior piece of a uniform line, advanced in cache by implicit one-stage steps.
#include "model/line/implicit/one_stage_tile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bathline {

namespace {

/// Sites whose two values fit into the second-level cache; shorter sweeps spend more time on the ends of the parts.
constexpr std::int64_t cached_sites = 5760;

double late_displacement_weight(const LineRecursion& recursion) {
  const LineRecursion::Mode& mode = recursion.singles.front();
  const double weight = mode.displacement_weight.real() -
                        (recursion.drift - mode.input_momentum_weight.real()) * mode.momentum_weight.real();
  // A value within round-off is zero.
  return std::abs(weight) <= 4.0 * std::numeric_limits<double>::epsilon() * std::abs(mode.displacement_weight.real())
             ? 0.0
             : weight;
}

}  // namespace

std::int64_t LineOneStageTile::capacity_for(const LineRecursion& recursion, std::int64_t reach) {
  return LineTile::capacity_for(recursion, reach, cached_sites);
}

LineOneStageTile::LineOneStageTile(const LineRecursion& recursion, std::int64_t capacity)
    : LineTile(recursion, capacity),
      pole_(recursion.singles.front().pole.real()),
      input_momentum_weight_(recursion.singles.front().input_momentum_weight.real()),
      momentum_weight_(recursion.singles.front().momentum_weight.real()),
      late_displacement_weight_(late_displacement_weight(recursion)),
      drift_(recursion.drift),
      powers_(static_cast<std::size_t>(decay_length_)) {
  powers_[0] = 1.0;
  for (std::size_t k = 1; k < powers_.size(); ++k) powers_[k] = pole_ * powers_[k - 1];
}

void LineOneStageTile::advance(int steps, std::span<const std::span<const double>> ahead) {
  const std::int64_t reference_site = steps % 2 == 0 ? 0 : parts_.part - 1;
  for (int s = 0; s < streams; ++s) {
    reference_value_.value[s] =
        multiply_add(splat(input_momentum_weight_), p_[reference_site].value[s], w_[reference_site].value[s]);
  }
  for_each_sweep(steps, ahead, [&]<Direction direction, Sweep kind>(int index) {
    const bool same_direction_as_last = index % 2 == steps % 2;
    late_displacement_weight_ == 0.0 ? sweep<direction, false, kind>(same_direction_as_last)
                                     : sweep<direction, true, kind>(same_direction_as_last);
  });
}

template <LineOneStageTile::Direction direction, bool has_displacement_weight, LineOneStageTile::Sweep kind>
[[gnu::noinline]] void LineOneStageTile::sweep(bool same_direction_as_last) {
  constexpr bool forward = direction == Direction::forward, ends_step = kind != Sweep::first,
                 begins_step = kind != Sweep::last;
  Register* __restrict p = p_.data();
  Register* __restrict y = w_.data();  // w before the first sweep and after the last
  const double unit = drift_;
  const SimdDouble r = splat(pole_);
  const SimdDouble momentum_weight = splat(-momentum_weight_ * unit),
                   displacement_weight = splat(-late_displacement_weight_);
  const SimdDouble drift = splat(unit), inverse_unit = splat(1.0 / unit);
  const SimdDouble input_weight = splat(input_momentum_weight_ / unit),
                   last_drift = splat((drift_ - input_momentum_weight_) / unit);
  const std::int64_t part = parts_.part;
  const auto position = [part](std::int64_t k) { return forward ? k : part - 1 - k; };
  // Of the site before: y, the increment of v, and in the last sweep v; in units of the drift, v relative to the
  // reference site.
  Register z = entering_z_, last_y = entering_y_, next_y{}, last_increment{}, v_difference{}, v{};
  const auto advance_site = [&](std::int64_t j, Site site) __attribute__((always_inline)) {
    for (int s = 0; s < streams; ++s) {
      SimdDouble momentum = p[j].value[s], increment;
      if constexpr (ends_step) {
        const SimdDouble here = y[j].value[s];
        z.value[s] = multiply_add(r, z.value[s], here - last_y.value[s]);
        v_difference.value[s] = multiply_add(r, here, -last_y.value[s]);
        last_y.value[s] = here;
        momentum = multiply_add(momentum_weight, z.value[s], momentum);
        p[j].value[s] = momentum;
        increment = momentum;
        if constexpr (!begins_step) increment *= last_drift;
        if constexpr (has_displacement_weight) increment = multiply_add(displacement_weight, z.value[s], increment);
      } else {
        increment = multiply_add(input_weight, momentum, inverse_unit * y[j].value[s]);
        v_difference.value[s] = SimdDouble{};
      }
      if constexpr (begins_step) {
        v_difference.value[s] += increment - last_increment.value[s];
        last_increment.value[s] = increment;
        next_y.value[s] = site == Site::first ? SimdDouble{} : multiply_add(r, next_y.value[s], v_difference.value[s]);
        y[j].value[s] = next_y.value[s];
      } else {
        if (site == Site::later) v.value[s] += v_difference.value[s];
        y[j].value[s] = multiply_add(drift, v.value[s] + increment, reference_value_.value[s]);
      }
    }
  };
  advance_site(position(0), Site::first);
  const Register first_v_difference = v_difference, first_increment = last_increment;
#pragma GCC unroll 2
  for (std::int64_t k = 1; k < part; ++k) advance_site(position(k), Site::later);

  if constexpr (begins_step) {
    // Every part has begun with a zero carry. The correction of the first part, where the piece begins, remains zero.
    Register correction = carry_in<forward>(next_y);
    const Register before = carry_in<forward>(last_increment);
    for (int s = 0; s < streams; ++s)
      correction.value[s] = multiply_add(r, correction.value[s], first_v_difference.value[s] - before.value[s]);
    clear_first_part<forward>(correction);
    // This completes the y of the first sites, and with them the values carried into the parts before them.
    Register carried_z{}, last = correction;
    y[position(0)] = correction;
    for (std::int64_t k = 1; k < decay_length_; ++k) {
      const SimdDouble power = splat(powers_[k]), power_before = splat(powers_[k - 1]);
      for (int s = 0; s < streams; ++s) {
        SimdDouble& here = y[position(k)].value[s];
        here = multiply_add(power, correction.value[s], here);
        carried_z.value[s] = multiply_add(power_before, last.value[s] - here, carried_z.value[s]);
        last.value[s] = here;
      }
    }
    entering_z_ = carry_in<!forward>(carried_z);
    entering_y_ = carry_in<!forward>(correction);
  }
  if constexpr (kind == Sweep::middle) {
    for (int s = 0; s < streams; ++s) {
      reference_value_.value[s] =
          multiply_add(drift, same_direction_as_last ? first_increment.value[s] : last_increment.value[s],
                       reference_value_.value[s]);
    }
  }
}

}  // namespace bathline
