// Explicit schemes on a lumped environment: rank 0 has all of it, so a block is as long as anybody likes.
// Tested by tests/model/lumped/lumped_test.cpp.
#include <algorithm>

#include "model/lumped/stepper.hpp"

namespace bathline {

bool is_symmetric(const ExplicitScheme& scheme) {
  const std::vector<Substep>& substeps = scheme.substeps;
  return std::equal(substeps.begin(), substeps.end(), substeps.rbegin(), [](const Substep& one, const Substep& other) {
    return one.kind == other.kind && one.weight == other.weight;
  });
}

namespace {

/// Splittings and Runge-Kutta methods. Every step begins with what the state says, wherever blocks end.
///
/// What relaxes with noise has to do so where positions and momenta are not correlated: before and after a symmetric
/// step, and else, where the step is a kick and a drift, in the middle of the drift.
class LumpedExplicitStepper final : public ExplicitEnvironmentStepper {
 public:
  LumpedExplicitStepper(LumpedEnvironment& environment, const ExplicitScheme& scheme, double h)
      : environment_(environment),
        scheme_(scheme),
        h_(h),
        applies_exact_flow_(scheme.b.empty() && environment.properties().loses_energy),
        applies_exact_flow_in_drift_(applies_exact_flow_ && environment.is_noisy() && !is_symmetric(scheme)),
        slopes_(scheme.b.size()) {}

  int max_block_steps() const override { return lumped_block; }
  void begin_block(const BlockPlan&) override {}
  void end_block() override {}

  void force(const HeadMotion& head, std::span<double> force) const override {
    begin_step(head);
    // Forces that come on top are those of whoever adds them.
    environment_.LumpedEnvironment::force(head.x, force);
  }

  void substep(const Substep& substep, const HeadMotion& head) override {
    begin_step(head);
    const double step = substep.weight * h_;
    for (std::size_t axis = 0; axis < environment_.axes().size(); ++axis) {
      LumpedEnvironment::Axis& row = environment_.axes()[axis];
      if (substep.kind == Substep::Kind::stage) {
        stage(static_cast<std::size_t>(substep.stage), axis, head.x[axis]);
      } else if (!environment_.exact_flow_is_complete() && substep.kind == Substep::Kind::kick) {
        environment_.pull(head.x[axis], row.w, pulls_);
        row.p += step * pulls_;
      } else if (substep.kind == Substep::Kind::drift) {
        drift(axis, step, head);
      }
    }
    if (++next_ < scheme_.substeps.size()) return;
    next_ = 0;
    has_begun_ = false;
    if (applies_exact_flow_ && !applies_exact_flow_in_drift_) apply_exact_flow(1, 0.5 * h_);
    environment_.end_step();
  }

 private:
  void begin_step(const HeadMotion& head) const {
    if (has_begun_) return;
    has_begun_ = true;
    x_.assign(head.x.begin(), head.x.end());
    if (applies_exact_flow_ && !applies_exact_flow_in_drift_) apply_exact_flow(0, 0.5 * h_);
    if (!scheme_.b.empty()) start_ = environment_.axes();
  }
  void drift(std::size_t axis, double step, const HeadMotion& head) {
    Eigen::VectorXd& w = environment_.axes()[axis].w;
    const auto move = [&](double seconds) {
      x_[axis] += seconds * head.v[axis];
      if (environment_.exact_flow_is_complete()) return;
      w += seconds * environment_.inverse_mass().cwiseProduct(environment_.axes()[axis].p);
    };
    x_[axis] = head.x[axis];
    if (!applies_exact_flow_in_drift_) return move(step);
    move(0.5 * step);
    apply_exact_flow(0, axis, step);
    move(0.5 * step);
  }
  /// What the sites do by themselves, with the numbers of a draw.
  void apply_exact_flow(int draw, std::size_t axis, double seconds) const {
    LumpedEnvironment::Axis& row = environment_.axes()[axis];
    row.dissipated += environment_.apply_exact_flow(seconds, x_[axis], environment_.numbers(draw, axis), row);
  }
  void apply_exact_flow(int draw, double seconds) const {
    for (std::size_t axis = 0; axis < environment_.axes().size(); ++axis) apply_exact_flow(draw, axis, seconds);
  }
  void stage(std::size_t stage, std::size_t axis, double x) {
    LumpedEnvironment::Axis& row = environment_.axes()[axis];
    slopes_[stage].resize(environment_.axes().size());
    LumpedEnvironment::Axis& slope = slopes_[stage][axis];
    environment_.pull(x, row.w, pulls_);
    const Eigen::VectorXd v = environment_.inverse_mass().cwiseProduct(row.p);
    slope.w = v + environment_.mobilities().cwiseProduct(pulls_);
    slope.p = pulls_ - environment_.dashpots().cwiseProduct(v);
    slope.dissipated = environment_.dashpots().dot(v.cwiseAbs2()) + environment_.mobilities().dot(pulls_.cwiseAbs2());
    const std::vector<double>& weights = stage + 1 == scheme_.b.size() ? scheme_.b : scheme_.a[stage + 1];
    row = start_[axis];
    for (std::size_t j = 0; j <= stage; ++j) {
      const LumpedEnvironment::Axis& other = slopes_[j][axis];
      row.w += (h_ * weights[j]) * other.w;
      row.p += (h_ * weights[j]) * other.p;
      row.dissipated += h_ * weights[j] * other.dissipated;
    }
  }

  LumpedEnvironment& environment_;
  ExplicitScheme scheme_;
  double h_;
  bool applies_exact_flow_, applies_exact_flow_in_drift_;
  std::size_t next_ = 0;  // substep of the step
  // A step begins when the head is first heard of, be it for its force.
  mutable bool has_begun_ = false;
  mutable std::vector<double> x_;                             // of the head, as far as the step has come
  mutable std::vector<LumpedEnvironment::Axis> start_;        // of a Runge-Kutta step
  std::vector<std::vector<LumpedEnvironment::Axis>> slopes_;  // by stage, then axis
  Eigen::VectorXd pulls_;
};

}  // namespace

std::unique_ptr<ExplicitEnvironmentStepper> make_explicit_environment_stepper(LumpedEnvironment& environment,
                                                                              const ExplicitScheme& scheme, double h) {
  return std::make_unique<LumpedExplicitStepper>(environment, scheme, h);
}

}  // namespace bathline
