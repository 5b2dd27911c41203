// Kicks and drifts on a line without end.
// Tested by tests/model/infinite/infinite_line_test.cpp.
#include <limits>

#include "model/infinite/leapfrog.hpp"

namespace bathline {

namespace {

class InfiniteExplicitMarch final : public ExplicitMarch {
 public:
  InfiniteExplicitMarch(InfiniteLine& line, const ExplicitScheme& scheme, double h)
      : line_(line),
        leapfrog_(line, h),
        substeps_(scheme.substeps.size()),
        kicks_around_(kicks(scheme.substeps.front()) && kicks(scheme.substeps.back())) {}

  int limit() const override { return std::numeric_limits<int>::max(); }
  void open(const BlockPlan&) override {}
  void close() override {}

  void force(const HeadMotion& head, std::span<double> force) const override {
    for (std::size_t axis = 0; axis < line_.axes().size(); ++axis) {
      const InfiniteLine::Axis& row = line_.axes()[axis];
      const bool has_drifted = row.phase > 0.0;
      force[axis] = has_drifted ? leapfrog_.force_at_kick(row, head.x[axis])
                                : row.force + leapfrog_.at_once() * (head.x[axis] - row.place);
      if (line_.is_warm()) force[axis] += random(axis);
    }
  }

  void substep(const Substep& substep, const HeadMotion& head) override {
    for (std::size_t axis = 0; axis < line_.axes().size(); ++axis) {
      InfiniteLine::Axis& row = line_.axes()[axis];
      const double x = head.x[axis];
      if (substep.kind == Substep::Kind::drift) {
        row.phase += substep.weight;
      } else if (row.phase > 0.0) {
        leapfrog_.kick(row, x, random(axis));
        row.phase = 0.0;
      } else {
        if (x != row.place) leapfrog_.start(row, x, substep.weight);
        row.random = random(axis);
      }
    }
    if (++next_ < substeps_) return;
    next_ = 0;
    line_.end_step();
  }

 private:
  static bool kicks(const Substep& substep) { return substep.kind == Substep::Kind::kick; }
  /// The force of the noise in the kick that comes next.
  double random(std::size_t axis) const {
    if (!kicks_around_) return line_.random_force(axis);
    const InfiniteLine::Axis& row = line_.axes()[axis];
    return row.phase > 0.0 ? line_.random_force_at_end(axis) : row.random;
  }

  InfiniteLine& line_;
  Leapfrog leapfrog_;
  std::size_t substeps_, next_ = 0;  // of a step, and that under way
  bool kicks_around_;
};

}  // namespace

std::unique_ptr<ExplicitMarch> make_explicit_march(InfiniteLine& line, const ExplicitScheme& scheme, double h) {
  return std::make_unique<InfiniteExplicitMarch>(line, scheme, h);
}

}  // namespace bathline
