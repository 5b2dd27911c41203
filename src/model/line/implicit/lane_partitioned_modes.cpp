// Implicit steps of a whole uniform line in cache.
// Tested by tests/model/line/implicit/in_cache_stepper_test.cpp.
#include "model/line/implicit/lane_partitioned_modes.hpp"

#include <cmath>

namespace bathline {

namespace {

using Complex = std::complex<double>;

/// Sets the values of a mode to x in all lanes.
template <class Modes>
void set_all_lanes(Modes& to, int pairs, int mode, Complex x) {
  if (mode < pairs) {
    to.value[2 * mode] = splat(x.real());
    to.value[2 * mode + 1] = splat(x.imag());
  } else {
    to.value[pairs + mode] = splat(x.real());
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
  const std::int64_t padding = parts_.part - end_;
  Map decays = Map::Zero();
  for (int m = 0; m < pairs + singles; ++m) {
    const auto index = static_cast<std::size_t>(m < pairs ? m : m - pairs);
    const LineRecursion::Mode& mode = m < pairs ? recursion.pairs[index] : recursion.singles[index];
    const int i = m < pairs ? 2 * m : pairs + m;
    const Complex r = mode.pole, rest = 1.0 - r * r;
    decays(i, i) = r.real();
    if constexpr (pairs > 0) {
      if (m < pairs) decays.template block<2, 2>(i, i) << r.real(), -r.imag(), r.imag(), r.real();
    }
    for (int s = 0; s < stages; ++s) {
      const auto stage = static_cast<std::size_t>(s);
      stage_weights_(s, i) = mode.stage_weights[stage].real();
      velocity_weights_(i, s) = mode.velocity_weights[stage].real();
      if (m >= pairs) continue;
      stage_weights_(s, i + 1) = -mode.stage_weights[stage].imag();
      velocity_weights_(i + 1, s) = mode.velocity_weights[stage].imag();
    }
    Complex excess = r;  // d/c
    if (line.far_end != FarEnd::fixed) excess -= 1.0;
    if (line.far_end == FarEnd::matched) {
      const double dashpot = line.dashpot / (line.stiffness * line.mass * mode.input_momentum_weight.real());
      excess += dashpot;
      dashpot_input_ = dashpot * recursion.drift / mode.displacement_weight.real();
      loss_factor_ = recursion.drift * line.dashpot / line.mass;
      last_stage_weight_ = mode.stage_weights.front().real();
    }
    set_all_lanes(far_end_weights_, pairs, m, -excess * rest / (rest + excess * r));
    set_all_lanes(entering_weights_, pairs, m, 1.0 / rest);
    Complex power = 1.0;
    for (std::int64_t k = 0; k < decay_length_ + padding; ++k) {
      for (int s = 0; s < streams; ++s) {
        set_all_lanes(powers_[static_cast<std::size_t>(k * streams + s)], pairs, m, power);
      }
      power *= r;
    }
  }
  for (int i = 0; i < stages; ++i) {
    for (int lane = 0; lane < last_lane; ++lane) far_end_weights_.value[i][lane] = 0.0;
    // The last lane ends before the others.
    const auto powers = [&](std::int64_t k) -> auto& {
      return powers_[static_cast<std::size_t>(k * streams + last_stream)].value[i];
    };
    for (std::int64_t k = decay_length_ + padding; k-- > 0;) {
      powers(k)[last_lane] = k >= padding ? powers(k - padding)[last_lane] : 0.0;
    }
  }
  slope_ = stage_weights_ * decays * velocity_weights_ / line.mass;
}

template <int pairs, int singles, int streams>
void LanePartitionedModes<pairs, singles, streams>::load(const double* w, const double* p, double dissipated) {
  parts_.pack(w, w_.data());
  parts_.pack(p, p_.data());
  for (std::int64_t k = end_; k < parts_.part; ++k) {
    w_[k].value[last_stream][last_lane] = 0.0;
    p_[k].value[last_stream][last_lane] = 0.0;
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
[[gnu::always_inline]] inline void LanePartitionedModes<pairs, singles, streams>::carry_over(Modes (&modes)[streams]) {
  for (int i = 0; i < stages; ++i) {
    Register x;
    for (int s = 0; s < streams; ++s) x.value[s] = modes[s].value[i];
    x = carry_in<forward>(x);
    for (int s = 0; s < streams; ++s) modes[s].value[i] = x.value[s];
  }
}

template <int pairs, int singles, int streams>
[[gnu::always_inline]] inline void LanePartitionedModes<pairs, singles, streams>::close_far_end(Modes& state,
                                                                                                Modes& behind) const {
  // Padding is at rest, as a fixed end is.
  for (int i = 0; i < stages; ++i) {
    state.value[i][last_lane] = 0.0;
    if (far_end_ != FarEnd::fixed) behind.value[i][last_lane] = 0.0;
  }
  if (far_end_ == FarEnd::matched) {
    state.value[0][last_lane] = dashpot_input_ * p_[static_cast<std::size_t>(end_ - 1)].value[last_stream][last_lane];
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
  before_w.value[0][0] = head;
  const Register behind_w = carry_in<false>(w[0]), behind_p = carry_in<false>(p[0]);
  // Arrays of single registers, as the compiler would copy structures of them through memory.
  SimdDouble here_w[streams], here_p[streams];
  Modes behind[streams], state[streams], last[streams];
  for (int s = 0; s < streams; ++s) {
    for (int i = 0; i < stages; ++i) state[s].value[i] = last[s].value[i] = SimdDouble{};
    here_w[s] = w[part - 1].value[s];
    here_p[s] = p[part - 1].value[s];
    behind[s] = factors.input_change(behind_w.value[s] - here_w[s], behind_p.value[s] - here_p[s]);
  }
  const auto advance_site = [&](std::int64_t k, const Register& next_w, const Register& next_p)
      __attribute__((always_inline)) {
    for (int s = 0; s < streams; ++s) {
      const SimdDouble before_here_w = next_w.value[s], before_here_p = next_p.value[s];
      const Modes y = factors.input_change(here_w[s] - before_here_w, here_p[s] - before_here_p);
      Modes input;
      for (int i = 0; i < stages; ++i) input.value[i] = y.value[i] - behind[s].value[i];
      factors.filter(state[s], input);
      for (int i = 0; i < stages; ++i) {
        q[i][k].value[s] = state[s].value[i];
        behind[s].value[i] = y.value[i];
      }
      here_w[s] = before_here_w;
      here_p[s] = before_here_p;
    }
  };
  const auto advance_end_site = [&](std::int64_t k) __attribute__((always_inline)) {
    advance_site(k, w[k - 1], p[k - 1]);
    for (int s = 0; s < streams; ++s) Factors::add_product(last[s], powers[(part - 1 - k) * streams + s], state[s]);
  };
  for (std::int64_t k = part - 1; k >= end_; --k) advance_end_site(k);
  for (int i = 0; i < stages && end_ < part; ++i) q[i][end_].value[last_stream][last_lane] = 0.0;
  close_far_end(state[last_stream], behind[last_stream]);
  for (std::int64_t k = end_ - 1; k >= end_ - decay_length_; --k) advance_end_site(k);
#pragma GCC unroll 2
  for (std::int64_t k = end_ - decay_length_ - 1; k > 0; --k) advance_site(k, w[k - 1], p[k - 1]);
  advance_site(0, before_w, before_p);
  find_carry_corrections(state, last);
  Numbers first;
  for (int i = 0; i < stages; ++i) first[i] = state[0].value[i][0];
  return stage_weights_ * first;
}

/// Carries of both recursions, from `first`, q of the first sites of the parts, and `last`, z of the last ones for zero
/// carries.
template <int pairs, int singles, int streams>
[[gnu::always_inline]] inline void LanePartitionedModes<pairs, singles, streams>::find_carry_corrections(
    const Modes (&first)[streams], Modes (&last)[streams]) {
  Modes behind[streams], zero;
  for (int i = 0; i < stages; ++i) {
    zero.value[i] = SimdDouble{};
    for (int s = 0; s < streams; ++s) behind[s].value[i] = first[s].value[i];
  }
  carry_over<false>(behind);
  Factors::add_product(behind[last_stream], far_end_weights_, last[last_stream]);
  for (int s = 0; s < streams; ++s) {
    factors_.filter(behind[s], zero);
    carry_corrections_[s] = behind[s];
    Factors::add_product(last[s], entering_weights_, carry_corrections_[s]);
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
  const Numbers head_modes = velocity_weights_ * head_velocities;
  Modes z[streams], correction[streams];
  for (int s = 0; s < streams; ++s) {
    z[s] = entering_[s];
    correction[s] = carry_corrections_[s];
  }
  for (int i = 0; i < stages; ++i) z[0].value[i][0] = head_modes[i];
  const auto move_site = [&](std::int64_t k, int s, const Modes& input) __attribute__((always_inline)) {
    factors.filter(z[s], input);
    const SimdDouble momentum = p[k].value[s];
    w[k].value[s] = Factors::add(multiply_add(drift, momentum, w[k].value[s]), factors.displacement_weight, z[s]);
    p[k].value[s] = Factors::add(momentum, factors.momentum_weight, z[s]);
  };
  const auto advance_site = [&](std::int64_t k) __attribute__((always_inline)) {
    for (int s = 0; s < streams; ++s) {
      Modes input;
      for (int i = 0; i < stages; ++i) input.value[i] = q[i][k].value[s];
      move_site(k, s, input);
    }
  };
  const auto advance_end_site = [&](std::int64_t k) __attribute__((always_inline)) {
    for (int s = 0; s < streams; ++s) {
      Modes input;
      for (int i = 0; i < stages; ++i) input.value[i] = q[i][k].value[s];
      Factors::add_product(input, powers[(part - 1 - k) * streams + s], correction[s]);
      move_site(k, s, input);
    }
  };
  const double last_momentum = p[end_ - 1].value[last_stream][last_lane];
#pragma GCC unroll 2
  for (std::int64_t k = 0; k < inside; ++k) advance_site(k);
  for (std::int64_t k = inside; k < end_; ++k) advance_end_site(k);
  if (far_end_ == FarEnd::matched) {
    const double momentum = std::fma(last_stage_weight_, z[last_stream].value[0][last_lane], last_momentum);
    dissipated_ += loss_factor_ * momentum * momentum;
  }
  for (int i = 0; i < stages; ++i) z[last_stream].value[i][last_lane] = 0.0;
  for (std::int64_t k = end_; k < part; ++k) advance_end_site(k);
}

template class LanePartitionedModes<0, 1, 1>;
template class LanePartitionedModes<0, 1, 2>;
template class LanePartitionedModes<0, 1, 3>;
template class LanePartitionedModes<1, 0, 1>;
template class LanePartitionedModes<1, 0, 2>;

}  // namespace bathline
