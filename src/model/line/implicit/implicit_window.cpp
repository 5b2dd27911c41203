// A piece of a uniform line that is taken through implicit one-stage steps on its own.
//
// The piece is eliminated from its last site towards its first, see solve/line_elimination.hpp.
#include "model/line/implicit/implicit_window.hpp"

#include <algorithm>

namespace bathline {

namespace {

/// A cut has no spring behind it.
double last_diagonal(const LineMatrix& line, bool at_far_end) {
  return at_far_end ? line.last_diagonal : 1.0 + line.coupling;
}

}  // namespace

LineImplicitWindow::LineImplicitWindow(const ImplicitStage& stage, Place place, std::int64_t capacity)
    : stage_(stage),
      place_(place),
      elimination_(stage.matrix().coupling, last_diagonal(stage.matrix(), place != Place::head), capacity),
      w_(static_cast<std::size_t>(capacity)),
      p_(w_.size()) {}

void LineImplicitWindow::load(const double* w, const double* p, std::int64_t count, double dissipated) {
  count_ = count;
  dissipated_ = dissipated;
  std::copy_n(w, count, w_.begin());
  std::copy_n(p, count, p_.begin());
}

void LineImplicitWindow::store(std::int64_t offset, std::int64_t count, double* w, double* p) const {
  std::copy_n(w_.begin() + offset, count, w);
  std::copy_n(p_.begin() + offset, count, p);
}

double LineImplicitWindow::eliminate(double head) {
  head_ = head;
  stage_.begin(w_.data(), p_.data(), count_, head, behind(w_[static_cast<std::size_t>(count_ - 1)]));
  const double constant = elimination_.eliminate(p_.data(), count_);
  return stage_.line.stiffness * (w_[0] - head) + stage_.push() * constant / stage_.line.mass;
}

double LineImplicitWindow::damping() const { return stage_.push() * (1.0 - elimination_.slope(count_)); }

void LineImplicitWindow::complete(double head_velocity) {
  end_step(stage_.line.mass * head_velocity, head_ + stage_.scheme.b * stage_.h * head_velocity);
}

void LineImplicitWindow::step() {
  // A site before the first that moves with it does not pull.
  stage_.begin(w_.data(), p_.data(), count_, w_[0], behind(w_[static_cast<std::size_t>(count_ - 1)]));
  const double first = elimination_.eliminate(p_.data(), count_) / (1.0 - elimination_.slope(count_));
  end_step(first, stage_.stage(w_[0], first));
}

void LineImplicitWindow::end_step(double momentum_before, double stage_before) {
  elimination_.substitute(p_.data(), count_, momentum_before);
  const auto last = static_cast<std::size_t>(count_ - 1);
  const double momentum = p_[last];
  stage_.end(w_.data(), p_.data(), count_, stage_before, behind(stage_.stage(w_[last], momentum)));
  if (at_far_end() && stage_.line.far_end == FarEnd::matched) dissipated_ += stage_.drag(momentum, p_[last]);
}

}  // namespace bathline
