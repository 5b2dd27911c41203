// A whole uniform line in cache, taken through implicit steps exactly.
// Tested by tests/model/line/implicit/in_cache_stepper_test.cpp.
#include "model/line/implicit/lane_partitioned_modes.hpp"

#include <cmath>

namespace bathline {

namespace {

using Complex = std::complex<double>;

/// Numbers of a mode, the same in all lanes.
template <class Modes>
void put_everywhere(Modes& to, int pairs, int mode, Complex x) {
  if (mode < pairs) {
    to.of[2 * mode] = splat(x.real());
    to.of[2 * mode + 1] = splat(x.imag());
  } else {
    to.of[pairs + mode] = splat(x.real());
  }
}

}  // namespace

template <int pairs, int singles, int streams>
LanePartitionedModes<pairs, singles, streams>::LanePartitionedModes(const LineRecursion& recursion,
                                                                    const LineConstants& line, std::int64_t count)
    : parts_(count, 1),
      far_end_(line.far_end),
      decay_length_(recursion.decay_length()),
      end_(last_part_of(count)),
      drift_(recursion.drift),
      factors_(recursion),
      w_(static_cast<std::size_t>(parts_.part)),
      p_(w_.size()),
      q_(stages, Field(w_.size())),
      powers_(static_cast<std::size_t>((decay_length_ + parts_.part - end_) * streams)) {
  const std::int64_t pads = parts_.part - end_;
  Map decays = Map::Zero();
  for (int m = 0; m < pairs + singles; ++m) {
    const auto at = static_cast<std::size_t>(m < pairs ? m : m - pairs);
    const LineRecursion::Mode& mode = m < pairs ? recursion.pairs[at] : recursion.singles[at];
    const int i = m < pairs ? 2 * m : pairs + m;
    const Complex r = mode.pole, rest = 1.0 - r * r;
    decays(i, i) = r.real();
    if constexpr (pairs > 0) {
      if (m < pairs) decays.template block<2, 2>(i, i) << r.real(), -r.imag(), r.imag(), r.real();
    }
    for (int s = 0; s < stages; ++s) {
      const auto stage = static_cast<std::size_t>(s);
      to_stages_(s, i) = mode.to_stages[stage].real();
      from_velocities_(i, s) = mode.from_velocities[stage].real();
      if (m >= pairs) continue;
      to_stages_(s, i + 1) = -mode.to_stages[stage].imag();
      from_velocities_(i + 1, s) = mode.from_velocities[stage].imag();
    }
    Complex more = r;  // d/c
    if (line.far_end != FarEnd::fixed) more -= 1.0;
    if (line.far_end == FarEnd::matched) {
      const double damped = line.dashpot / (line.stiffness * line.mass * mode.input_momentum_weight.real());
      more += damped;
      pull_ = damped * recursion.drift / mode.displacement_weight.real();
      loss_ = recursion.drift * line.dashpot / line.mass;
      last_change_ = mode.to_stages.front().real();
    }
    put_everywhere(by_last_, pairs, m, -more * rest / (rest + more * r));
    put_everywhere(to_entering_, pairs, m, 1.0 / rest);
    Complex power = 1.0;
    for (std::int64_t k = 0; k < decay_length_ + pads; ++k) {
      for (int s = 0; s < streams; ++s) {
        put_everywhere(powers_[static_cast<std::size_t>(k * streams + s)], pairs, m, power);
      }
      power *= r;
    }
  }
  for (int i = 0; i < stages; ++i) {
    for (int lane = 0; lane < last_lane; ++lane) by_last_.of[i][lane] = 0.0;
    // The last lane ends earlier than the others.
    const auto powers = [&](std::int64_t k) -> auto& {
      return powers_[static_cast<std::size_t>(k * streams + last_stream)].of[i];
    };
    for (std::int64_t k = decay_length_ + pads; k-- > 0;) {
      powers(k)[last_lane] = k >= pads ? powers(k - pads)[last_lane] : 0.0;
    }
  }
  slope_ = to_stages_ * decays * from_velocities_ / line.mass;
}

template <int pairs, int singles, int streams>
void LanePartitionedModes<pairs, singles, streams>::load(const double* w, const double* p, double dissipated) {
  parts_.pack(w, w_.data());
  parts_.pack(p, p_.data());
  for (std::int64_t k = end_; k < parts_.part; ++k) {
    w_[k].at[last_stream][last_lane] = 0.0;
    p_[k].at[last_stream][last_lane] = 0.0;
  }
  dissipated_ = dissipated;
}

template <int pairs, int singles, int streams>
void LanePartitionedModes<pairs, singles, streams>::store(double* w, double* p) const {
  parts_.unpack(w_.data(), 0, parts_.count, w);
  parts_.unpack(p_.data(), 0, parts_.count, p);
}

template <int pairs, int singles, int streams>
template <bool forward>
[[gnu::always_inline]] inline void LanePartitionedModes<pairs, singles, streams>::carry_over(
    Modes (&of_streams)[streams]) {
  for (int i = 0; i < stages; ++i) {
    Register x;
    for (int s = 0; s < streams; ++s) x.at[s] = of_streams[s].of[i];
    x = carry_in<forward>(x);
    for (int s = 0; s < streams; ++s) of_streams[s].of[i] = x.at[s];
  }
}

template <int pairs, int singles, int streams>
[[gnu::always_inline]] inline void LanePartitionedModes<pairs, singles, streams>::close_far_end(Modes& state,
                                                                                                Modes& behind) const {
  // Room that is left over is at rest, as a fixed end is.
  for (int i = 0; i < stages; ++i) {
    state.of[i][last_lane] = 0.0;
    if (far_end_ != FarEnd::fixed) behind.of[i][last_lane] = 0.0;
  }
  if (far_end_ == FarEnd::matched) {
    state.of[0][last_lane] = pull_ * p_[static_cast<std::size_t>(end_ - 1)].at[last_stream][last_lane];
  }
}

template <int pairs, int singles, int streams>
[[gnu::noinline]] auto LanePartitionedModes<pairs, singles, streams>::eliminate(double head) -> Numbers {
  const Factors factors = factors_;
  const Register* __restrict w = w_.data();
  const Register* __restrict p = p_.data();
  const Modes* __restrict powers = powers_.data();
  Register* __restrict q[stages];
  for (int i = 0; i < stages; ++i) q[i] = q_[static_cast<std::size_t>(i)].data();
  const std::int64_t part = parts_.part;
  Register before_w = carry_in<true>(w[part - 1]);
  const Register before_p = carry_in<true>(p[part - 1]);
  before_w.at[0][0] = head;
  const Register behind_w = carry_in<false>(w[0]), behind_p = carry_in<false>(p[0]);
  // Registers one by one: the compiler would copy several together through memory.
  SimdDouble here_w[streams], here_p[streams];
  Modes behind[streams], state[streams], last[streams];
  for (int s = 0; s < streams; ++s) {
    for (int i = 0; i < stages; ++i) state[s].of[i] = last[s].of[i] = SimdDouble{};
    here_w[s] = w[part - 1].at[s];
    here_p[s] = p[part - 1].at[s];
    behind[s] = factors.input_change(behind_w.at[s] - here_w[s], behind_p.at[s] - here_p[s]);
  }
  const auto turn = [&](std::int64_t k, const Register& next_w, const Register& next_p) __attribute__((always_inline)) {
    for (int s = 0; s < streams; ++s) {
      const SimdDouble before_here_w = next_w.at[s], before_here_p = next_p.at[s];
      const Modes y = factors.input_change(here_w[s] - before_here_w, here_p[s] - before_here_p);
      Modes input;
      for (int i = 0; i < stages; ++i) input.of[i] = y.of[i] - behind[s].of[i];
      factors.filter(state[s], input);
      for (int i = 0; i < stages; ++i) {
        q[i][k].at[s] = state[s].of[i];
        behind[s].of[i] = y.of[i];
      }
      here_w[s] = before_here_w;
      here_p[s] = before_here_p;
    }
  };
  const auto turn_near_the_end = [&](std::int64_t k) __attribute__((always_inline)) {
    turn(k, w[k - 1], p[k - 1]);
    for (int s = 0; s < streams; ++s) Factors::add_product(last[s], powers[(part - 1 - k) * streams + s], state[s]);
  };
  for (std::int64_t k = part - 1; k >= end_; --k) turn_near_the_end(k);
  for (int i = 0; i < stages && end_ < part; ++i) q[i][end_].at[last_stream][last_lane] = 0.0;
  close_far_end(state[last_stream], behind[last_stream]);
  for (std::int64_t k = end_ - 1; k >= end_ - decay_length_; --k) turn_near_the_end(k);
#pragma GCC unroll 2
  for (std::int64_t k = end_ - decay_length_ - 1; k > 0; --k) turn(k, w[k - 1], p[k - 1]);
  turn(0, before_w, before_p);
  find_carry_corrections(state, last);
  Numbers first;
  for (int i = 0; i < stages; ++i) first[i] = state[0].of[i][0];
  return to_stages_ * first;
}

/// From `first`, the q of the first sites of the parts, and `last`, z of the last ones as if nothing came from behind.
template <int pairs, int singles, int streams>
[[gnu::always_inline]] inline void LanePartitionedModes<pairs, singles, streams>::find_carry_corrections(
    const Modes (&first)[streams], Modes (&last)[streams]) {
  Modes behind[streams], nothing;
  for (int i = 0; i < stages; ++i) {
    nothing.of[i] = SimdDouble{};
    for (int s = 0; s < streams; ++s) behind[s].of[i] = first[s].of[i];
  }
  carry_over<false>(behind);
  Factors::add_product(behind[last_stream], by_last_, last[last_stream]);
  for (int s = 0; s < streams; ++s) {
    factors_.filter(behind[s], nothing);
    carry_corrections_[s] = behind[s];
    Factors::add_product(last[s], to_entering_, carry_corrections_[s]);
  }
  carry_over<true>(last);
  for (int s = 0; s < streams; ++s) entering_[s] = last[s];
}

template <int pairs, int singles, int streams>
[[gnu::noinline]] void LanePartitionedModes<pairs, singles, streams>::substitute(const Numbers& head_velocities) {
  const Factors factors = factors_;
  Register* __restrict w = w_.data();
  Register* __restrict p = p_.data();
  const Modes* __restrict powers = powers_.data();
  const Register* __restrict q[stages];
  for (int i = 0; i < stages; ++i) q[i] = q_[static_cast<std::size_t>(i)].data();
  const std::int64_t part = parts_.part, inside = end_ - decay_length_;
  const SimdDouble drift = splat(drift_);
  const Numbers of_head = from_velocities_ * head_velocities;
  Modes z[streams], missing[streams];
  for (int s = 0; s < streams; ++s) {
    z[s] = entering_[s];
    missing[s] = carry_corrections_[s];
  }
  for (int i = 0; i < stages; ++i) z[0].of[i][0] = of_head[i];
  const auto move = [&](std::int64_t k, int s, const Modes& input) __attribute__((always_inline)) {
    factors.filter(z[s], input);
    const SimdDouble momentum = p[k].at[s];
    w[k].at[s] = Factors::add(multiply_add(drift, momentum, w[k].at[s]), factors.displacement_weight, z[s]);
    p[k].at[s] = Factors::add(momentum, factors.momentum_weight, z[s]);
  };
  const auto turn = [&](std::int64_t k) __attribute__((always_inline)) {
    for (int s = 0; s < streams; ++s) {
      Modes input;
      for (int i = 0; i < stages; ++i) input.of[i] = q[i][k].at[s];
      move(k, s, input);
    }
  };
  const auto turn_near_the_end = [&](std::int64_t k) __attribute__((always_inline)) {
    for (int s = 0; s < streams; ++s) {
      Modes input;
      for (int i = 0; i < stages; ++i) input.of[i] = q[i][k].at[s];
      Factors::add_product(input, powers[(part - 1 - k) * streams + s], missing[s]);
      move(k, s, input);
    }
  };
  const double last_momentum = p[end_ - 1].at[last_stream][last_lane];
#pragma GCC unroll 2
  for (std::int64_t k = 0; k < inside; ++k) turn(k);
  for (std::int64_t k = inside; k < end_; ++k) turn_near_the_end(k);
  if (far_end_ == FarEnd::matched) {
    const double momentum = std::fma(last_change_, z[last_stream].of[0][last_lane], last_momentum);
    dissipated_ += loss_ * momentum * momentum;
  }
  for (int i = 0; i < stages; ++i) z[last_stream].of[i][last_lane] = 0.0;
  for (std::int64_t k = end_; k < part; ++k) turn_near_the_end(k);
}

template class LanePartitionedModes<0, 1, 1>;
template class LanePartitionedModes<0, 1, 2>;
template class LanePartitionedModes<0, 1, 3>;
template class LanePartitionedModes<1, 0, 1>;
template class LanePartitionedModes<1, 0, 2>;

}  // namespace bathline
