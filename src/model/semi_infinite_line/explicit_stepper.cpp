// Kicks and drifts on a line without end.
// Tested by tests/model/semi_infinite_line/semi_infinite_line_test.cpp.
#include <algorithm>
#include <limits>

#include "model/semi_infinite_line/kick_coupling.hpp"
#include "model/semi_infinite_line/scheme_kernel.hpp"

namespace bathline {

namespace {

class SemiInfiniteExplicitStepper final : public ExplicitEnvironmentStepper {
 public:
  SemiInfiniteExplicitStepper(SemiInfiniteLine& line, KickCoupling on_line, const ExplicitScheme& scheme)
      : line_(line),
        kicks_(std::move(on_line)),
        share_at_start_(share_at_start(scheme.substeps)),
        substeps_(scheme.substeps.size()),
        kicks_around_(kicks(scheme.substeps.front()) && kicks(scheme.substeps.back())) {}

  /// How far a step of one kick ends behind that kick.
  double later(const std::vector<Substep>& substeps) const {
    double drift = 0.0;
    for (auto one = substeps.rbegin(); one != substeps.rend() && !kicks(*one); ++one) {
      if (one->kind == Substep::Kind::drift) drift += one->weight;
    }
    return std::max(share_at_start_, drift);
  }

  int max_block_steps() const override { return std::numeric_limits<int>::max(); }
  void begin_block(const BlockPlan&) override {}
  void end_block() override {}

  void force(const HeadMotion& head, std::span<double> force) const override {
    for (std::size_t axis = 0; axis < line_.axes().size(); ++axis) {
      const SemiInfiniteLine::Axis& row = line_.axes()[axis];
      const bool has_drifted = row.phase != 0.0;
      force[axis] = has_drifted ? kicks_.force_at_kick(row, stage_, head.x[axis])
                                : row.force + kicks_.feedthrough() * (head.x[axis] - row.last_kick_position);
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
    bool ends_stage = false;
    for (std::size_t axis = 0; axis < line_.axes().size(); ++axis) {
      SemiInfiniteLine::Axis& row = line_.axes()[axis];
      const double x = head.x[axis];
      if (row.phase != 0.0) {
        kicks_.kick(row, stage_, x, random(axis));
        row.phase = 0.0;
        ends_stage = true;
      } else {
        if (x != row.last_kick_position) kicks_.start(row, x, share_at_start_);
        row.random = random(axis);
      }
    }
    if (ends_stage && ++stage_ == kicks_.stages()) stage_ = 0;
  }
  static bool kicks(const Substep& substep) { return substep.kind == Substep::Kind::kick; }
  /// What of the kick that the end of a step and the begin of the next make together is that of the begin.
  static double share_at_start(const std::vector<Substep>& substeps) {
    const auto weight = [](auto from, auto to) {
      double sum = 0.0;
      for (; from != to && kicks(*from); ++from) sum += from->weight;
      return sum;
    };
    const double begin = weight(substeps.begin(), substeps.end()), end = weight(substeps.rbegin(), substeps.rend());
    return begin == 0.0 ? 0.0 : begin / (begin + end);
  }
  /// The force of the noise in the kick that comes next.
  double random(std::size_t axis) const {
    if (!line_.is_warm()) return 0.0;
    if (!kicks_around_) return line_.random_force(axis);
    const SemiInfiniteLine::Axis& row = line_.axes()[axis];
    return row.phase != 0.0 ? line_.random_force_at_end(axis) : row.random;
  }

  SemiInfiniteLine& line_;
  KickCoupling kicks_;
  int stage_ = 0;  // of the kick that comes next
  double share_at_start_;
  std::size_t substeps_, next_ = 0;  // of a step, and that under way
  bool kicks_around_;
};

}  // namespace

std::unique_ptr<ExplicitEnvironmentStepper> make_explicit_environment_stepper(SemiInfiniteLine& line,
                                                                              const ExplicitScheme& scheme, double h) {
  const std::variant<SchemeKernel, std::string> kernel = kernel_of(scheme);
  const auto* turns = std::get_if<KickDriftSequence>(&std::get<SchemeKernel>(kernel));
  auto stepper = std::make_unique<SemiInfiniteExplicitStepper>(
      line, turns == nullptr ? KickCoupling(line, h) : KickCoupling(line, *turns, h), scheme);
  if (turns == nullptr) line.set_kick_scheme(h, stepper->later(scheme.substeps));
  return stepper;
}

}  // namespace bathline
