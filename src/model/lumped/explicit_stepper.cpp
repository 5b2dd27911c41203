// Explicit schemes on a lumped environment. Rank 0 has all sites, so blocks may have any length.
// Tested by tests/model/lumped/lumped_test.cpp.
#include <algorithm>

#include "model/lumped/stepper.hpp"

namespace bathline {

bool is_symmetric(const ExplicitScheme& scheme) {
  const std::vector<Substep>& substeps = scheme.substeps;
  return std::equal(substeps.begin(), substeps.end(), substeps.rbegin(),
                    [](const Substep& first, const Substep& second) {
                      return first.kind == second.kind && first.weight == second.weight;
                    });
}

namespace {

/// Splittings and Runge-Kutta methods. A step depends on the state alone, wherever blocks end.
///
/// The exact flow of decay and noise must be applied where positions and momenta are uncorrelated: before and after a
/// symmetric step, and in the middle of the drift where the step is a kick and a drift.
class LumpedExplicitStepper final : public ExplicitEnvironmentStepper {
 public:
  LumpedExplicitStepper(LumpedEnvironment& environment, const ExplicitScheme& scheme, double h)
      : environment_(environment),
        scheme_(scheme),
        h_(h),
        applies_exact_flow_(scheme.b.empty() && environment.properties().loses_energy && !environment.is_transposed()),
        applies_exact_flow_in_drift_(applies_exact_flow_ && environment.is_noisy() && !is_symmetric(scheme)),
        rates_(scheme.b.size()) {
    double drifted = 0.0;
    for (const Substep& substep : scheme.substeps) {
      drifts_before_.push_back(middles_.size());
      if (substep.kind != Substep::Kind::drift) continue;
      middles_.push_back(drifted + 0.5 * substep.weight);
      drifted += substep.weight;
    }
  }

  int max_block_steps() const override { return lumped_max_block_steps; }
  void begin_block(const BlockPlan&) override {}
  void end_block() override {}

  void force(const HeadMotion& head, std::span<double> force) const override {
    begin_step(head);
    if (environment_.is_transposed() && environment_.exact_flow_is_complete()) {
      for (std::size_t axis = 0; axis < head.x.size(); ++axis)
        force[axis] = -environment_.to_head().sum() * head.x[axis];
      return;
    }
    // Not the virtual function: a derived class adds its further forces itself.
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
      } else if (environment_.is_transposed() && substep.kind == Substep::Kind::kick) {
        row.p += (step * head.x[axis]) * environment_.to_head();
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
    const std::size_t part = drifts_before_[next_];
    move(0.5 * step);
    apply_exact_flow(axis, step, environment_.numbers(0, axis, h_, middles_[part], part, middles_.size()));
    move(0.5 * step);
  }
  /// The exact flow of the sites.
  void apply_exact_flow(std::size_t axis, double seconds, std::span<const double> numbers) const {
    LumpedEnvironment::Axis& row = environment_.axes()[axis];
    row.dissipated += environment_.apply_exact_flow(seconds, x_[axis], numbers, row);
  }
  /// That at the start or the end of a step, with the random numbers of draw 0 or 1.
  void apply_exact_flow(int draw, double seconds) const {
    for (std::size_t axis = 0; axis < environment_.axes().size(); ++axis) {
      apply_exact_flow(axis, seconds, environment_.numbers(draw, axis, h_, 0.25 + 0.5 * draw));
    }
  }
  void stage(std::size_t stage, std::size_t axis, double x) {
    LumpedEnvironment::Axis& row = environment_.axes()[axis];
    rates_[stage].resize(environment_.axes().size());
    LumpedEnvironment::Axis& rate = rates_[stage][axis];
    environment_.pull(x, row.w, pulls_);
    const Eigen::VectorXd v = environment_.inverse_mass().cwiseProduct(row.p);
    rate.w = v + environment_.mobilities().cwiseProduct(pulls_);
    rate.p = pulls_ - environment_.dashpots().cwiseProduct(v);
    rate.dissipated = environment_.dashpots().dot(v.cwiseAbs2()) + environment_.mobilities().dot(pulls_.cwiseAbs2());
    const std::vector<double>& weights = stage + 1 == scheme_.b.size() ? scheme_.b : scheme_.a[stage + 1];
    row = start_[axis];
    for (std::size_t j = 0; j <= stage; ++j) {
      const LumpedEnvironment::Axis& stage_rate = rates_[j][axis];
      row.w += (h_ * weights[j]) * stage_rate.w;
      row.p += (h_ * weights[j]) * stage_rate.p;
      row.dissipated += h_ * weights[j] * stage_rate.dissipated;
    }
  }

  LumpedEnvironment& environment_;
  ExplicitScheme scheme_;
  double h_;
  bool applies_exact_flow_, applies_exact_flow_in_drift_;
  std::size_t next_ = 0;                    // index of the next substep
  std::vector<std::size_t> drifts_before_;  // each substep
  std::vector<double> middles_;             // of the drifts, in steps
  // A step begins with the first call that gives the position of the head, which may ask for its force.
  mutable bool has_begun_ = false;
  mutable std::vector<double> x_;                            // the head's displacement after the last substep
  mutable std::vector<LumpedEnvironment::Axis> start_;       // the state at the start of a Runge-Kutta step
  std::vector<std::vector<LumpedEnvironment::Axis>> rates_;  // time derivatives of the state, by stage, then axis
  Eigen::VectorXd pulls_;
};

}  // namespace

std::unique_ptr<ExplicitEnvironmentStepper> make_explicit_environment_stepper(LumpedEnvironment& environment,
                                                                              const ExplicitScheme& scheme, double h) {
  return std::make_unique<LumpedExplicitStepper>(environment, scheme, h);
}

}  // namespace bathline
