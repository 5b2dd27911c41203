// Consecutive sites of a line in plain loops.
//
// Invalid values next to a cut are computed like all others and never stored, so the loops need no case distinctions; a
// small segment stays in the first-level cache for many steps.
// Tested by tests/model/line/explicit/reference_test.cpp.
#include "model/line/explicit/segment.hpp"

#include <algorithm>
#include <cmath>

namespace bathline {

template <Sites S>
LineSegment<S>::LineSegment(const LineConstants& line, std::int64_t capacity, int stages) : line_(line) {
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

template <Sites S>
void LineSegment<S>::load(const Source& from) {
  source_ = from;
  in_stages_ = false;
  std::copy_n(from.w, from.count, w_.begin() + 1);
  std::copy_n(from.p, from.count, p_.begin() + 1);
  w_.front() = 0.0;
  w_[from.count + 1] = 0.0;
}

template <Sites S>
void LineSegment<S>::store(std::int64_t offset, std::int64_t count, double* w, double* p) const {
  std::copy_n(w_.begin() + 1 + offset, count, w);
  std::copy_n(p_.begin() + 1 + offset, count, p);
}

template <Sites S>
double LineSegment<S>::force(double head) const {
  return force_of_spring(source_.sites, 0, (in_stages_ ? stage_w_ : w_)[1] - head);
}

template <Sites S>
void LineSegment<S>::advance(const ExplicitScheme& scheme, double h, int steps) {
  for (int step = 0; step < steps; ++step) {
    for (const Substep& next : scheme.substeps) substep(next, scheme, h, 0.0);
  }
}

template <Sites S>
void LineSegment<S>::substep(const Substep& substep, const ExplicitScheme& scheme, double h, double head) {
  switch (substep.kind) {
    case Substep::Kind::kick:
      kick(substep.weight * h, substep.velocity_after, head);
      break;
    case Substep::Kind::drift:
      drift_sites(source_.sites, substep.weight * h, 0, source_.count, w_.data() + 1, p_.data() + 1);
      break;
    case Substep::Kind::stage:
      stage(substep.stage, scheme, h, head);
      break;
    case Substep::Kind::ou:
      break;  // acts on particles only
  }
}

template <Sites S>
void LineSegment<S>::set_ghosts(std::vector<double>& w, double head) const {
  if (source_.at_head) w.front() = head;
  if (!source_.at_far_end) return;
  const LineSegment* const other = source_.joined;
  w[source_.count + 1] =
      other != nullptr ? other->w_[other->source_.count - line_.shared] : line_.behind_last(w[source_.count]);
}

template <Sites S>
void LineSegment<S>::kick(double weighted_step, bool velocity_after, double head) {
  set_ghosts(w_, head);
  double& last = p_[source_.count];
  const double before = last;
  kick_sites(source_.sites, weighted_step, 0, source_.count, w_.data() + 1, p_.data() + 1);
  if (!has_dashpot()) return;
  const double rate = weighted_step * line_.dashpot / line_.mass;
  last = velocity_after ? last / (1.0 + rate) : last - rate * before;
  const double velocity = (velocity_after ? last : before) / line_.mass;
  source_.dissipated += weighted_step * line_.dashpot * velocity * velocity;
}

/// Velocities and forces at the stage's values, then the values of the next stage or of the end of the step.
template <Sites S>
void LineSegment<S>::stage(int stage, const ExplicitScheme& scheme, double h, double head) {
  const S sites = source_.sites;
  const std::int64_t count = source_.count;
  const auto restart = [&] {
    std::copy_n(w_.begin(), count + 2, stage_w_.begin());
    std::copy_n(p_.begin(), count + 2, stage_p_.begin());
  };
  if (stage == 0) restart();
  in_stages_ = true;
  set_ghosts(stage_w_, head);
  {
    const double* w = stage_w_.data() + 1;
    const double* p = stage_p_.data() + 1;
    double* velocity = velocities_[stage].data() + 1;
    double* force = forces_[stage].data() + 1;
    for (std::int64_t j = 0; j < count; ++j) {
      velocity[j] = sites.per_mass(j, p[j] / sites.mass);
      force[j] = force_of_spring(sites, j + 1, w[j + 1] - w[j]) - force_of_spring(sites, j, w[j] - w[j - 1]);
    }
    if (has_dashpot()) {
      const double last = velocity[count - 1];
      force[count - 1] -= line_.dashpot * last;
      source_.dissipated += h * scheme.b[stage] * line_.dashpot * last * last;
    }
  }
  const bool is_last = stage + 1 == static_cast<int>(scheme.b.size());
  const std::vector<double>& weights = is_last ? scheme.b : scheme.a[stage + 1];
  std::vector<double>& to_w = is_last ? w_ : stage_w_;
  std::vector<double>& to_p = is_last ? p_ : stage_p_;
  if (!is_last) restart();
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0.0) continue;
    const double factor = h * weights[i];
    const double* velocity = velocities_[i].data();
    const double* force = forces_[i].data();
    for (std::int64_t j = 1; j <= count; ++j) {
      to_w[j] = std::fma(factor, velocity[j], to_w[j]);
      to_p[j] = std::fma(factor, force[j], to_p[j]);
    }
  }
  in_stages_ = !is_last;
}

#define BATHLINE_INSTANTIATE(...) template class LineSegment<__VA_ARGS__>
BATHLINE_FOR_ALL_SITES(BATHLINE_INSTANTIATE);
#undef BATHLINE_INSTANTIATE

}  // namespace bathline
