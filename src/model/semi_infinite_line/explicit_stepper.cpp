// Kicks and drifts on a semi-infinite line.
// Tested by tests/model/semi_infinite_line/semi_infinite_line_test.cpp.
#include <algorithm>
#include <limits>

#include "model/semi_infinite_line/kick_coupling.hpp"

namespace bathline {

namespace {

/// The sum of the weights of the substeps of one kind with which a step begins.
template <class Iterator>
double leading_weight(Iterator substep, Substep::Kind kind) {
  double sum = 0.0;
  for (; substep->kind == kind; ++substep) sum += substep->weight;
  return sum;
}

class SemiInfiniteExplicitStepper final : public ExplicitEnvironmentStepper {
 public:
  SemiInfiniteExplicitStepper(SemiInfiniteLine& line, const ExplicitScheme& scheme, double h)
      : line_(line),
        start_fraction_(leading_weight(scheme.substeps.begin(), Substep::Kind::kick)),
        coupling_(line, h, std::max(start_fraction_, leading_weight(scheme.substeps.rbegin(), Substep::Kind::drift))),
        substeps_(scheme.substeps.size()),
        kicks_at_both_ends_(scheme.substeps.front().kind == Substep::Kind::kick &&
                            scheme.substeps.back().kind == Substep::Kind::kick) {}

  int max_block_steps() const override { return std::numeric_limits<int>::max(); }
  void begin_block(const BlockPlan&) override {}
  void end_block() override {}

  void force(const HeadMotion& head, std::span<double> force) const override {
    for (std::size_t axis = 0; axis < line_.axes().size(); ++axis) {
      const SemiInfiniteLine::Axis& row = line_.axes()[axis];
      const bool has_drifted = row.phase != 0.0;
      force[axis] = has_drifted ? coupling_.force_at_kick(row, head.x[axis])
                                : row.force + coupling_.feedthrough() * (head.x[axis] - row.last_kick_position);
      force[axis] += random(axis);
    }
  }

  void substep(const Substep& substep, const HeadMotion& head) override {
    if (substep.kind == Substep::Kind::drift) {
      for (SemiInfiniteLine::Axis& row : line_.axes()) row.phase += substep.weight;
    } else {
      kick(head);
    }
    if (++next_ < substeps_) return;
    next_ = 0;
    line_.end_step();
  }

 private:
  void kick(const HeadMotion& head) {
    for (std::size_t axis = 0; axis < line_.axes().size(); ++axis) {
      SemiInfiniteLine::Axis& row = line_.axes()[axis];
      const double x = head.x[axis];
      if (row.phase != 0.0) {
        coupling_.kick(row, x, random(axis));
        row.phase = 0.0;
      } else {
        if (x != row.last_kick_position) coupling_.start(row, x, start_fraction_);
        row.random = random(axis);
      }
    }
  }
  /// The random force in the next kick.
  double random(std::size_t axis) const {
    if (!line_.is_warm()) return 0.0;
    if (!kicks_at_both_ends_) return line_.random_force().at_stages(axis).front();
    const SemiInfiniteLine::Axis& row = line_.axes()[axis];
    return row.phase != 0.0 ? line_.random_force().between_steps(axis) : row.random;
  }

  SemiInfiniteLine& line_;
  double start_fraction_;  // of the kick, which may be shared by two steps, that belongs to the step that it begins
  KickCoupling coupling_;
  std::size_t substeps_, next_ = 0;  // of a step, and the next one
  bool kicks_at_both_ends_;
};

}  // namespace

std::unique_ptr<ExplicitEnvironmentStepper> make_explicit_environment_stepper(SemiInfiniteLine& line,
                                                                              const ExplicitScheme& scheme, double h) {
  return std::make_unique<SemiInfiniteExplicitStepper>(line, scheme, h);
}

}  // namespace bathline
