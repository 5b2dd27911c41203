// The two halves of an implicit one-stage step of a line whose sites differ, before and after the linear system of its
// stage momenta is solved.
#include "model/line/implicit/unequal_stage.hpp"

#include "model/line/update.hpp"

namespace bathline {

UnequalLineMatrix UnequalStage::matrix(std::int64_t n) const {
  const double strength = scheme.a * scheme.b * h * h;
  const double behind = far_end == FarEnd::fixed ? strength * sites.spring[n] : scheme.a * h * dashpot;
  return {.spring = sites.spring, .inverse_mass = sites.inverse_mass, .strength = strength, .far_end = behind};
}

void UnequalStage::begin(const double* w, double* p, std::int64_t n, double left, double right) const {
  const double step = scheme.a * h;
  double before = sites.spring[0] * (w[0] - left);
  for (std::int64_t j = 0; j < n; ++j) {
    const double next = j + 1 < n ? w[j + 1] : right;
    const double behind = sites.spring[j + 1] * (next - w[j]);
    p[j] = kicked(p[j], step, before, behind);
    before = behind;
  }
}

void UnequalStage::end(double* w, double* p, std::int64_t n, double left, double right) const {
  const double to_end = scheme.b_end * h, step = scheme.a_end * h;
  double here = stage(0, w[0], p[0]);
  double before = sites.spring[0] * (here - left);
  for (std::int64_t j = 0; j < n; ++j) {
    const double next = j + 1 < n ? stage(j + 1, w[j + 1], p[j + 1]) : right;
    const double behind = sites.spring[j + 1] * (next - here);
    const double momentum = p[j];
    p[j] = kicked(momentum, step, before, behind);
    w[j] = drifted(here, to_end * sites.inverse_mass[j], momentum);
    before = behind;
    here = next;
  }
}

double UnequalStage::drag(std::int64_t site, double stage_momentum, double& p) const {
  const double velocity = sites.velocity(site, stage_momentum);
  p -= scheme.a_end * h * dashpot * velocity;
  return h * dashpot * velocity * velocity;
}

double UnequalStage::stage(std::int64_t site, double w, double stage_momentum) const {
  return drifted(w, scheme.b * h * sites.inverse_mass[site], stage_momentum);
}

}  // namespace bathline
