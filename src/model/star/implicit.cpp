// Implicit one-stage schemes on a heat bath: the arrowhead matrix of head and oscillators, eliminated.
//
//   (1 + c_j) P_j = p_j + a h k_j (X - w_j),   c_j = a b h^2 k_j/m_j,   X = x + b h V the stage position of the head
//   force on the head at the stage: sum_j k_j/(1 + c_j) (w_j + b h p_j/m_j) - sum_j k_j/(1 + c_j) X
#include "model/star/star.hpp"

namespace bathline {

void Star::set_up_implicit(const OneStageScheme& scheme, double h) {
  scheme_ = scheme;
  h_ = h;
  eliminated_ = false;
}

void Star::refresh_elimination() {
  sum_.open(static_cast<int>(axes_) + 1);
  const double coupling = scheme_.a * scheme_.b * h_ * h_, drift = scheme_.b * h_;
  for_each_chunk([&](std::int64_t leaf, std::int64_t begin, int n) {
    const std::span<double> sums = sum_.leaf(leaf);
    for (auto j = static_cast<std::size_t>(begin); j < static_cast<std::size_t>(begin + n); ++j) {
      const double condensed = stiffness_[j] / (1.0 + coupling * stiffness_[j] * inverse_mass_[j]);
      for (std::size_t axis = 0; axis < axes_; ++axis) {
        sums[axis] += condensed * (w_[axis][j] + drift * inverse_mass_[j] * p_[axis][j]);
      }
      sums[axes_] += condensed;
    }
  });
  elimination_.resize(axes_ + 1);
  sum_.reduce(elimination_);
  condensed_stiffness_ = elimination_[axes_];
  eliminated_ = true;
}

std::optional<HeadResponse> Star::eliminate(std::span<const double> head) {
  if (!eliminated_) refresh_elimination();
  HeadResponse response;
  for (std::size_t axis = 0; axis < axes_ && communicator_.is_root(); ++axis) {
    head_[axis] = head[axis];
    response.constant.push_back(elimination_[axis] - condensed_stiffness_ * head[axis]);
  }
  response.damping = scheme_.b * h_ * condensed_stiffness_;
  return response;
}

void Star::complete(std::span<const double> head_velocity) {
  communicator_.broadcast(std::span<double>(head_));
  const double coupling = scheme_.a * scheme_.b * h_ * h_;
  sum_.open(2 * static_cast<int>(axes_) + 1);
  for_each_chunk([&](std::int64_t leaf, std::int64_t begin, int n) {
    const std::span<double> sums = sum_.leaf(leaf);
    for (std::size_t axis = 0; axis < axes_; ++axis) {
      const double at_stage = head_[axis] + scheme_.b * h_ * head_velocity[axis];
      for (auto j = static_cast<std::size_t>(begin); j < static_cast<std::size_t>(begin + n); ++j) {
        const double k = stiffness_[j], inverse = inverse_mass_[j];
        const double denominator = 1.0 + coupling * k * inverse;
        double& w = w_[axis][j];
        double& p = p_[axis][j];
        const double stage_p = (p + scheme_.a * h_ * k * (at_stage - w)) / denominator;
        const double stage_w = w + scheme_.b * h_ * inverse * stage_p;
        p = stage_p + scheme_.a_end * h_ * k * (at_stage - stage_w);
        w = stage_w + scheme_.b_end * h_ * inverse * stage_p;
        // What the next step needs to know, while the oscillator is at hand.
        sums[axis] += k / denominator * (w + scheme_.b * h_ * inverse * p);
        sums[axes_ + 1 + axis] += k * w;
      }
    }
    for (auto j = static_cast<std::size_t>(begin); j < static_cast<std::size_t>(begin + n); ++j) {
      sums[axes_] += stiffness_[j] / (1.0 + coupling * stiffness_[j] * inverse_mass_[j]);
    }
  });
  std::vector<double> totals(2 * axes_ + 1);
  sum_.reduce(totals);
  elimination_.assign(totals.begin(), totals.begin() + static_cast<std::ptrdiff_t>(axes_) + 1);
  condensed_stiffness_ = elimination_[axes_];
  pull_.assign(totals.begin() + static_cast<std::ptrdiff_t>(axes_) + 1, totals.end());
  pass_.forecast = false;
}

}  // namespace bathline
