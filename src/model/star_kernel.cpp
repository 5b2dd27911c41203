// Bath oscillators through the substeps of an explicit scheme.
#include "model/star_kernel.hpp"

#include <algorithm>

namespace bathline {

namespace {

/// Sum of k w in an order that the compiler may spread over vector lanes without changing it.
double weighted_sum(int count, const double* stiffness, const double* w) {
  constexpr int lanes = 8;
  double sums[lanes] = {};
  int j = 0;
  for (; j + lanes <= count; j += lanes) {
    for (int lane = 0; lane < lanes; ++lane) {
      sums[lane] = std::fma(stiffness[j + lane], w[j + lane], sums[lane]);
    }
  }
  for (; j < count; ++j) sums[j % lanes] = std::fma(stiffness[j], w[j], sums[j % lanes]);
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

}  // namespace

void StarKernel::run(int steps, std::span<const double> heads, int count, double* __restrict w, double* __restrict p,
                     const double* __restrict stiffness, const double* __restrict inverse_mass,
                     std::span<double> pulls) {
  std::size_t index = 0;
  for (int step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < scheme_.substeps.size(); ++i, ++index) {
      const Substep& substep = scheme_.substeps[i];
      const bool in_stage = substep.kind == Substep::Kind::stage && substep.stage > 0;
      if (!pulls.empty() && (i == 0 || substep.kind != Substep::Kind::drift)) {
        pulls[index] += weighted_sum(count, stiffness, in_stage ? stage_w_.data() : w);
      }
      const double head = heads.empty() ? 0.0 : heads[index];
      const double weighted = substep.weight * h_;
      switch (substep.kind) {
        case Substep::Kind::kick:
          for (int j = 0; j < count; ++j) p[j] = bath_kicked(p[j], weighted, stiffness[j], head, w[j]);
          break;
        case Substep::Kind::drift:
          for (int j = 0; j < count; ++j) w[j] = bath_drifted(w[j], weighted, inverse_mass[j], p[j]);
          break;
        case Substep::Kind::stage:
          stage(substep, head, count, w, p, stiffness, inverse_mass);
          break;
      }
    }
  }
}

void StarKernel::forecast(int steps, std::span<const double> heads, int count, const double* w, const double* p,
                          const double* stiffness, const double* inverse_mass, std::span<double> pulls) {
  std::copy_n(w, count, copy_w_.data());
  std::copy_n(p, count, copy_p_.data());
  run(steps, heads, count, copy_w_.data(), copy_p_.data(), stiffness, inverse_mass, pulls);
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
