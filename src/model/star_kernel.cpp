// Bath oscillators through the substeps of an explicit scheme.
#include "model/star_kernel.hpp"

#include <algorithm>
#include <array>

namespace bathline {

StarKernel::StarKernel(const ExplicitScheme& scheme, double h)
    : scheme_(scheme), h_(h), strength_(scheme.substeps.size()), stages_(scheme.b.size()) {}

void StarKernel::pass(std::span<const double> heads, std::span<const double> ahead, int count, double* w, double* p,
                      const double* stiffness, const double* inverse_mass, std::span<double> pulls) {
  if (scheme_.b.empty()) {
    split(heads, ahead, count, w, p, stiffness, inverse_mass, pulls);
    return;
  }
  run_stages(heads, count, w, p, stiffness, inverse_mass, {});
  if (ahead.empty()) return;
  std::copy_n(w, count, copy_w_.data());
  std::copy_n(p, count, copy_p_.data());
  run_stages(ahead, count, copy_w_.data(), copy_p_.data(), stiffness, inverse_mass, pulls);
}

double StarKernel::added(const double* part) {
  return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
}

double StarKernel::pull(int count, const double* stiffness, const double* w) {
  Lanes part[sums / lanes] = {};
  int j = 0;
  for (; j + sums <= count; j += sums) {
    for (int i = 0; i < sums / lanes; ++i) {
      part[i] = fused(load(stiffness + j + i * lanes), load(w + j + i * lanes), part[i]);
    }
  }
  double all[sums];
  for (int i = 0; i < sums / lanes; ++i) store(part[i], all + i * lanes);
  for (int i = 0; j < count; ++i, ++j) all[i] = std::fma(stiffness[j], w[j], all[i]);
  return added(all);
}

void StarKernel::split(std::span<const double> heads, std::span<const double> ahead, int count, double* w, double* p,
                       const double* stiffness, const double* inverse_mass, std::span<double> pulls) {
  sums_.assign(pulls.size() * sums, 0.0);
  int j = 0;
  for (; j + group <= count; j += group) {
    split_group(heads, ahead, w + j, p + j, stiffness + j, inverse_mass + j);
  }
  if (j < count) {
    // Oscillators without mass and spring fill up the last group.
    std::array<double, group> rest_w{}, rest_p{}, rest_stiffness{}, rest_inverse{};
    std::copy_n(w + j, count - j, rest_w.data());
    std::copy_n(p + j, count - j, rest_p.data());
    std::copy_n(stiffness + j, count - j, rest_stiffness.data());
    std::copy_n(inverse_mass + j, count - j, rest_inverse.data());
    split_group(heads, ahead, rest_w.data(), rest_p.data(), rest_stiffness.data(), rest_inverse.data());
    std::copy_n(rest_w.data(), count - j, w + j);
    std::copy_n(rest_p.data(), count - j, p + j);
  }
  for (std::size_t i = 0; i < pulls.size(); ++i) pulls[i] += added(sums_.data() + i * sums);
}

void StarKernel::split_group(std::span<const double> heads, std::span<const double> ahead, double* w, double* p,
                             const double* stiffness, const double* inverse_mass) {
  for (std::size_t i = 0; i < scheme_.substeps.size(); ++i) {
    const double* factor = is_kick(i) ? stiffness : inverse_mass;
    const Lanes weighted = Lanes{} + scheme_.substeps[i].weight * h_;
    for (int r = 0; r < registers; ++r) strength_[i].at[r] = weighted * load(factor + r * lanes);
  }
  Group at_w, at_p;
  for (int r = 0; r < registers; ++r) {
    at_w.at[r] = load(w + r * lanes);
    at_p.at[r] = load(p + r * lanes);
  }
  if (!heads.empty()) {
    split_steps<false>(heads, at_w, at_p, nullptr);
    for (int r = 0; r < registers; ++r) {
      store(at_w.at[r], w + r * lanes);
      store(at_p.at[r], p + r * lanes);
    }
  }
  if (!ahead.empty()) split_steps<true>(ahead, at_w, at_p, stiffness);
}

template <bool is_forecast>
[[gnu::always_inline]] inline void StarKernel::split_steps(std::span<const double> heads, Group& w, Group& p,
                                                           const double* stiffness) {
  double* sum = sums_.data();
  for (std::size_t index = 0; index < heads.size();) {
    for (std::size_t i = 0; i < scheme_.substeps.size(); ++i, ++index, sum += sums) {
      const bool kicks = is_kick(i);
      if (is_forecast && (kicks || index == 0)) {
        Lanes part[sums / lanes];
        for (int k = 0; k < sums / lanes; ++k) part[k] = load(sum + k * lanes);
        for (int r = 0; r < registers; ++r) {
          Lanes& mine = part[r % (sums / lanes)];
          mine = fused(load(stiffness + r * lanes), w.at[r], mine);
        }
        for (int k = 0; k < sums / lanes; ++k) store(part[k], sum + k * lanes);
      }
      const Lanes* strength = strength_[i].at;
      if (kicks) {
        const Lanes head = Lanes{} + heads[index];
        for (int r = 0; r < registers; ++r) p.at[r] = fused(strength[r], head - w.at[r], p.at[r]);
      } else {
        for (int r = 0; r < registers; ++r) w.at[r] = fused(strength[r], p.at[r], w.at[r]);
      }
    }
  }
}

void StarKernel::run_stages(std::span<const double> heads, int count, double* w, double* p, const double* stiffness,
                            const double* inverse_mass, std::span<double> pulls) {
  for (std::size_t index = 0; index < heads.size(); ++index) {
    const Substep& substep = scheme_.substeps[index % scheme_.substeps.size()];
    if (!pulls.empty()) pulls[index] += pull(count, stiffness, substep.stage > 0 ? stage_w_.data() : w);
    stage(substep, heads[index], count, w, p, stiffness, inverse_mass);
  }
}

void StarKernel::stage(const Substep& substep, double head, int count, double* w, double* p, const double* stiffness,
                       const double* inverse_mass) {
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
