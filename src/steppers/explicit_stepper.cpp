// Explicit schemes: the particles on rank 0 in lockstep with the sites near them, all other sites in blocks of steps.
//
// The stages of a Lagrangian of any form are those of q' = v, p' = dL/dq + dL/dz p + f, z' = L, where v solves
// dL/dv(q, v, t, z) = p. Source: simoes2020, section 2, for L that depends on z.
// Tested by tests/steppers/explicit_stepper_test.cpp and tests/steppers/lagrangian_test.cpp.
#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <vector>

#include "steppers/time_blocking.hpp"
#include "steppers/small_splitting_stepper.hpp"
#include "steppers/ornstein_uhlenbeck.hpp"
#include "steppers/stepper.hpp"
#include "steppers/transposed/recorded_path.hpp"
#include "model/gyration.hpp"
#include "model/variation/control.hpp"

namespace bathline {

namespace {

class ExplicitStepper final : public Stepper {
  static constexpr int max_iterations = 50;  // of Newton's method

 public:
  /// `path` is nullptr where it is not recorded. A recorded path has all kicks: costs see the velocities before and
  /// after them.
  ExplicitStepper(const ExplicitScheme& scheme, Problem& problem, double h, RecordedPath* path)
      : ou_(make_ou(scheme, problem, h)),
        halves_ou_(halves_ou(scheme, problem)),
        is_secant_(scheme.is_drift_and_kick() && !problem.coupled_friction().dampers().empty()),
        parts_{.matrix = ou_ == nullptr, .couplings = ou_ == nullptr && !is_secant_},
        scheme_(depends_on_velocity(problem, parts_) || path != nullptr ? scheme : scheme.merged()),
        nodes_(scheme_.nodes()),
        problem_(problem),
        h_(h),
        path_(path),
        controls_(dynamic_cast<const ControlledDrive*>(problem.system().drive.get())),
        applied_(problem.system().applied.get()),
        applied_depends_on_velocity_(applied_ != nullptr && applied_->depends_on_velocity()),
        force_(problem.q.size()),
        velocity_(problem.q.size()),
        drag_(problem.q.size()),
        external_force_(Eigen::VectorXd::Zero(problem.q.size())),
        velocity_force_(external_force_),
        noise_(ou_ ? nullptr : problem.noise()),
        impulse_(external_force_),
        stage_q_(problem.q),
        stage_p_(problem.p),
        lagrangian_(problem.system().lagrangian.get()),
        actions_(scheme_.b.size()),
        point_(2 * problem.q.size() + 2),
        gradient_(point_) {
    if (lagrangian_ != nullptr && (scheme_.b.empty() || !problem.stepped_environments().empty())) {
      throw std::logic_error(
          "a Lagrangian of any form supports neither splittings nor, with explicit methods, environments");
    }
    problem.clock.h = h;
    if (is_secant_) {
      for (const CoupledDamper& damper : problem.coupled_friction().dampers()) {
        stretches_.emplace_back(static_cast<std::size_t>(damper.attachment.axes()));
      }
    }
    if (noise_ != nullptr && !scheme_.b.empty()) throw std::logic_error("stages take no noise");
    // A kick with the velocity after it: (1 + weight h C M^-1) p+ = p + weight h f.
    for (const Substep& substep : scheme_.substeps) {
      Eigen::MatrixXd matrix;
      if (substep.velocity_after && problem.is_damped(parts_) && !needs_newton()) {
        matrix = Eigen::MatrixXd::Identity(problem.q.size(), problem.q.size()) +
                 substep.weight * h * problem.damping() * problem.system().mass.cwiseInverse().asDiagonal();
      }
      solvers_.emplace_back(matrix);
    }
    const double field = problem.system().magnetic_field;
    for (const Substep& substep : scheme_.substeps) {
      if (field != 0.0) gyrations_.emplace_back(field, problem.system().mass, substep.weight * h);
    }
    velocities_.assign(scheme_.b.size(), problem.q);
    forces_.assign(scheme_.b.size(), problem.q);
    for (const auto& environment : problem.stepped_environments()) {
      const auto axes = static_cast<std::size_t>(environment->attachment().axes());
      environment_steppers_.push_back(environment->explicit_stepper(scheme_.without_ou(), h));
      heads_.push_back({std::vector<double>(axes), std::vector<double>(axes)});
    }
  }

  std::int64_t block_granularity() const override { return block_granularity_of(environment_steppers_); }
  bool observes_steps() const override { return has_forces_within_blocks(problem_); }

  std::optional<Failure> advance(std::int64_t steps, const AdvanceHints& ahead) override {
    const bool is_root = problem_.communicator().is_root();
    const bool sums_work = is_root && problem_.system().drive && scheme_.b.empty();
    if (sums_work) drive_term_ = drive_on_displacement(Side::after);
    advance_in_blocks(environment_steppers_, steps, ahead, [&](int block) {
      for (int step = 0; step < block && is_root; ++step) {
        if (noise_ != nullptr) impulse_ = noise_->impulse(problem_.clock.steps, h_);
        draws_ = 0;
        for (std::size_t i = 0; i < scheme_.substeps.size(); ++i) {
          substep(i, problem_.clock.at(nodes_[i]));
        }
        end_kicks();
        // A failed kick leaves no numbers behind, with which environments may go on to the end of the block.
        if (failure_ && lagrangian_ != nullptr) return;
        ++problem_.clock.steps;
        if (sums_work) end_work_of_drive();
        if (ahead.after_step != nullptr) (*ahead.after_step)();
      }
      if (!is_root) problem_.clock.steps += block;
    });
    return lagrangian_ != nullptr || needs_newton() ? failure() : std::nullopt;
  }

  std::vector<double> internal_state() const override { return internal_states_of(environment_steppers_); }
  void set_internal_state(std::span<const double> state) override { set_internal_states(state, environment_steppers_); }

 private:
  /// The exact flow of damping and noise of a scheme with substeps for it.
  static std::unique_ptr<OrnsteinUhlenbeck> make_ou(const ExplicitScheme& scheme, Problem& problem, double h) {
    const auto is_ou = [](const Substep& substep) { return substep.kind == Substep::Kind::ou; };
    const auto first = std::find_if(scheme.substeps.begin(), scheme.substeps.end(), is_ou);
    if (first == scheme.substeps.end()) return nullptr;
    const auto is_other = [&](const Substep& substep) { return is_ou(substep) && substep.weight != first->weight; };
    if (std::ranges::count_if(scheme.substeps, is_ou) > 2 || std::ranges::any_of(scheme.substeps, is_other)) {
      throw std::logic_error("the exact flow of damping and noise is one part of a step or two equal ones");
    }
    const double parts = halves_ou(scheme, problem) ? 2.0 : 1.0;
    return std::make_unique<OrnsteinUhlenbeck>(problem, first->weight * h / parts);
  }

  /// Whether the exact flow of the middle of a step is done as two halves, which are symmetric.
  static bool halves_ou(const ExplicitScheme& scheme, const Problem& problem) {
    const auto is_ou = [](const Substep& substep) { return substep.kind == Substep::Kind::ou; };
    return !problem.coupled_friction().dampers().empty() &&
           std::count_if(scheme.substeps.begin(), scheme.substeps.end(), is_ou) == 1;
  }

  /// The equations of a kick with the velocity after it.
  class DampedKick {
   public:
    /// Of an empty matrix where the kick has none.
    explicit DampedKick(const Eigen::MatrixXd& matrix) : diagonal_(matrix.diagonal()) {
      if (!matrix.isDiagonal(0.0)) lu_.emplace(matrix);
    }
    void solve(const Eigen::VectorXd& right, Eigen::VectorXd& p) const {
      if (lu_) {
        p = lu_->solve(right);
      } else {
        p = right.cwiseQuotient(diagonal_);
      }
    }

   private:
    Eigen::VectorXd diagonal_;
    std::optional<Eigen::PartialPivLU<Eigen::MatrixXd>> lu_;  // where the matrix is not diagonal
  };

  /// The motion of a head, which environment steppers see as a HeadMotion.
  struct Head {
    std::vector<double> x, v;
    operator HeadMotion() const { return {x, v}; }
  };

  /// Whether the momenta after a kick, on which its forces depend, are a nonlinear function of those before it.
  bool needs_newton() const { return problem_.drag_force(parts_) != nullptr || applied_depends_on_velocity_; }

  /// Whether that function is linear, with a matrix that depends on the positions.
  bool has_linear_drag() const {
    return problem_.drag_force(parts_) == &problem_.coupled_friction() && !applied_depends_on_velocity_ &&
           problem_.coupled_friction().is_linear_in_velocities();
  }

  void substep(std::size_t index, double t) {
    const Substep& substep = scheme_.substeps[index];
    if (substep.kind == Substep::Kind::stage && substep.stage == 0) {
      stage_q_ = problem_.q;
      stage_p_ = problem_.p;
      stage_z_ = problem_.z;
    }
    const bool in_stages = substep.kind == Substep::Kind::stage;
    const Eigen::VectorXd& q = in_stages ? stage_q_ : problem_.q;
    if (lagrangian_ != nullptr) {
      if (substep.stage == 0) velocity_ = problem_.v;
      find_velocity(t, velocity_);
    } else {
      velocity_ = (in_stages ? stage_p_ : problem_.p).cwiseQuotient(problem_.system().mass);
    }
    for (std::size_t e = 0; e < heads_.size(); ++e) {
      const Environment& environment = *problem_.stepped_environments()[e];
      environment.attachment().position(q, t, heads_[e].x);
      environment.attachment().velocity(q, velocity_, t, heads_[e].v);
    }
    // The particles' forces come first: they need the environments as they are before the substep.
    switch (substep.kind) {
      case Substep::Kind::drift:
        drift(index, t);
        break;
      case Substep::Kind::kick:
        kick(substep, solvers_[index], t);
        break;
      case Substep::Kind::stage:
        stage(substep.stage, t);
        break;
      case Substep::Kind::ou:
        ou_->advance(draws_++);
        if (halves_ou_) ou_->advance(draws_++);
        return;
    }
    for (std::size_t e = 0; e < heads_.size(); ++e) environment_steppers_[e]->substep(substep, heads_[e]);
  }

  /// Computes the positions of the heads of secant friction, less those that are there already.
  void measure_stretches(double t) {
    for (std::size_t d = 0; d < stretches_.size(); ++d) {
      std::vector<double>& stretch = stretches_[d];
      const Attachment& attachment = problem_.coupled_friction().dampers()[d].attachment;
      head_rate_.resize(stretch.size());
      attachment.position(problem_.q, t, head_rate_);
      for (std::size_t axis = 0; axis < stretch.size(); ++axis) stretch[axis] = head_rate_[axis] - stretch[axis];
    }
  }

  /// Secant friction and its noise as a force.
  void add_secant_friction() {
    CoupledFriction& friction = problem_.coupled_friction();
    std::span<const double> numbers;
    if (friction.is_noisy()) numbers = friction.numbers(problem_.clock.steps, 0);
    secant_.setZero(force_.size());
    for (std::size_t d = 0, number = 0; d < stretches_.size(); ++d) {
      const CoupledDamper& damper = friction.dampers()[d];
      const double damping = damper.damping, temperature = damper.temperature_at(problem_.clock.at(0.5));
      force_on_head_.assign(stretches_[d].size(), 0.0);
      for (std::size_t axis = 0; axis < force_on_head_.size(); ++axis, ++number) {
        const double secant = stretches_[d][axis] / h_;
        force_on_head_[axis] = -damping * secant;
        if (temperature > 0.0) force_on_head_[axis] += std::sqrt(2.0 * damping * temperature / h_) * numbers[number];
        if (!problem_.is_noisy()) problem_.dissipated += h_ * damping * secant * secant;
      }
      damper.attachment.distribute(problem_.q, 0.0, force_on_head_, secant_);
    }
    force_ += secant_;
  }

  /// Environments assume that a head moves uniformly: they are given its mean velocity.
  void drift(std::size_t index, double t) {
    const double seconds = scheme_.substeps[index].weight * h_;
    if (seconds == 0.0) return;
    end_kicks();
    for (std::vector<double>& stretch : stretches_) std::fill(stretch.begin(), stretch.end(), 0.0);
    measure_stretches(t);
    if (gyrations_.empty()) {
      problem_.q += seconds * velocity_;
    } else {
      external_force_ = problem_.q;
      gyrations_[index].advance(problem_.q, problem_.p);
      velocity_ = (problem_.q - external_force_) / seconds;
    }
    measure_stretches(t + seconds);
    for (std::size_t e = 0; e < heads_.size(); ++e) {
      const Attachment& attachment = problem_.stepped_environments()[e]->attachment();
      std::vector<double>& v = heads_[e].v;
      if (attachment.nonlinear() == nullptr) {
        if (!gyrations_.empty()) attachment.project(velocity_, v);
        continue;
      }
      attachment.position(problem_.q, t + seconds, v);
      for (std::size_t axis = 0; axis < v.size(); ++axis) v[axis] = (v[axis] - heads_[e].x[axis]) / seconds;
    }
  }

  /// -grad V plus the forces of the environments at positions `q`, to which the heads belong, and the work of couplings
  /// that depend on the time during `seconds`.
  void conservative_forces(const Eigen::VectorXd& q, double t, double seconds, Eigen::VectorXd& forces) {
    problem_.system().potential->gradient(q, forces);
    forces = -forces;
    for (std::size_t e = 0; e < heads_.size(); ++e) {
      force_on_head_.resize(heads_[e].x.size());
      environment_steppers_[e]->force(heads_[e], force_on_head_);
      const Attachment& attachment = problem_.stepped_environments()[e]->attachment();
      attachment.distribute(q, t, force_on_head_, forces);
      if (attachment.nonlinear() == nullptr || !attachment.nonlinear()->depends_on_time()) continue;
      head_rate_.resize(force_on_head_.size());
      attachment.nonlinear()->rate(q.data(), t, head_rate_);
      problem_.work -= seconds * std::inner_product(head_rate_.begin(), head_rate_.end(), force_on_head_.begin(), 0.0);
    }
  }

  void kick(const Substep& substep, const DampedKick& damped, double t) {
    const double weighted = substep.weight * h_;
    if (path_ != nullptr && !gyrations_.empty()) velocity_before_ = problem_.velocity();
    conservative_forces(problem_.q, t, weighted, force_);
    if (problem_.system().drive) add_drive(weighted, t);
    const bool has_external_force = applied_ != nullptr && !applied_depends_on_velocity_;
    if (has_external_force) {
      applied_->value(problem_.q, velocity_, t, external_force_);
      force_ += external_force_;
      problem_.work += 0.5 * weighted * velocity_.dot(external_force_);
    }
    if (is_secant_) add_secant_friction();
    const bool has_secant_noise = is_secant_ && problem_.is_noisy();
    // As for all noise, the work is that along the mean velocity of the kick.
    if (has_secant_noise) problem_.dissipated -= 0.5 * weighted * velocity_.dot(secant_);
    if (problem_.depends_on_velocity(parts_)) {
      velocity_dependent_kick(substep, damped, t);
    } else {
      problem_.p += weighted * force_;
    }
    if (has_secant_noise)
      problem_.dissipated -= 0.5 * weighted * problem_.p.cwiseQuotient(problem_.system().mass).dot(secant_);
    if (has_external_force)
      problem_.work += 0.5 * weighted * problem_.p.cwiseQuotient(problem_.system().mass).dot(external_force_);
    if (path_ != nullptr) path_->add(problem_.q, velocity_before_, problem_.velocity());
  }

  /// A kick by force_ and all forces that depend on velocities. The kicks of a step share the impulse of the noise by
  /// their weights. With noise all work is that along the mean velocity of a kick, so that the ledger closes: the
  /// velocity before or after is correlated with the impulse.
  void velocity_dependent_kick(const Substep& substep, const DampedKick& damped, double t) {
    const double weighted = substep.weight * h_;
    const bool counts_exchange = problem_.exchange.size() > 0;
    if (noise_ != nullptr || counts_exchange) velocity_before_ = velocity_;
    if (substep.velocity_after) {
      force_ = problem_.p + weighted * force_;
      if (noise_ != nullptr) force_ += substep.weight * impulse_;
      if (has_linear_drag()) {
        solve_linear_drag(weighted);
      } else if (needs_newton()) {
        solve_for_momenta(weighted, t);
      } else {
        damped.solve(force_, problem_.p);
      }
    }
    velocity_ = problem_.p.cwiseQuotient(problem_.system().mass);
    evaluate_velocity_forces(t);
    if (problem_.heat.size() > 0 || counts_exchange) friction_ = problem_.friction(velocity_, drag_, parts_);
    if (!substep.velocity_after) {
      problem_.p += weighted * (force_ + drag_ + velocity_force_);
      if (noise_ != nullptr) problem_.p += substep.weight * impulse_;
    }
    if (noise_ != nullptr) {
      velocity_ = 0.5 * (velocity_before_ + problem_.p.cwiseQuotient(problem_.system().mass));
      problem_.dissipated -= substep.weight * velocity_.dot(impulse_);
    }
    problem_.dissipated -= weighted * velocity_.dot(drag_);
    if (problem_.heat.size() > 0) {
      problem_.heat -= velocity_.cwiseProduct(weighted * friction_);
      if (noise_ != nullptr) problem_.heat -= velocity_.cwiseProduct(substep.weight * impulse_);
    }
    if (counts_exchange) {
      if (exchanged_.size() == 0) {
        velocity_before_kicks_ = velocity_before_;
        exchanged_.setZero(friction_.size());
      }
      exchanged_ += weighted * friction_;
      if (noise_ != nullptr) exchanged_ += substep.weight * impulse_;
    }
    if (applied_depends_on_velocity_) problem_.work += weighted * velocity_.dot(velocity_force_);
  }

  /// Counts the exchange in the kicks since the last drift: together they are one kick of the conservative motion.
  void end_kicks() {
    if (exchanged_.size() == 0) return;
    const Eigen::VectorXd after = problem_.p.cwiseQuotient(problem_.system().mass);
    problem_.exchange += exchanged_ * (0.5 * (velocity_before_kicks_ + after)).transpose();
    exchanged_.resize(0);
  }

  /// Evaluates drag_ and velocity_force_, which are zero where there is no such force.
  void evaluate_velocity_forces(double t) {
    problem_.drag(problem_.q, velocity_, drag_, parts_);
    if (applied_depends_on_velocity_) applied_->value(problem_.q, velocity_, t, velocity_force_);
  }

  // With time as one more position the drive belongs to the potential, -d(t).u at displacements u, and the time's
  // momentum grows by h b d'(t).u in a kick: with it the energy is as exact as any other, where products of forces and
  // velocities would lose two orders of a table for q'' = f(q). Hence
  //
  //   work = sum over steps of [d.u] - sum over kicks of h b d'(t).u
  //
  /// Adds the drive to force_ and its part of that sum to the work.
  void add_drive(double weighted, double t) {
    problem_.system().drive->value(t, external_force_);
    force_ += external_force_;
    problem_.system().drive->rate(t, external_force_);
    problem_.work -= weighted * external_force_.dot(problem_.q - problem_.system().q0);
  }
  /// d.u between two steps, with the force of the step before or after.
  double drive_on_displacement(Side side) {
    const double t = problem_.clock.at(0.0);
    if (controls_ != nullptr) {
      controls_->value(t, side, external_force_);
    } else {
      problem_.system().drive->value(t, external_force_);
    }
    return external_force_.dot(problem_.q - problem_.system().q0);
  }
  void end_work_of_drive() {
    const double current = drive_on_displacement(Side::before);
    problem_.work += current - drive_term_;
    drive_term_ = controls_ != nullptr ? drive_on_displacement(Side::after) : current;
  }

  /// p = force_ + weighted drag(q, M^-1 p) where the drag is linear.
  void solve_linear_drag(double weighted) {
    df_dv_ = problem_.damping();
    problem_.coupled_friction().add_damping(problem_.q, df_dv_);
    const auto inverse_mass = problem_.system().mass.cwiseInverse().asDiagonal();
    if (problem_.p.size() == 1) {
      problem_.p[0] = force_[0] / (1.0 + weighted * df_dv_(0, 0) / problem_.system().mass[0]);
      return;
    }
    df_dv_ = weighted * df_dv_ * inverse_mass;
    df_dv_.diagonal().array() += 1.0;
    problem_.p = df_dv_.partialPivLu().solve(force_);
  }

  /// p = force_ + weighted (drag + applied)(q, M^-1 p) by Newton's method, from the current momenta. A force that is
  /// linear in the velocities takes one iteration. Where it fails the momenta become NaN.
  void solve_for_momenta(double weighted, double t) {
    constexpr double epsilon = std::numeric_limits<double>::epsilon();
    const auto inverse_mass = problem_.system().mass.cwiseInverse().asDiagonal();
    Eigen::VectorXd& p = problem_.p;
    double previous = std::numeric_limits<double>::infinity();
    Eigen::VectorXd update = p;
    const bool is_finite = p.allFinite() && force_.allFinite();  // else the motion has no numbers, not the kick
    for (int iteration = 0; iteration < max_iterations && is_finite && !failure_; ++iteration) {
      velocity_ = inverse_mass * p;
      evaluate_velocity_forces(t);
      problem_.jacobians(problem_.q, velocity_, t, df_dq_, df_dv_, parts_);
      const Eigen::MatrixXd jacobian = Eigen::MatrixXd::Identity(p.size(), p.size()) - weighted * df_dv_ * inverse_mass;
      update = jacobian.partialPivLu().solve(force_ + weighted * (drag_ + velocity_force_) - p);
      p += update;
      const double size = update.norm(), scale = p.norm() + force_.norm();
      // Converged, or the corrections consist of round-off only.
      if (size <= epsilon * scale || (size >= 0.5 * previous && size <= 1e-8 * scale)) return;
      previous = size;
    }
    if (is_finite && !failure_) fail(explain_failed_kick(weighted, t, update));
    p.setConstant(std::numeric_limits<double>::quiet_NaN());
  }
  std::string explain_failed_kick(double weighted, double t, const Eigen::VectorXd& update) const {
    Eigen::Index worst = 0;
    for (Eigen::Index i = 0; i < update.size(); ++i) {
      if (!(std::abs(update[i]) <= std::abs(update[worst]))) worst = i;
    }
    const ParticleSystem& system = problem_.system();
    return fmt::format(
        "Newton's method does not find the velocities after a kick of {:.4g} s at t = {:.10g}: {} iterations end with "
        "changes of {:.2g} in the momentum of `{}`; a force that jumps with the velocity has no such velocities: "
        "smooth it, as tanh(v/w) does sign(v), with w well above {:.2g}, or take `rk4`, which solves for none",
        weighted, t, max_iterations, update[worst], system.coordinate_names()[static_cast<std::size_t>(worst)],
        std::abs(update[worst]) / system.mass[worst]);
  }

  void stage(int stage, double t) {
    velocities_[stage] = velocity_;
    conservative_forces(stage_q_, t, h_ * scheme_.b[stage], forces_[stage]);
    if (lagrangian_ != nullptr) add_lagrangian(stage, t);
    if (problem_.is_damped(parts_)) {
      problem_.drag(stage_q_, velocity_, drag_, parts_);
      forces_[stage] += drag_;
      problem_.dissipated -= h_ * scheme_.b[stage] * velocity_.dot(drag_);
      if (problem_.heat.size() > 0) {
        problem_.heat -= h_ * scheme_.b[stage] * velocity_.cwiseProduct(problem_.friction(velocity_, drag_, parts_));
      }
      if (problem_.exchange.size() > 0) {
        problem_.exchange +=
            h_ * scheme_.b[stage] * problem_.friction(velocity_, drag_, parts_) * velocity_.transpose();
      }
    }
    if (problem_.system().is_driven()) {
      problem_.applied(stage_q_, velocity_, t, external_force_);
      forces_[stage] += external_force_;
      problem_.work += h_ * scheme_.b[stage] * velocity_.dot(external_force_);
    }
    if (!gyrations_.empty()) forces_[stage] += magnetic_force(problem_.system().magnetic_field, velocity_);
    const bool last = stage + 1 == static_cast<int>(scheme_.b.size());
    const std::vector<double>& weights = last ? scheme_.b : scheme_.a[stage + 1];
    stage_q_ = problem_.q;
    stage_p_ = problem_.p;
    stage_z_ = problem_.z;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      stage_q_ += (h_ * weights[i]) * velocities_[i];
      stage_p_ += (h_ * weights[i]) * forces_[i];
      stage_z_ += (h_ * weights[i]) * actions_[i];
    }
    if (!last) return;
    problem_.q = stage_q_;
    problem_.p = stage_p_;
    problem_.z = stage_z_;
    if (lagrangian_ == nullptr) return;
    problem_.v = velocity_;
    find_velocity(problem_.clock.at(1.0), problem_.v);
  }

  /// Replaces the guess `v` by the velocities of the stage.
  void find_velocity(double t, Eigen::VectorXd& v) {
    if (failure_) return;
    if (auto reason = problem_.legendre()->find_velocity(stage_q_, stage_p_, t, stage_z_, v)) fail(*reason);
  }

  void add_lagrangian(int stage, double t) {
    const Eigen::Index n = velocity_.size();
    const double weight = h_ * scheme_.b[stage];
    point_ << stage_q_, velocity_, t, stage_z_;
    lagrangian_->gradient(point_.data(), gradient_.data());
    forces_[stage] += gradient_.head(n);
    problem_.work -= weight * gradient_[2 * n];
    const std::optional<Contact>& contact = problem_.system().contact;
    if (!contact) return;
    const double action = actions_[stage] = lagrangian_->value(point_.data()), dl_dz = gradient_[2 * n + 1];
    forces_[stage] += dl_dz * stage_p_;
    problem_.dissipated -= weight * (dl_dz * (stage_p_.dot(velocity_) - action) + contact->gamma * action);
  }

  void fail(const std::string& reason) { failure_ = {problem_.clock.steps + 1, 0.0, reason}; }
  /// That of rank 0, on every rank. @note Collective.
  std::optional<Failure> failure() const {
    Failure failure = failure_.value_or(Failure());
    failure.reason = problem_.communicator().broadcast(failure.reason);
    if (failure.reason.empty()) return std::nullopt;
    problem_.communicator().broadcast(std::span<std::int64_t>(&failure.step, 1));
    return failure;
  }

  std::unique_ptr<OrnsteinUhlenbeck> ou_;  // of a scheme with `ou` substeps
  bool halves_ou_;
  /// Whether the scheme is a drift and a kick of the whole step, under which a damper on a nonlinear coupling s is the
  /// characteristic line: it acts as -D (s(q+) - s(q))/h at q+.
  bool is_secant_;
  FrictionParts parts_;                         // that kicks and stages apply
  std::vector<std::vector<double>> stretches_;  // s(q+) - s(q) in the drift, of secant friction
  ExplicitScheme scheme_;
  std::vector<double> nodes_;
  Problem& problem_;
  double h_;
  RecordedPath* path_;
  const ControlledDrive* controls_;
  const Force* applied_;
  bool applied_depends_on_velocity_;
  double drive_term_ = 0.0;          // d.u after the last step
  std::vector<DampedKick> solvers_;  // one per substep, empty where the damping force is explicit
  std::vector<Gyration> gyrations_;  // one per substep, for drifts in a magnetic field
  Eigen::VectorXd force_, velocity_, drag_, friction_, secant_, external_force_, velocity_force_;
  WhiteNoise* noise_;  // whose impulse is shared by the kicks; nullptr where there is none
  int draws_ = 0;      // of ou_ in the current step
  Eigen::VectorXd impulse_, velocity_before_, stage_q_, stage_p_;
  Eigen::VectorXd exchanged_, velocity_before_kicks_;  // of the kicks since the last drift, where exchange is counted
  double stage_z_ = 0.0;
  const Lagrangian* lagrangian_;      // of any form, if there is one
  std::vector<double> actions_;       // L, by stage
  Eigen::VectorXd point_, gradient_;  // q, v, t and z of a stage, and the derivatives of L by these
  std::optional<Failure> failure_;    // on rank 0: no velocities were found
  Eigen::MatrixXd df_dq_, df_dv_;
  std::vector<Eigen::VectorXd> velocities_, forces_;
  std::vector<std::unique_ptr<ExplicitEnvironmentStepper>> environment_steppers_;
  std::vector<Head> heads_;
  std::vector<double> force_on_head_, head_rate_;
};

}  // namespace

std::unique_ptr<Stepper> make_explicit_stepper(const ExplicitScheme& scheme, Problem& problem, double h) {
  if (std::unique_ptr<Stepper> small = make_small_splitting_stepper(scheme, problem, h)) return small;
  return std::make_unique<ExplicitStepper>(scheme, problem, h, nullptr);
}

std::unique_ptr<Stepper> make_explicit_stepper(const ExplicitScheme& scheme, Problem& problem, double h,
                                               RecordedPath& path) {
  if (std::unique_ptr<Stepper> small = make_small_splitting_stepper(scheme, problem, h, &path)) return small;
  return std::make_unique<ExplicitStepper>(scheme, problem, h, &path);
}

}  // namespace bathline
