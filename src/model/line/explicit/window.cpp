// A piece of a line that is advanced by explicit schemes on its own.
//
// Stale values next to a cut are computed like all others and never stored, so the loops have no cases; the window is
// small enough to stay in the first-level cache over many steps.
// Tested by tests/model/line/explicit/march_test.cpp.
#include "model/line/explicit/window.hpp"

#include <algorithm>
#include <cmath>

namespace bathline {

LineWindow::LineWindow(const LineConstants& line, std::int64_t capacity, int stages) : line_(line) {
  const auto size = static_cast<std::size_t>(capacity + 2);
  w_.resize(size);
  p_.resize(size);
  if (stages > 0) {
    stage_w_.resize(size);
    stage_p_.resize(size);
    velocities_.assign(static_cast<std::size_t>(stages), std::vector<double>(size));
    forces_.assign(static_cast<std::size_t>(stages), std::vector<double>(size));
  }
}

void LineWindow::load(const double* w, const double* p, std::int64_t count, const LineSprings& springs, bool at_head,
                      bool at_far_end, double dissipated) {
  springs_ = springs;
  count_ = count;
  at_head_ = at_head;
  at_far_end_ = at_far_end;
  in_stages_ = false;
  dissipated_ = dissipated;
  std::copy_n(w, count, w_.begin() + 1);
  std::copy_n(p, count, p_.begin() + 1);
  w_.front() = 0.0;
  w_[count + 1] = 0.0;
}

void LineWindow::store(std::int64_t offset, std::int64_t count, double* w, double* p) const {
  std::copy_n(w_.begin() + 1 + offset, count, w);
  std::copy_n(p_.begin() + 1 + offset, count, p);
}

void LineWindow::substep(const Substep& substep, const ExplicitScheme& scheme, double h, double head) {
  switch (substep.kind) {
    case Substep::Kind::kick:
      kick(substep.weight * h, substep.velocity_after, head);
      break;
    case Substep::Kind::drift:
      drift_sites(springs_, substep.weight * h, 0, count_, w_.data() + 1, p_.data() + 1);
      break;
    case Substep::Kind::stage:
      stage(substep.stage, scheme, h, head);
      break;
  }
}

void LineWindow::set_ghosts(std::vector<double>& w, double head) const {
  if (at_head_) w.front() = head;
  // A free or matched end has no spring beyond the last site; a fixed one ends at displacement zero.
  if (at_far_end_) w[count_ + 1] = line_.far_end == FarEnd::fixed ? 0.0 : w[count_];
}

void LineWindow::kick(double weighted_step, bool velocity_after, double head) {
  set_ghosts(w_, head);
  const double before = p_[count_];
  kick_sites(springs_, weighted_step, 0, count_, w_.data() + 1, p_.data() + 1);
  if (at_far_end_ && line_.far_end == FarEnd::matched) {
    const double rate = weighted_step * line_.dashpot / line_.mass;
    double& last = p_[count_];
    last = velocity_after ? last / (1.0 + rate) : last - rate * before;
    const double velocity = (velocity_after ? last : before) / line_.mass;
    dissipated_ += weighted_step * line_.dashpot * velocity * velocity;
  }
}

void LineWindow::stage(int stage, const ExplicitScheme& scheme, double h, double head) {
  if (stage == 0) {
    std::copy_n(w_.begin(), count_ + 2, stage_w_.begin());
    std::copy_n(p_.begin(), count_ + 2, stage_p_.begin());
    in_stages_ = true;
  }
  set_ghosts(stage_w_, head);
  {
    const double* w = stage_w_.data() + 1;
    const double* p = stage_p_.data() + 1;
    double* velocity = velocities_[stage].data() + 1;
    double* force = forces_[stage].data() + 1;
    for (std::int64_t j = 0; j < count_; ++j) {
      velocity[j] = springs_.velocity(j, p[j]);
      force[j] = springs_.pull(j + 1, w[j + 1] - w[j]) - springs_.pull(j, w[j] - w[j - 1]);
    }
    if (at_far_end_ && line_.far_end == FarEnd::matched) {
      force[count_ - 1] -= line_.dashpot * velocity[count_ - 1];
      dissipated_ += h * scheme.b[stage] * line_.dashpot * velocity[count_ - 1] * velocity[count_ - 1];
    }
  }
  const bool last = stage + 1 == static_cast<int>(scheme.b.size());
  const std::vector<double>& weights = last ? scheme.b : scheme.a[stage + 1];
  std::vector<double>& to_w = last ? w_ : stage_w_;
  std::vector<double>& to_p = last ? p_ : stage_p_;
  if (!last) {
    std::copy_n(w_.begin(), count_ + 2, stage_w_.begin());
    std::copy_n(p_.begin(), count_ + 2, stage_p_.begin());
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0.0) continue;
    const double factor = h * weights[i];
    const double* velocity = velocities_[i].data();
    const double* force = forces_[i].data();
    for (std::int64_t j = 1; j <= count_; ++j) {
      to_w[j] = std::fma(factor, velocity[j], to_w[j]);
      to_p[j] = std::fma(factor, force[j], to_p[j]);
    }
  }
  if (last) in_stages_ = false;
}

}  // namespace bathline
