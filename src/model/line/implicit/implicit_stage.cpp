// The two halves of an implicit one-stage step, before and after the linear system of its stage momenta is solved.
//
// Written in the momenta, the unknown is of the size of the change in a step, and nothing is lost for small steps.
#include "model/line/implicit/implicit_stage.hpp"

#include "model/line/update.hpp"

namespace bathline {

LineMatrix ImplicitStage::matrix() const {
  const double coupling = scheme.a * scheme.b * h * h * (line.stiffness / line.mass);
  const double springs = line.far_end == FarEnd::fixed ? 2.0 : 1.0;
  return {coupling, 1.0 + springs * coupling + scheme.a * h * line.dashpot / line.mass};
}

void ImplicitStage::begin(const double* w, double* p, std::int64_t n, double left, double right) const {
  const double strength = scheme.a * h * line.stiffness;
  const std::int64_t last = n - 1;
  p[0] = kicked(p[0], strength, left, w[0], n > 1 ? w[1] : right);
  for (std::int64_t j = 1; j < last; ++j) p[j] = kicked(p[j], strength, w[j - 1], w[j], w[j + 1]);
  if (n > 1) p[last] = kicked(p[last], strength, w[last - 1], w[last], right);
}

void ImplicitStage::end(double* w, double* p, std::int64_t n, double left, double right) const {
  const double to_end = scheme.b_end * h / line.mass;
  const double strength = scheme.a_end * h * line.stiffness;
  double here = stage(w[0], p[0]);
  for (std::int64_t j = 0; j < n; ++j) {
    const double next = j + 1 < n ? stage(w[j + 1], p[j + 1]) : right;
    const double momentum = p[j];
    p[j] = kicked(momentum, strength, left, here, next);
    w[j] = drifted(here, to_end, momentum);
    left = here;
    here = next;
  }
}

double ImplicitStage::drag(double stage_momentum, double& p) const {
  const double velocity = stage_momentum / line.mass;
  p -= scheme.a_end * h * line.dashpot * velocity;
  return h * line.dashpot * velocity * velocity;
}

double ImplicitStage::stage(double w, double stage_momentum) const {
  return drifted(w, scheme.b * h / line.mass, stage_momentum);
}

}  // namespace bathline
