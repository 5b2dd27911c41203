// Poincare and stroboscopic sections of a trajectory.
// Tested by tests/study/section_test.cpp.
#include "driver/poincare_section.hpp"

#include <algorithm>

#include "driver/trajectory_recorder.hpp"

namespace bathline {

namespace {

SeriesLayout layout_of(const std::string& group, const ParticleSystem& system, const std::string& title) {
  return {.group = group,
          .time = "poincare_time",
          .dimensions = phase_dimensions(system),
          .variables = {{"poincare_q", "m", "position at " + title, {"particle", "axis"}},
                        {"poincare_p", "kg m/s", "momentum at " + title, {"particle", "axis"}}}};
}

}  // namespace

PoincareSection::PoincareSection(const PoincarePlan& plan, ResultFile& file, const std::string& group,
                                 const Problem& problem)
    : plan_(plan),
      mass_(problem.system().mass),
      last_{0.0, Eigen::VectorXd::Zero(mass_.size()), Eigen::VectorXd::Zero(mass_.size()),
            Eigen::VectorXd::Zero(mass_.size())},
      series_(file.series(layout_of(group, problem.system(), plan.title))) {}

void PoincareSection::serialise(Archive& archive) {
  std::int64_t has_begun = has_begun_ ? 1 : 0;
  archive.counts("points", {&points_, &has_begun});
  has_begun_ = has_begun != 0;
  std::vector<std::span<double>> parts = {{&last_.time, 1}, {&last_value_, 1}};
  for (Eigen::VectorXd* vector : {&last_.q, &last_.v, &last_.a}) {
    parts.emplace_back(vector->data(), static_cast<std::size_t>(vector->size()));
  }
  archive.numbers("last", parts);
}

void PoincareSection::flush_if_full(const Communicator& communicator) {
  constexpr std::size_t max_buffered_rows = 16384;
  if (communicator.broadcast(communicator.is_root() && series_.buffered_rows() >= max_buffered_rows)) flush();
}

bool PoincareSection::is_crossing(double before, double after) const {
  const bool up = before < 0.0 && after >= 0.0, down = before > 0.0 && after <= 0.0;
  return (up && plan_.direction >= 0) || (down && plan_.direction <= 0);
}

double PoincareSection::value_between(const HermiteNode& now, double s) const {
  const PathPoint point = hermite_interpolate(last_, now, s);
  return plan_.function(point.q, point.v, last_.time + s * (now.time - last_.time)) - plan_.value;
}

/// Bisection down to adjacent floating-point numbers.
double PoincareSection::crossing(const HermiteNode& now) const {
  double before = 0.0, after = 1.0;
  for (double middle = 0.5; before < middle && middle < after; middle = 0.5 * (before + after)) {
    const double value = value_between(now, middle);
    const bool is_beyond = last_value_ < 0.0 ? value >= 0.0 : value <= 0.0;
    (is_beyond ? after : before) = middle;
  }
  return after;
}

void PoincareSection::add(const Problem& problem, const HermiteNode& now, double s) {
  const PathPoint point = hermite_interpolate(last_, now, s);
  const double time = last_.time + s * (now.time - last_.time);
  LegendreTransform* const legendre = problem.legendre();
  const Eigen::VectorXd p =
      legendre != nullptr ? legendre->momentum(point.q, point.v, time, 0.0) : mass_.cwiseProduct(point.v).eval();
  row_.assign(point.q.begin(), point.q.end());
  row_.insert(row_.end(), p.begin(), p.end());
  series_.append(time, row_);
  ++points_;
}

void PoincareSection::update(const Problem& problem, double time) {
  if (!problem.communicator().is_root()) return;
  HermiteNode now = hermite_node(problem, time);
  const double value = plan_.function ? plan_.function(now.q, now.v, time) - plan_.value : 0.0;
  if (has_begun_ && plan_.function) {
    if (is_crossing(last_value_, value)) add(problem, now, crossing(now));
  } else if (has_begun_) {
    // Points within round-off of a step belong to it.
    const double dt = now.time - last_.time, slack = 1e-9 * dt;
    for (double next = 0.0; (next = static_cast<double>(points_ + 1) * plan_.period) <= now.time + slack;) {
      add(problem, now, std::min(1.0, (next - last_.time) / dt));
    }
  }
  last_ = std::move(now);
  last_value_ = value;
  has_begun_ = true;
}

}  // namespace bathline
