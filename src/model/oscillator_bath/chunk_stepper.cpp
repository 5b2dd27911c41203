// Bath oscillators through the substeps of an explicit scheme.
#include "model/oscillator_bath/chunk_stepper.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

namespace bathline {

namespace {

/// From this number of steps on `free_response_one_kick` is faster than `run_splitting`.
constexpr std::size_t min_steps_one_kick = 4;

}  // namespace

/// The partial sums of one substep, in registers.
struct OscillatorChunkStepper::PartialSums {
  static constexpr int size = sums / simd_width;
  SimdDouble value[size];

  explicit PartialSums(const double* from) {
    for (int i = 0; i < size; ++i) value[i] = load(from + i * simd_width);
  }
  /// Adds register r of a group.
  void add(int r, SimdDouble x) { value[r % size] += x; }
  void add_product(int r, SimdDouble x, SimdDouble y) { value[r % size] = multiply_add(x, y, value[r % size]); }
  void store_to(double* to) const {
    for (int i = 0; i < size; ++i) store(value[i], to + i * simd_width);
  }
};

OscillatorChunkStepper::OscillatorChunkStepper(const ExplicitScheme& scheme, double h)
    : scheme_(scheme), h_(h), strength_(scheme.substeps.size()), stages_(scheme.b.size()) {
  std::size_t kicks = 0;
  for (std::size_t i = 0; i < scheme.substeps.size(); ++i) {
    if (!is_kick(i)) continue;
    single_kick_ = i;
    ++kicks;
  }
  if (kicks != 1) single_kick_.reset();
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
  const std::size_t free_response_steps = pulls.size() / scheme_.substeps.size();
  sums_.assign(pulls.size() * sums, 0.0);
  for_each_group(count, w, p, stiffness, inverse_mass,
                 [&](double* group_w, double* group_p, const double* group_stiffness, const double* group_inverse,
                     auto register_count) {
                   constexpr int registers = register_count;
                   set_strength<registers>(group_stiffness, group_inverse);
                   Group<registers> at_w, at_p;
                   for (int r = 0; r < registers; ++r) {
                     at_w.value[r] = load(group_w + r * simd_width);
                     at_p.value[r] = load(group_p + r * simd_width);
                   }
                   if (!heads.empty()) {
                     run_splitting<false>(heads, at_w, at_p, nullptr);
                     for (int r = 0; r < registers; ++r) {
                       store(at_w.value[r], group_w + r * simd_width);
                       store(at_p.value[r], group_p + r * simd_width);
                     }
                   }
                   if (pulls.empty()) return;
                   if (single_kick_ && free_response_steps >= min_steps_one_kick) {
                     free_response_one_kick(free_response_steps, at_w, at_p, group_stiffness);
                   } else {
                     run_splitting<true>(zero_input_, at_w, at_p, group_stiffness);
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
                   run_splitting<true>(heads, w, p, group_stiffness);
                 });
  add_sums(pulls);
}

double OscillatorChunkStepper::pairwise_sum(const double* part) {
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
  return pairwise_sum(all);
}

template <int registers, class Work>
void OscillatorChunkStepper::for_each_group_of(int count, double* w, double* p, const double* stiffness,
                                               const double* inverse_mass, Work work) {
  constexpr int group = registers * simd_width;
  constexpr std::integral_constant<int, registers> register_count;
  int j = 0;
  for (; j + group <= count; j += group) work(w + j, p + j, stiffness + j, inverse_mass + j, register_count);
  if (j == count) return;
  // The last group is padded with oscillators of zero stiffness and inverse mass.
  std::array<double, group> rest_w{}, rest_p{}, rest_stiffness{}, rest_inverse{};
  std::copy_n(w + j, count - j, rest_w.data());
  std::copy_n(p + j, count - j, rest_p.data());
  std::copy_n(stiffness + j, count - j, rest_stiffness.data());
  std::copy_n(inverse_mass + j, count - j, rest_inverse.data());
  work(rest_w.data(), rest_p.data(), rest_stiffness.data(), rest_inverse.data(), register_count);
  std::copy_n(rest_w.data(), count - j, w + j);
  std::copy_n(rest_p.data(), count - j, p + j);
}

/// The order of the sums does not depend on the size of the groups.
template <class Work>
void OscillatorChunkStepper::for_each_group(int count, double* w, double* p, const double* stiffness,
                                            const double* inverse_mass, Work work) {
  constexpr int min_registers = sums / simd_width;  // of a group, as its partial sums fill these
  const auto groups = [count](int size) { return (count + size * simd_width - 1) / (size * simd_width); };
  const auto run = [&](auto registers) { for_each_group_of<registers>(count, w, p, stiffness, inverse_mass, work); };
  // The smallest group size that still gives the fewest groups.
  const auto choose = [&](auto self, auto registers) {
    if constexpr (registers > min_registers) {
      constexpr std::integral_constant<int, registers - min_registers> smaller;
      if (groups(smaller) == groups(max_registers)) return self(self, smaller);
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
    for (int r = 0; r < registers; ++r) strength_[i].value[r] = weighted * load(factor + r * simd_width);
  }
}

void OscillatorChunkStepper::add_sums(std::span<double> pulls) {
  for (std::size_t i = 0; i < pulls.size(); ++i) pulls[i] += pairwise_sum(sums_.data() + i * sums);
}

template <bool has_free_response, int registers>
[[gnu::always_inline]] inline void OscillatorChunkStepper::run_splitting(std::span<const double> heads,
                                                                         Group<registers>& w, Group<registers>& p,
                                                                         const double* stiffness) {
  double* sum = sums_.data();
  for (std::size_t index = 0; index < heads.size();) {
    for (std::size_t i = 0; i < scheme_.substeps.size(); ++i, ++index, sum += sums) {
      const bool kicks = is_kick(i);
      if (has_free_response && (kicks || index == 0)) {
        PartialSums part(sum);
        for (int r = 0; r < registers; ++r) part.add_product(r, load(stiffness + r * simd_width), w.value[r]);
        part.store_to(sum);
      }
      const SimdDouble* strength = strength_[i].value;
      if (kicks) {
        const SimdDouble head = splat(heads[index]);
        for (int r = 0; r < registers; ++r) p.value[r] = multiply_add(strength[r], head - w.value[r], p.value[r]);
      } else {
        for (int r = 0; r < registers; ++r) w.value[r] = multiply_add(strength[r], p.value[r], w.value[r]);
      }
    }
  }
}

template <int registers>
[[gnu::always_inline]] inline void OscillatorChunkStepper::free_response_one_kick(std::size_t steps,
                                                                                  const Group<registers>& w,
                                                                                  const Group<registers>& p,
                                                                                  const double* stiffness) {
  const std::size_t substeps = scheme_.substeps.size(), kick_index = *single_kick_;
  const SimdDouble* kick = strength_[kick_index].value;
  double* sum = sums_.data() + kick_index * sums;
  Group<registers> pull = w, drift{}, rise, rise_factor;
  for (std::size_t i = 0; i < substeps; ++i) {
    if (i == kick_index) continue;
    for (int r = 0; r < registers; ++r) {
      if (i < kick_index) pull.value[r] = multiply_add(strength_[i].value[r], p.value[r], pull.value[r]);
      drift.value[r] += strength_[i].value[r];
    }
  }
  if (kick_index > 0) {
    PartialSums start(sums_.data());
    for (int r = 0; r < registers; ++r) start.add_product(r, load(stiffness + r * simd_width), w.value[r]);
    start.store_to(sums_.data());
  }
  for (int r = 0; r < registers; ++r) {
    const SimdDouble k = load(stiffness + r * simd_width);
    rise_factor.value[r] = -drift.value[r] * kick[r];
    rise.value[r] = k * drift.value[r] * multiply_add(kick[r], -pull.value[r], p.value[r]);
    pull.value[r] *= k;
  }
  for (std::size_t step = 0; step < steps; ++step, sum += substeps * sums) {
    PartialSums part(sum);
    for (int r = 0; r < registers; ++r) part.add(r, pull.value[r]);
    part.store_to(sum);
    for (int r = 0; r < registers; ++r) {
      pull.value[r] += rise.value[r];
      rise.value[r] = multiply_add(rise_factor.value[r], pull.value[r], rise.value[r]);
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
