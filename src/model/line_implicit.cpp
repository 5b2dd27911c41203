// Implicit one-stage schemes on a line: the stage momenta solve one tridiagonal system, whose first half leaves a
// relation between the force on the head and the head's stage velocity.
//
//   (I + a b h^2 K/M) P = p + a h F(w),   Q = w + b h P/M,   p+ = P + a_end h F(Q),   w+ = Q + b_end h P/M
//
// Written in the momenta, the unknown is of the size of the change in a step, and nothing is lost for small steps.
#include <stdexcept>

#include "model/line.hpp"
#include "model/line_update.hpp"

namespace bathline {

void Line::set_up_implicit(const OneStageScheme& scheme, double h) {
  if (!is_uniform()) throw std::logic_error("implicit schemes need a line of equal sites");
  scheme_ = scheme;
  h_ = h;
  const double ratio = constants_.stiffness / constants_.mass;
  const double coupling = scheme.a * scheme.b * h * h * ratio;
  const double springs = constants_.far_end == FarEnd::fixed ? 2.0 : 1.0;
  const LineMatrix matrix{coupling, 1.0 + springs * coupling + scheme.a * h * constants_.dashpot / constants_.mass};
  solver_ = std::make_unique<LineSolver>(matrix, layout_, communicator_, axes_);
}

std::optional<HeadResponse> Line::eliminate(std::span<const double> head) {
  touch(sites());
  exchange_next_neighbours();
  const double strength = scheme_.a * h_ * constants_.stiffness;
  for (int axis = 0; axis < axes_; ++axis) {
    double* w = own(w_[axis]);
    double* p = own(p_[axis]);
    if (at_head()) head_[axis] = head[axis];
    // Where a rank has no neighbour the missing value is the head or the far end.
    const auto left = [&](std::int64_t j) { return j == 0 && at_head() ? head_[axis] : w[j - 1]; };
    const auto right = [&](std::int64_t j) {
      if (j + 1 < count_ || !at_far_end_) return w[j + 1];
      return constants_.far_end == FarEnd::fixed ? 0.0 : w[j];
    };
    if (count_ > 0) p[0] = kicked(p[0], strength, left(0), w[0], right(0));
    for (std::int64_t j = 1; j + 1 < count_; ++j) p[j] = kicked(p[j], strength, w[j - 1], w[j], w[j + 1]);
    if (count_ > 1) p[count_ - 1] = kicked(p[count_ - 1], strength, w[count_ - 2], w[count_ - 1], right(count_ - 1));
  }
  const std::optional<HeadRelation> relation = solver_->eliminate(own_momenta_);
  if (!relation) return std::nullopt;
  HeadResponse response;
  response.damping = constants_.stiffness * scheme_.b * h_ * (1.0 - relation->slope);
  for (int axis = 0; axis < axes_ && at_head(); ++axis) {
    response.constant.push_back(constants_.stiffness * (own(w_[axis])[0] - head_[axis]) +
                                constants_.stiffness * scheme_.b * h_ * relation->constant[axis] / constants_.mass);
  }
  return response;
}

void Line::complete(std::span<const double> head_velocity) {
  for (int axis = 0; axis < axes_; ++axis) head_momentum_[axis] = constants_.mass * head_velocity[axis];
  solver_->substitute(own_momenta_, head_momentum_);
  exchange_next_neighbours();
  const double to_stage = scheme_.b * h_ / constants_.mass;
  const double to_end = scheme_.b_end * h_ / constants_.mass;
  const double strength = scheme_.a_end * h_ * constants_.stiffness;
  for (int axis = 0; axis < axes_ && count_ > 0; ++axis) {
    double* w = own(w_[axis]);
    double* p = own(p_[axis]);
    const auto stage = [&](std::int64_t j) { return drifted(w[j], to_stage, p[j]); };
    const std::int64_t last = count_ - 1;
    double left = at_head() ? head_[axis] + scheme_.b * h_ * head_velocity[axis] : stage(-1);
    double here = stage(0);
    for (std::int64_t j = 0; j < count_; ++j) {
      double right;
      if (j < last || !at_far_end_) {
        right = stage(j + 1);
      } else {
        right = constants_.far_end == FarEnd::fixed ? 0.0 : here;
      }
      const double momentum = p[j];
      p[j] = kicked(momentum, strength, left, here, right);
      w[j] = drifted(here, to_end, momentum);
      if (j == last && at_far_end_ && is_open_ended()) {
        const double velocity = momentum / constants_.mass;
        p[j] -= scheme_.a_end * h_ * constants_.dashpot * velocity;
        dissipated_[axis] += h_ * constants_.dashpot * velocity * velocity;
      }
      left = here;
      here = right;
    }
  }
}

}  // namespace bathline
