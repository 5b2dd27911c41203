// A piece of a uniform line taken through implicit one-stage steps in cache.
#include "model/line/implicit/one_stage_tile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bathline {

namespace {

/// Two numbers a site, in the second-level cache: shorter sweeps lose more at the ends of the parts.
constexpr std::int64_t in_cache = 5760;

double late_displacement_weight(const LineRecursion& recursion) {
  const LineRecursion::Mode& mode = recursion.singles.front();
  const double left = mode.displacement_weight.real() -
                      (recursion.drift - mode.input_momentum_weight.real()) * mode.momentum_weight.real();
  // What rounding has left of a zero is one.
  return std::abs(left) <= 4.0 * std::numeric_limits<double>::epsilon() * std::abs(mode.displacement_weight.real())
             ? 0.0
             : left;
}

}  // namespace

std::int64_t LineOneStageTile::capacity_for(const LineRecursion& recursion, std::int64_t reach) {
  return Parts::capacity(std::max({in_cache, 4 * reach, Parts::parts * recursion.decay_length()}));
}

LineOneStageTile::LineOneStageTile(const LineRecursion& recursion, std::int64_t capacity)
    : pole_(recursion.singles.front().pole.real()),
      input_momentum_weight_(recursion.singles.front().input_momentum_weight.real()),
      momentum_weight_(recursion.singles.front().momentum_weight.real()),
      late_displacement_weight_(late_displacement_weight(recursion)),
      drift_(recursion.drift),
      decay_length_(recursion.decay_length()),
      powers_(static_cast<std::size_t>(decay_length_)),
      y_(static_cast<std::size_t>(capacity / Parts::parts)),
      p_(y_.size()) {
  powers_[0] = 1.0;
  for (std::size_t k = 1; k < powers_.size(); ++k) powers_[k] = pole_ * powers_[k - 1];
}

void LineOneStageTile::load(const double* w, const double* p, std::int64_t count) {
  parts_ = Parts(count, decay_length_);
  parts_.pack(w, y_.data());
  parts_.pack(p, p_.data());
}

void LineOneStageTile::store(std::int64_t offset, std::int64_t count, double* w, double* p) const {
  parts_.unpack(y_.data(), offset, count, w);
  parts_.unpack(p_.data(), offset, count, p);
}

void LineOneStageTile::advance(int steps, std::span<const std::span<const double>> ahead) {
  const std::int64_t anchored = steps % 2 == 0 ? 0 : parts_.part - 1;
  for (int s = 0; s < streams; ++s) {
    reference_value_.at[s] = multiply_add(splat(input_momentum_weight_), p_[anchored].at[s], y_[anchored].at[s]);
  }
  for (int index = 0; index <= steps; ++index) {
    if (late_displacement_weight_ == 0.0) {
      sweep<false>(index, steps);
    } else {
      sweep<true>(index, steps);
    }
    fetch_share(ahead, static_cast<std::size_t>(index), static_cast<std::size_t>(steps) + 1);
  }
}

template <bool has_displacement_weight>
void LineOneStageTile::sweep(int index, int steps) {
  const bool forward = index % 2 == 0, as_the_last = index % 2 == steps % 2;
  if (index == 0) {
    sweep<Way::forward, has_displacement_weight, Sweep::first>(as_the_last);
  } else if (index == steps) {
    forward ? sweep<Way::forward, has_displacement_weight, Sweep::last>(as_the_last)
            : sweep<Way::back, has_displacement_weight, Sweep::last>(as_the_last);
  } else {
    forward ? sweep<Way::forward, has_displacement_weight, Sweep::middle>(as_the_last)
            : sweep<Way::back, has_displacement_weight, Sweep::middle>(as_the_last);
  }
}

template <LineOneStageTile::Way sense, bool has_displacement_weight, LineOneStageTile::Sweep kind>
[[gnu::noinline]] void LineOneStageTile::sweep(bool as_the_last) {
  constexpr bool forward = sense == Way::forward, ends_step = kind != Sweep::first, begins_step = kind != Sweep::last;
  Register* __restrict p = p_.data();
  Register* __restrict y = y_.data();
  const double unit = drift_;
  const SimdDouble r = splat(pole_);
  const SimdDouble kick = splat(-momentum_weight_ * unit), slip = splat(-late_displacement_weight_);
  const SimdDouble drift = splat(unit), inverse_unit = splat(1.0 / unit);
  const SimdDouble lead = splat(input_momentum_weight_ / unit),
                   last_drift = splat((drift_ - input_momentum_weight_) / unit);
  const std::int64_t part = parts_.part;
  const auto at = [part](std::int64_t k) { return forward ? k : part - 1 - k; };
  // Of the site before: y, what v moves by, and in the end v; in units of the drift, v relative to where the part
  // begins.
  Register z = entering_z_, last_y = entering_y_, next_y{}, last_way{}, rise{}, v{};
  const auto advance_site = [&](std::int64_t j, Site site) __attribute__((always_inline)) {
    for (int s = 0; s < streams; ++s) {
      SimdDouble momentum = p[j].at[s], way;
      if constexpr (ends_step) {
        const SimdDouble here = y[j].at[s];
        z.at[s] = multiply_add(r, z.at[s], here - last_y.at[s]);
        rise.at[s] = multiply_add(r, here, -last_y.at[s]);
        last_y.at[s] = here;
        momentum = multiply_add(kick, z.at[s], momentum);
        p[j].at[s] = momentum;
        way = momentum;
        if constexpr (!begins_step) way *= last_drift;
        if constexpr (has_displacement_weight) way = multiply_add(slip, z.at[s], way);
      } else {
        way = multiply_add(lead, momentum, inverse_unit * y[j].at[s]);
        rise.at[s] = SimdDouble{};
      }
      if constexpr (begins_step) {
        rise.at[s] += way - last_way.at[s];
        last_way.at[s] = way;
        next_y.at[s] = site == Site::first ? SimdDouble{} : multiply_add(r, next_y.at[s], rise.at[s]);
        y[j].at[s] = next_y.at[s];
      } else {
        if (site == Site::later) v.at[s] += rise.at[s];
        y[j].at[s] = multiply_add(drift, v.at[s] + way, reference_value_.at[s]);
      }
    }
  };
  advance_site(at(0), Site::first);
  const Register first_rise = rise, first_way = last_way;
#pragma GCC unroll 2
  for (std::int64_t k = 1; k < part; ++k) advance_site(at(k), Site::later);

  if constexpr (begins_step) {
    // Every part has begun as if no spring came before it. The first one is the piece's, where it is left at that.
    Register missing = carry_in<forward>(next_y);
    const Register before = carry_in<forward>(last_way);
    for (int s = 0; s < streams; ++s) missing.at[s] = multiply_add(r, missing.at[s], first_rise.at[s] - before.at[s]);
    clear_first_part<forward>(missing);
    // With that, the y of the first sites are complete, and so is what they leave to the parts before them.
    Register leaving{}, last = missing;
    y[at(0)] = missing;
    for (std::int64_t k = 1; k < decay_length_; ++k) {
      const SimdDouble power = splat(powers_[k]), power_before = splat(powers_[k - 1]);
      for (int s = 0; s < streams; ++s) {
        SimdDouble& here = y[at(k)].at[s];
        here = multiply_add(power, missing.at[s], here);
        leaving.at[s] = multiply_add(power_before, last.at[s] - here, leaving.at[s]);
        last.at[s] = here;
      }
    }
    entering_z_ = carry_in<!forward>(leaving);
    entering_y_ = carry_in<!forward>(missing);
  }
  if constexpr (kind == Sweep::middle) {
    for (int s = 0; s < streams; ++s) {
      reference_value_.at[s] =
          multiply_add(drift, as_the_last ? first_way.at[s] : last_way.at[s], reference_value_.at[s]);
    }
  }
}

}  // namespace bathline
