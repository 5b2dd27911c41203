// Bath oscillators through the substeps of an explicit scheme.
#include "model/oscillator_bath/chunk_stepper.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

namespace bathline {

namespace {

/// Steps from which on the preparation of `free_response_one_kick` pays.
constexpr std::size_t worthwhile = 4;

}  // namespace

/// Of one substep, in registers.
struct OscillatorChunkStepper::PartialSums {
  static constexpr int size = sums / simd_width;
  SimdDouble at[size];

  explicit PartialSums(const double* from) {
    for (int i = 0; i < size; ++i) at[i] = load(from + i * simd_width);
  }
  /// Of register r of a group.
  void add(int r, SimdDouble x) { at[r % size] += x; }
  void add_product(int r, SimdDouble x, SimdDouble y) { at[r % size] = multiply_add(x, y, at[r % size]); }
  void store_to(double* to) const {
    for (int i = 0; i < size; ++i) store(at[i], to + i * simd_width);
  }
};

OscillatorChunkStepper::OscillatorChunkStepper(const ExplicitScheme& scheme, double h)
    : scheme_(scheme), h_(h), strength_(scheme.substeps.size()), stages_(scheme.b.size()) {
  std::size_t kicks = 0;
  for (std::size_t i = 0; i < scheme.substeps.size(); ++i) {
    if (!is_kick(i)) continue;
    only_kick_ = i;
    ++kicks;
  }
  if (kicks != 1) only_kick_.reset();
}

void OscillatorChunkStepper::advance_block(std::span<const double> heads, int count, double* w, double* p,
                                           const double* stiffness, const double* inverse_mass,
                                           std::span<double> pulls) {
  zero_input_.resize(pulls.size());
  if (!scheme_.b.empty()) {
    run_stages(heads, count, w, p, stiffness, inverse_mass, {});
    if (pulls.empty()) return;
    std::copy_n(w, count, copy_w_.data());
    std::copy_n(p, count, copy_p_.data());
    run_stages(zero_input_, count, copy_w_.data(), copy_p_.data(), stiffness, inverse_mass, pulls);
    return;
  }
  const std::size_t forecast_steps = pulls.size() / scheme_.substeps.size();
  sums_.assign(pulls.size() * sums, 0.0);
  for_each_group(
      count, w, p, stiffness, inverse_mass,
      [&](double* group_w, double* group_p, const double* group_stiffness, const double* group_inverse, auto known) {
        constexpr int registers = known;
        set_strength<registers>(group_stiffness, group_inverse);
        Group<registers> at_w, at_p;
        for (int r = 0; r < registers; ++r) {
          at_w.at[r] = load(group_w + r * simd_width);
          at_p.at[r] = load(group_p + r * simd_width);
        }
        if (!heads.empty()) {
          split_steps<false>(heads, at_w, at_p, nullptr);
          for (int r = 0; r < registers; ++r) {
            store(at_w.at[r], group_w + r * simd_width);
            store(at_p.at[r], group_p + r * simd_width);
          }
        }
        if (pulls.empty()) return;
        if (only_kick_ && forecast_steps >= worthwhile) {
          free_response_one_kick(forecast_steps, at_w, at_p, group_stiffness);
        } else {
          split_steps<true>(zero_input_, at_w, at_p, group_stiffness);
        }
      });
  add_sums(pulls);
}

void OscillatorChunkStepper::impulse_response(std::span<const double> heads, int count, const double* stiffness,
                                              const double* inverse_mass, std::span<double> pulls) {
  std::fill_n(copy_w_.data(), count, 0.0);
  std::fill_n(copy_p_.data(), count, 0.0);
  if (!scheme_.b.empty()) {
    run_stages(heads, count, copy_w_.data(), copy_p_.data(), stiffness, inverse_mass, pulls);
    return;
  }
  sums_.assign(pulls.size() * sums, 0.0);
  for_each_group(count, copy_w_.data(), copy_p_.data(), stiffness, inverse_mass,
                 [&](double*, double*, const double* group_stiffness, const double* group_inverse, auto registers) {
                   set_strength<registers>(group_stiffness, group_inverse);
                   Group<registers> w{}, p{};
                   split_steps<true>(heads, w, p, group_stiffness);
                 });
  add_sums(pulls);
}

double OscillatorChunkStepper::added(const double* part) {
  return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
}

double OscillatorChunkStepper::pull(int count, const double* stiffness, const double* w) {
  SimdDouble part[sums / simd_width] = {};
  int j = 0;
  for (; j + sums <= count; j += sums) {
    for (int i = 0; i < sums / simd_width; ++i) {
      part[i] = multiply_add(load(stiffness + j + i * simd_width), load(w + j + i * simd_width), part[i]);
    }
  }
  double all[sums];
  for (int i = 0; i < sums / simd_width; ++i) store(part[i], all + i * simd_width);
  for (int i = 0; j < count; ++i, ++j) all[i] = std::fma(stiffness[j], w[j], all[i]);
  return added(all);
}

template <int registers, class Work>
void OscillatorChunkStepper::for_each_group_of(int count, double* w, double* p, const double* stiffness,
                                               const double* inverse_mass, Work work) {
  constexpr int group = registers * simd_width;
  constexpr std::integral_constant<int, registers> known;
  int j = 0;
  for (; j + group <= count; j += group) work(w + j, p + j, stiffness + j, inverse_mass + j, known);
  if (j == count) return;
  // Oscillators without mass and spring fill up the last group.
  std::array<double, group> rest_w{}, rest_p{}, rest_stiffness{}, rest_inverse{};
  std::copy_n(w + j, count - j, rest_w.data());
  std::copy_n(p + j, count - j, rest_p.data());
  std::copy_n(stiffness + j, count - j, rest_stiffness.data());
  std::copy_n(inverse_mass + j, count - j, rest_inverse.data());
  work(rest_w.data(), rest_p.data(), rest_stiffness.data(), rest_inverse.data(), known);
  std::copy_n(rest_w.data(), count - j, w + j);
  std::copy_n(rest_p.data(), count - j, p + j);
}

/// The sums' order is that of the oscillators, whatever the groups.
template <class Work>
void OscillatorChunkStepper::for_each_group(int count, double* w, double* p, const double* stiffness,
                                            const double* inverse_mass, Work work) {
  constexpr int least = sums / simd_width;  // registers that sums of a group need
  const auto pieces = [count](int size) { return (count + size * simd_width - 1) / (size * simd_width); };
  const auto run = [&](auto registers) { for_each_group_of<registers>(count, w, p, stiffness, inverse_mass, work); };
  // As few groups as there can be, and then as small ones as these can be.
  const auto choose = [&](auto self, auto registers) {
    if constexpr (registers > least) {
      constexpr std::integral_constant<int, registers - least> smaller;
      if (pieces(smaller) == pieces(max_registers)) return self(self, smaller);
    }
    run(registers);
  };
  choose(choose, std::integral_constant<int, max_registers>());
}

template <int registers>
void OscillatorChunkStepper::set_strength(const double* stiffness, const double* inverse_mass) {
  for (std::size_t i = 0; i < scheme_.substeps.size(); ++i) {
    const double* factor = is_kick(i) ? stiffness : inverse_mass;
    const SimdDouble weighted = splat(scheme_.substeps[i].weight * h_);
    for (int r = 0; r < registers; ++r) strength_[i].at[r] = weighted * load(factor + r * simd_width);
  }
}

void OscillatorChunkStepper::add_sums(std::span<double> pulls) {
  for (std::size_t i = 0; i < pulls.size(); ++i) pulls[i] += added(sums_.data() + i * sums);
}

template <bool has_free_response, int registers>
[[gnu::always_inline]] inline void OscillatorChunkStepper::split_steps(std::span<const double> heads,
                                                                       Group<registers>& w, Group<registers>& p,
                                                                       const double* stiffness) {
  double* sum = sums_.data();
  for (std::size_t index = 0; index < heads.size();) {
    for (std::size_t i = 0; i < scheme_.substeps.size(); ++i, ++index, sum += sums) {
      const bool kicks = is_kick(i);
      if (has_free_response && (kicks || index == 0)) {
        PartialSums part(sum);
        for (int r = 0; r < registers; ++r) part.add_product(r, load(stiffness + r * simd_width), w.at[r]);
        part.store_to(sum);
      }
      const SimdDouble* strength = strength_[i].at;
      if (kicks) {
        const SimdDouble head = splat(heads[index]);
        for (int r = 0; r < registers; ++r) p.at[r] = multiply_add(strength[r], head - w.at[r], p.at[r]);
      } else {
        for (int r = 0; r < registers; ++r) w.at[r] = multiply_add(strength[r], p.at[r], w.at[r]);
      }
    }
  }
}

template <int registers>
[[gnu::always_inline]] inline void OscillatorChunkStepper::free_response_one_kick(std::size_t steps,
                                                                                  const Group<registers>& w,
                                                                                  const Group<registers>& p,
                                                                                  const double* stiffness) {
  const std::size_t substeps = scheme_.substeps.size(), only_kick = *only_kick_;
  const SimdDouble* kick = strength_[only_kick].at;
  double* sum = sums_.data() + only_kick * sums;
  Group<registers> pull = w, drift{}, rise, weaken;
  for (std::size_t i = 0; i < substeps; ++i) {
    if (i == only_kick) continue;
    for (int r = 0; r < registers; ++r) {
      if (i < only_kick) pull.at[r] = multiply_add(strength_[i].at[r], p.at[r], pull.at[r]);
      drift.at[r] += strength_[i].at[r];
    }
  }
  if (only_kick > 0) {
    PartialSums start(sums_.data());
    for (int r = 0; r < registers; ++r) start.add_product(r, load(stiffness + r * simd_width), w.at[r]);
    start.store_to(sums_.data());
  }
  for (int r = 0; r < registers; ++r) {
    const SimdDouble k = load(stiffness + r * simd_width);
    weaken.at[r] = -drift.at[r] * kick[r];
    rise.at[r] = k * drift.at[r] * multiply_add(kick[r], -pull.at[r], p.at[r]);
    pull.at[r] *= k;
  }
  for (std::size_t step = 0; step < steps; ++step, sum += substeps * sums) {
    PartialSums part(sum);
    for (int r = 0; r < registers; ++r) part.add(r, pull.at[r]);
    part.store_to(sum);
    for (int r = 0; r < registers; ++r) {
      pull.at[r] += rise.at[r];
      rise.at[r] = multiply_add(weaken.at[r], pull.at[r], rise.at[r]);
    }
  }
}

void OscillatorChunkStepper::run_stages(std::span<const double> heads, int count, double* w, double* p,
                                        const double* stiffness, const double* inverse_mass, std::span<double> pulls) {
  for (std::size_t index = 0; index < heads.size(); ++index) {
    const Substep& substep = scheme_.substeps[index % scheme_.substeps.size()];
    if (!pulls.empty()) pulls[index] += pull(count, stiffness, substep.stage > 0 ? stage_w_.data() : w);
    stage(substep, heads[index], count, w, p, stiffness, inverse_mass);
  }
}

void OscillatorChunkStepper::stage(const Substep& substep, double head, int count, double* w, double* p,
                                   const double* stiffness, const double* inverse_mass) {
  const std::size_t s = static_cast<std::size_t>(substep.stage);
  const double* at_w = s == 0 ? w : stage_w_.data();
  const double* at_p = s == 0 ? p : stage_p_.data();
  for (int j = 0; j < count; ++j) {
    stages_[s].velocity[j] = at_p[j] * inverse_mass[j];
    stages_[s].force[j] = stiffness[j] * (head - at_w[j]);
  }
  const bool last = s + 1 == scheme_.b.size();
  const std::vector<double>& weights = last ? scheme_.b : scheme_.a[s + 1];
  double* to_w = last ? w : stage_w_.data();
  double* to_p = last ? p : stage_p_.data();
  if (!last) {
    std::copy_n(w, count, to_w);
    std::copy_n(p, count, to_p);
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double weighted = h_ * weights[i];
    for (int j = 0; j < count; ++j) {
      to_w[j] = std::fma(weighted, stages_[i].velocity[j], to_w[j]);
      to_p[j] = std::fma(weighted, stages_[i].force[j], to_p[j]);
    }
  }
}

}  // namespace bathline
