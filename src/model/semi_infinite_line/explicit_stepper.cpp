// Kicks and drifts on a semi-infinite line.
// Tested by tests/model/semi_infinite_line/semi_infinite_line_test.cpp.
#include <algorithm>
#include <limits>

#include "model/semi_infinite_line/kick_coupling.hpp"
#include "model/semi_infinite_line/scheme_kernel.hpp"

namespace bathline {

namespace {

class SemiInfiniteExplicitStepper final : public ExplicitEnvironmentStepper {
 public:
  SemiInfiniteExplicitStepper(SemiInfiniteLine& line, KickCoupling coupling, const ExplicitScheme& scheme)
      : line_(line),
        coupling_(std::move(coupling)),
        start_fraction_(start_fraction_of(scheme.substeps)),
        substeps_(scheme.substeps.size()),
        kicks_at_both_ends_(is_kick(scheme.substeps.front()) && is_kick(scheme.substeps.back())) {}

  /// How far a step with one kick ends behind that kick, as a fraction of the step.
  double end_fraction(const std::vector<Substep>& substeps) const {
    double drift = 0.0;
    for (auto substep = substeps.rbegin(); substep != substeps.rend() && !is_kick(*substep); ++substep) {
      if (substep->kind == Substep::Kind::drift) drift += substep->weight;
    }
    return std::max(start_fraction_, drift);
  }

  int max_block_steps() const override { return std::numeric_limits<int>::max(); }
  void begin_block(const BlockPlan&) override {}
  void end_block() override {}

  void force(const HeadMotion& head, std::span<double> force) const override {
    for (std::size_t axis = 0; axis < line_.axes().size(); ++axis) {
      const SemiInfiniteLine::Axis& row = line_.axes()[axis];
      const bool has_drifted = row.phase != 0.0;
      force[axis] = has_drifted ? coupling_.force_at_kick(row, stage_, head.x[axis])
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
    bool ends_stage = false;
    for (std::size_t axis = 0; axis < line_.axes().size(); ++axis) {
      SemiInfiniteLine::Axis& row = line_.axes()[axis];
      const double x = head.x[axis];
      if (row.phase != 0.0) {
        coupling_.kick(row, stage_, x, random(axis));
        row.phase = 0.0;
        ends_stage = true;
      } else {
        if (x != row.last_kick_position) coupling_.start(row, x, start_fraction_);
        row.random = random(axis);
      }
    }
    if (ends_stage && ++stage_ == coupling_.stages()) stage_ = 0;
  }
  static bool is_kick(const Substep& substep) { return substep.kind == Substep::Kind::kick; }
  /// The fraction of the kick composed of the end of a step and the start of the next one that belongs to the start.
  static double start_fraction_of(const std::vector<Substep>& substeps) {
    const auto weight = [](auto from, auto to) {
      double sum = 0.0;
      for (; from != to && is_kick(*from); ++from) sum += from->weight;
      return sum;
    };
    const double begin = weight(substeps.begin(), substeps.end()), end = weight(substeps.rbegin(), substeps.rend());
    return begin == 0.0 ? 0.0 : begin / (begin + end);
  }
  /// The random force in the next kick.
  double random(std::size_t axis) const {
    if (!line_.is_warm()) return 0.0;
    if (!kicks_at_both_ends_) return line_.random_force().at_stages(axis).front();
    const SemiInfiniteLine::Axis& row = line_.axes()[axis];
    return row.phase != 0.0 ? line_.random_force().between_steps(axis) : row.random;
  }

  SemiInfiniteLine& line_;
  KickCoupling coupling_;
  int stage_ = 0;  // of the next kick
  double start_fraction_;
  std::size_t substeps_, next_ = 0;  // of a step, and the next one
  bool kicks_at_both_ends_;
};

}  // namespace

std::unique_ptr<ExplicitEnvironmentStepper> make_explicit_environment_stepper(SemiInfiniteLine& line,
                                                                              const ExplicitScheme& scheme, double h) {
  const std::variant<SchemeKernel, std::string> kernel = kernel_of(scheme);
  const auto* sequence = std::get_if<KickDriftSequence>(&std::get<SchemeKernel>(kernel));
  auto stepper = std::make_unique<SemiInfiniteExplicitStepper>(
      line, sequence == nullptr ? KickCoupling(line, h) : KickCoupling(line, *sequence, h), scheme);
  if (sequence == nullptr) line.set_kick_scheme(h, stepper->end_fraction(scheme.substeps));
  return stepper;
}

}  // namespace bathline
