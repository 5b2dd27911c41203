// Explicit steps of a few particles with environments or with noise.
// Tested by tests/steppers/explicit_stepper_test.cpp.
#include "steppers/small_splitting_stepper.hpp"

#include <algorithm>

#include "steppers/time_blocking.hpp"
#include "steppers/splitting_kernel.hpp"

namespace bathline {

namespace {

/// -grad V of a quadratic potential.
template <int N>
class LinearForce {
 public:
  explicit LinearForce(const Problem& problem) : stiffness_(stiffness_of(problem)) {}
  void evaluate(const FixedVector<N>& q, FixedVector<N>& force) const {
    for (int i = 0; i < N; ++i) force[i] = -stiffness_.times(q, i);
  }
  static bool applies_to(const Problem& problem) {
    return dynamic_cast<const QuadraticPotential*>(problem.system().potential.get()) != nullptr;
  }

 private:
  static FixedMatrix<N> stiffness_of(const Problem& problem) {
    Eigen::MatrixXd matrix;
    problem.system().potential->hessian(problem.q, matrix);
    return FixedMatrix<N>(matrix);
  }
  FixedMatrix<N> stiffness_;
};

/// -grad V of any other potential.
template <int N>
class AnyForce {
 public:
  explicit AnyForce(const Problem& problem) : potential_(*problem.system().potential), position_(N), gradient_(N) {}
  void evaluate(const FixedVector<N>& q, FixedVector<N>& force) {
    for (int i = 0; i < N; ++i) position_[i] = q[i];
    potential_.gradient(position_, gradient_);
    for (int i = 0; i < N; ++i) force[i] = -gradient_[i];
  }

 private:
  const Potential& potential_;
  Eigen::VectorXd position_, gradient_;
};

/// The damping matrix, with the friction D ds/dq (ds/dq)^T of nonlinear couplings.
template <int N>
class DampingInPlace {
 public:
  explicit DampingInPlace(const Problem& problem)
      : constant_(problem.damping()), coupled_(problem.coupled_friction()) {}
  bool varies() const { return !coupled_.dampers().empty(); }
  FixedMatrix<N> at(const FixedVector<N>& q) {
    FixedMatrix<N> damping = constant_;
    for (const CoupledDamper& damper : coupled_.dampers()) {
      const int axes = damper.attachment.axes();
      gradient_.resize(static_cast<std::size_t>(axes * N));
      damper.attachment.nonlinear()->gradient(q.data(), 0.0, gradient_.data());
      for (int i = 0; i < N; ++i) {
        for (int j = 0; j < N; ++j) {
          double sum = 0.0;
          for (int axis = 0; axis < axes; ++axis) sum += gradient_[axis * N + i] * gradient_[axis * N + j];
          damping.rows[i][j] += damper.damping * sum;
        }
      }
    }
    return damping;
  }

 private:
  FixedMatrix<N> constant_;
  const CoupledFriction& coupled_;
  std::vector<double> gradient_;  // of s, axis by axis
};

/// The environment steppers and the motion of their heads.
template <int N>
class EnvironmentCouplings {
 public:
  EnvironmentCouplings(Problem& problem, const ExplicitScheme& scheme, double h) {
    couplings_.resize(problem.stepped_environments().size());
    for (std::size_t e = 0; e < couplings_.size(); ++e) {
      Environment& environment = *problem.stepped_environments()[e];
      environment_steppers_.push_back(environment.explicit_stepper(scheme, h));
      Coupled& coupling = couplings_[e];
      coupling.stepper = environment_steppers_.back().get();
      coupling.attachment = &environment.attachment();
      coupling.axes = coupling.attachment->axes();
      coupling.nonlinear = coupling.attachment->nonlinear();
      coupling.first = coupling.nonlinear == nullptr ? coupling.attachment->first_coordinate() : -1;
      if (coupling.nonlinear != nullptr) coupling.current.resize(static_cast<std::size_t>(coupling.axes * (1 + N)));
      coupling.head = {std::span(coupling.x).first(coupling.axes), std::span(coupling.v).first(coupling.axes)};
    }
  }
  EnvironmentCouplings(const EnvironmentCouplings&) = delete;
  EnvironmentCouplings& operator=(const EnvironmentCouplings&) = delete;

  const std::vector<std::unique_ptr<ExplicitEnvironmentStepper>>& environment_steppers() const {
    return environment_steppers_;
  }

  /// Begins steps from `q`.
  void begin(const FixedVector<N>& q) {
    for (Coupled& coupling : couplings_) {
      if (coupling.nonlinear == nullptr) {
        std::copy_n(coupling.attachment->start().begin(), N, coupling.start.begin());
        continue;
      }
      std::copy_n(coupling.attachment->origin().begin(), coupling.axes, coupling.origin.begin());
      coupling.nonlinear->value_and_gradient(q.data(), 0.0, coupling.current.data());
    }
  }
  /// Computes the heads of particles at `q`.
  [[gnu::always_inline]] void find_heads(const FixedVector<N>& q, const FixedVector<N>& velocity) {
    for (Coupled& coupling : couplings_) {
      if (coupling.first >= 0) {
        for (int axis = 0; axis < coupling.axes; ++axis) {
          coupling.x[axis] = 0.0 + (q[coupling.first + axis] - coupling.start[coupling.first + axis]);
          coupling.v[axis] = 0.0 + velocity[coupling.first + axis];
        }
        continue;
      }
      if (coupling.nonlinear != nullptr) {
        for (int axis = 0; axis < coupling.axes; ++axis) {
          coupling.x[axis] = coupling.current[static_cast<std::size_t>(axis)] - coupling.origin[axis];
        }
        continue;
      }
      coupling.x.fill(0.0);
      coupling.v.fill(0.0);
      for (const Attachment::Term& term : coupling.attachment->terms()) {
        coupling.x[term.axis] += term.weight * (q[term.coordinate] - coupling.start[term.coordinate]);
        coupling.v[term.axis] += term.weight * velocity[term.coordinate];
      }
    }
  }
  /// Adds the forces of the environments to those on the particles and advances the environments by the kick.
  void kick(const Substep& substep, FixedVector<N>& forces) {
    FixedVector<N> force;
    for (Coupled& coupling : couplings_) {
      coupling.stepper->force(coupling.head, std::span(force).first(coupling.axes));
      coupling.stepper->substep(substep, coupling.head);
      for (int axis = 0; axis < coupling.axes && coupling.first >= 0; ++axis) {
        forces[coupling.first + axis] += force[axis];
      }
      if (coupling.first >= 0) continue;
      if (coupling.nonlinear != nullptr) {
        const double* gradient = coupling.current.data() + coupling.axes;
        for (int axis = 0; axis < coupling.axes; ++axis) {
          for (int i = 0; i < N; ++i) forces[i] += gradient[axis * N + i] * force[axis];
        }
        continue;
      }
      for (const Attachment::Term& term : coupling.attachment->terms()) {
        forces[term.coordinate] += term.weight * force[term.axis];
      }
    }
  }
  /// Advances the environments by a drift to `q_after` in `seconds`.
  void drift(const Substep& substep, const FixedVector<N>& q_after, double seconds) {
    for (Coupled& coupling : couplings_) {
      if (coupling.nonlinear != nullptr && seconds != 0.0) {
        coupling.nonlinear->value_and_gradient(q_after.data(), 0.0, coupling.current.data());
        for (int axis = 0; axis < coupling.axes; ++axis) {
          const double x_after = coupling.current[static_cast<std::size_t>(axis)] - coupling.origin[axis];
          coupling.v[axis] = (x_after - coupling.x[axis]) / seconds;
        }
      }
      coupling.stepper->substep(substep, coupling.head);
    }
  }

 private:
  struct Coupled {
    ExplicitEnvironmentStepper* stepper = nullptr;
    const Attachment* attachment = nullptr;
    int axes = 1;
    int first = -1;                       // the attachment's first_coordinate()
    const Coupling* nonlinear = nullptr;  // likewise
    FixedVector<N> origin{};              // likewise
    FixedVector<N> start{};               // of linear ones: the positions from which they are measured
    std::vector<double> current;          // s, then ds/dq, at the current positions
    FixedVector<N> x{}, v{};
    HeadMotion head;  // refers to x and v
  };

  std::vector<Coupled> couplings_;
  std::vector<std::unique_ptr<ExplicitEnvironmentStepper>> environment_steppers_;
};

template <int N, class Force>
class SmallSplittingStepper final : public Stepper {
 public:
  SmallSplittingStepper(const ExplicitScheme& scheme, Problem& problem, double h, RecordedPath* path)
      : problem_(problem),
        path_(path),
        scheme_(depends_on_velocity(problem) || path != nullptr ? scheme : scheme.merged()),
        substep_ops_(substep_ops<N>(scheme_, problem, h)),
        damping_(problem),
        damped_kick_(problem),
        potential_force_(problem),
        couplings_(problem, scheme_, h),
        noise_(problem.is_damped() ? problem.noise() : nullptr) {
    problem.clock.h = h;
  }

  std::int64_t block_granularity() const override { return block_granularity_of(couplings_.environment_steppers()); }
  bool observes_steps() const override { return has_forces_within_blocks(problem_); }

  std::optional<Failure> advance(std::int64_t steps, const AdvanceHints& ahead) override {
    load_state();
    advance_in_blocks(couplings_.environment_steppers(), steps, ahead, [&](int block) {
      if (!problem_.communicator().is_root()) {
        problem_.clock.steps += block;
      } else if (!couplings_.environment_steppers().empty()) {
        advance_damped<true>(block, ahead);
      } else if (noise_ != nullptr) {
        advance_steps<Drag::noisy, false>(block, ahead);
      } else {
        advance_damped<false>(block, ahead);
      }
    });
    store_state();
    return std::nullopt;
  }

  std::vector<double> internal_state() const override { return internal_states_of(couplings_.environment_steppers()); }
  void set_internal_state(std::span<const double> state) override {
    set_internal_states(state, couplings_.environment_steppers());
  }

 private:
  /// `varies`: with friction on nonlinear couplings.
  enum class Drag { none, plain, varies, noisy };

  void load_state() {
    if (!problem_.communicator().is_root()) return;
    for (int i = 0; i < N; ++i) {
      q_[i] = problem_.q[i];
      p_[i] = problem_.p[i];
    }
    couplings_.begin(q_);
    dissipated_ = problem_.dissipated;
    is_force_current_ = false;
  }
  void store_state() {
    if (!problem_.communicator().is_root()) return;
    store_particles(q_, p_);
    problem_.dissipated = dissipated_;
  }
  void store_particles(const FixedVector<N>& q, const FixedVector<N>& p) {
    for (int i = 0; i < N; ++i) {
      problem_.q[i] = q[i];
      problem_.p[i] = p[i];
    }
  }

  // Positions and momenta are local variables of the loop: between two calls of an environment they need not be stored
  // in memory. An environment takes its part of a substep as soon as it can.

  template <bool has_environments>
  void advance_damped(int steps, const AdvanceHints& ahead) {
    if (!problem_.coupled_friction().dampers().empty())
      return advance_steps<Drag::varies, has_environments>(steps, ahead);
    if (problem_.is_damped()) return advance_steps<Drag::plain, has_environments>(steps, ahead);
    advance_steps<Drag::none, has_environments>(steps, ahead);
  }

  template <Drag drag, bool has_environments>
  void advance_steps(int steps, const AdvanceHints& ahead) {
    FixedVector<N> q = q_, p = p_;
    const auto is_kick = [](const SubstepOp<N>& op) { return op.is_kick; };
    const auto points = static_cast<std::size_t>(steps * std::ranges::count_if(substep_ops_, is_kick));
    double* recorded = path_ != nullptr ? path_->append(points) : nullptr;
    for (int step = 0; step < steps; ++step) {
      if constexpr (drag == Drag::noisy) draw_impulse();
      for (const SubstepOp<N>& op : substep_ops_) {
        if (op.is_kick) {
          kick<drag, has_environments>(op, q, p);
          if (recorded != nullptr) recorded = record(q, damped_kick_.velocity(p), recorded);
        } else {
          const FixedVector<N> velocity = damped_kick_.velocity(p);
          if constexpr (has_environments) {
            couplings_.find_heads(q, velocity);
          }
          for (int i = 0; i < N; ++i) q[i] += op.duration * velocity[i];
          if constexpr (has_environments) couplings_.drift(op.substep, q, op.duration);
          is_force_current_ = false;
        }
      }
      ++problem_.clock.steps;
      if (ahead.after_step == nullptr) continue;
      store_particles(q, p);
      (*ahead.after_step)();
    }
    q_ = q;
    p_ = p;
  }

  static double* record(const FixedVector<N>& q, const FixedVector<N>& v, double* point) {
    return std::copy_n(v.begin(), N, std::copy_n(q.begin(), N, point));
  }

  void draw_impulse() {
    const Eigen::VectorXd& impulse = noise_->impulse(problem_.clock.steps, problem_.clock.h);
    for (int i = 0; i < N; ++i) impulse_[i] = impulse[i];
  }

  template <Drag drag, bool has_environments>
  void kick(const SubstepOp<N>& op, const FixedVector<N>& q, FixedVector<N>& p) {
    if (!is_force_current_) {
      potential_force_.evaluate(q, potential_force_at_q_);
      if constexpr (drag == Drag::varies) damped_kick_.set_damping(damping_.at(q));
    }
    is_force_current_ = true;
    FixedVector<N> force = potential_force_at_q_;
    if constexpr (has_environments) {
      couplings_.find_heads(q, damped_kick_.velocity(p));
      couplings_.kick(op.substep, force);
    }
    if constexpr (drag == Drag::none) {
      for (int i = 0; i < N; ++i) p[i] += op.duration * force[i];
    } else {
      damped_kick_.template kick<drag == Drag::noisy, drag == Drag::varies>(op, force, impulse_, p, dissipated_);
    }
  }

  Problem& problem_;
  RecordedPath* path_;
  ExplicitScheme scheme_;
  std::vector<SubstepOp<N>> substep_ops_;
  DampingInPlace<N> damping_;
  DampedKick<N> damped_kick_;
  Force potential_force_;
  EnvironmentCouplings<N> couplings_;
  WhiteNoise* noise_;  // nullptr where there is none
  FixedVector<N> q_, p_, potential_force_at_q_, impulse_;
  double dissipated_ = 0.0;
  bool is_force_current_ = false;  // whether potential_force_at_q_ is that at q_
};

template <int N>
std::unique_ptr<Stepper> make_with(const ExplicitScheme& scheme, Problem& problem, double h, RecordedPath* path) {
  if constexpr (N > 8) {
    return nullptr;
  } else {
    if (problem.q.size() > N) return make_with<N + 1>(scheme, problem, h, path);
    if (LinearForce<N>::applies_to(problem))
      return std::make_unique<SmallSplittingStepper<N, LinearForce<N>>>(scheme, problem, h, path);
    return std::make_unique<SmallSplittingStepper<N, AnyForce<N>>>(scheme, problem, h, path);
  }
}

}  // namespace

std::unique_ptr<Stepper> make_small_splitting_stepper(const ExplicitScheme& scheme, Problem& problem, double h,
                                                      RecordedPath* path) {
  const bool has_noise_and_environments = problem.noise() != nullptr && !problem.stepped_environments().empty();
  // A head may have more axes than there are coordinates: both ends of a ring are one particle.
  const auto has_more_axes = [&](const Environment* environment) {
    return environment->attachment().axes() > problem.q.size();
  };
  if (!is_plain_splitting(scheme, problem) || has_noise_and_environments ||
      std::ranges::any_of(problem.stepped_environments(), has_more_axes))
    return nullptr;
  return make_with<1>(scheme, problem, h, path);
}

}  // namespace bathline
