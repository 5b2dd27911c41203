// Explicit steps of a few particles and their environments, or with their noise.
// Tested by tests/steppers/explicit_stepper_test.cpp.
#include "steppers/small_splitting_stepper.hpp"

#include "steppers/time_blocking.hpp"
#include "steppers/splitting_kernel.hpp"

namespace bathline {

namespace {

/// -grad V of a quadratic potential.
template <int N>
class LinearForce {
 public:
  explicit LinearForce(const Problem& problem) : stiffness_(stiffness_of(problem)) {}
  void find(const FixedVector<N>& q, FixedVector<N>& force) const {
    for (int i = 0; i < N; ++i) force[i] = -stiffness_.times(q, i);
  }
  static bool is_of(const Problem& problem) {
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

/// -grad V of any other.
template <int N>
class AnyForce {
 public:
  explicit AnyForce(const Problem& problem) : potential_(*problem.system().potential), place_(N), gradient_(N) {}
  void find(const FixedVector<N>& q, FixedVector<N>& force) {
    for (int i = 0; i < N; ++i) place_[i] = q[i];
    potential_.gradient(place_, gradient_);
    for (int i = 0; i < N; ++i) force[i] = -gradient_[i];
  }

 private:
  const Potential& potential_;
  Eigen::VectorXd place_, gradient_;
};

/// The environments on their way, and how their heads move.
template <int N>
class EnvironmentCouplings {
 public:
  EnvironmentCouplings(Problem& problem, const ExplicitScheme& scheme, double h) : axes_(problem.system().axes) {
    couplings_.resize(problem.environments().size());
    for (std::size_t e = 0; e < couplings_.size(); ++e) {
      Environment& environment = *problem.environments()[e];
      environment_steppers_.push_back(environment.explicit_stepper(scheme, h));
      Coupling& one = couplings_[e];
      one.stepper = environment_steppers_.back().get();
      one.weights = environment.attachment().weights();
      if (one.weights.size() == 1 && one.weights.front().weight == 1.0) {
        one.only = one.weights.front().particle * axes_;
      }
      one.head = {std::span(one.x).first(axes_), std::span(one.v).first(axes_)};
    }
  }
  EnvironmentCouplings(const EnvironmentCouplings&) = delete;
  EnvironmentCouplings& operator=(const EnvironmentCouplings&) = delete;

  const std::vector<std::unique_ptr<ExplicitEnvironmentStepper>>& environment_steppers() const {
    return environment_steppers_;
  }

  /// Of particles at `q`, which began at `start`.
  void find_heads(const FixedVector<N>& q, const FixedVector<N>& start, const FixedVector<N>& velocity) {
    for (Coupling& one : couplings_) {
      for (int axis = 0; axis < axes_ && one.only >= 0; ++axis) {
        one.x[axis] = 0.0 + (q[one.only + axis] - start[one.only + axis]);
        one.v[axis] = 0.0 + velocity[one.only + axis];
      }
      for (int axis = 0; axis < axes_ && one.only < 0; ++axis) {
        double x = 0.0, v = 0.0;
        for (const Attachment::Weight& w : one.weights) {
          const int i = w.particle * axes_ + axis;
          x += w.weight * (q[i] - start[i]);
          v += w.weight * velocity[i];
        }
        one.x[axis] = x;
        one.v[axis] = v;
      }
    }
  }
  /// Their part of a kick, after their forces have been added to those on the particles.
  void kick(const Substep& substep, FixedVector<N>& forces) {
    FixedVector<N> force;
    for (const Coupling& one : couplings_) {
      one.stepper->force(one.head, std::span(force).first(axes_));
      one.stepper->substep(substep, one.head);
      if (one.only >= 0) {
        for (int axis = 0; axis < axes_; ++axis) forces[one.only + axis] += force[axis];
        continue;
      }
      for (const Attachment::Weight& w : one.weights) {
        for (int axis = 0; axis < axes_; ++axis) forces[w.particle * axes_ + axis] += w.weight * force[axis];
      }
    }
  }
  void drift(const Substep& substep) {
    for (const Coupling& one : couplings_) one.stepper->substep(substep, one.head);
  }

 private:
  struct Coupling {
    ExplicitEnvironmentStepper* stepper = nullptr;
    std::vector<Attachment::Weight> weights;
    int only = -1;  // the first degree of freedom of the only particle that it follows, as it is; else negative
    FixedVector<N> x{}, v{};
    HeadMotion head;  // these two
  };

  int axes_;
  std::vector<Coupling> couplings_;
  std::vector<std::unique_ptr<ExplicitEnvironmentStepper>> environment_steppers_;
};

template <int N, class Force>
class SmallSplittingStepper final : public Stepper {
 public:
  SmallSplittingStepper(const ExplicitScheme& scheme, Problem& problem, double h)
      : problem_(problem),
        scheme_(depends_on_velocity(problem) ? scheme : scheme.merged()),
        moves_(substep_ops<N>(scheme_, problem, h)),
        damped_kick_(problem),
        potential_force_(problem),
        couplings_(problem, scheme_, h),
        noise_(problem.is_damped() ? problem.noise() : nullptr) {
    problem.clock.h = h;
  }

  std::int64_t block_granularity() const override { return block_granularity_of(couplings_.environment_steppers()); }

  std::optional<Failure> advance(std::int64_t steps, const AdvanceHints& ahead) override {
    fetch();
    advance_in_blocks(couplings_.environment_steppers(), steps, ahead, [&](int block) {
      if (!problem_.communicator().is_root()) {
        problem_.clock.steps += block;
      } else if (!couplings_.environment_steppers().empty()) {
        problem_.is_damped() ? take<Drag::plain, true>(block) : take<Drag::none, true>(block);
      } else if (noise_ != nullptr) {
        take<Drag::noisy, false>(block);
      } else {
        problem_.is_damped() ? take<Drag::plain, false>(block) : take<Drag::none, false>(block);
      }
    });
    bring_back();
    return std::nullopt;
  }

  std::vector<double> internal_state() const override { return internal_states_of(couplings_.environment_steppers()); }
  void set_internal_state(std::span<const double> memory) override {
    set_internal_states(memory, couplings_.environment_steppers());
  }

 private:
  enum class Drag { none, plain, noisy };

  void fetch() {
    if (!problem_.communicator().is_root()) return;
    for (int i = 0; i < N; ++i) {
      start_[i] = problem_.system().q0[i];
      q_[i] = problem_.q[i];
      p_[i] = problem_.p[i];
    }
    dissipated_ = problem_.dissipated;
    is_known_ = false;
  }
  void bring_back() {
    if (!problem_.communicator().is_root()) return;
    for (int i = 0; i < N; ++i) {
      problem_.q[i] = q_[i];
      problem_.p[i] = p_[i];
    }
    problem_.dissipated = dissipated_;
  }

  // Where the particles are, and how they move, is a variable of the loop: from one call of an environment to the next
  // these numbers need not go by way of memory. An environment takes its part of a substep as soon as it can.

  template <Drag drag, bool has_environments>
  void take(int steps) {
    FixedVector<N> q = q_, p = p_;
    for (int step = 0; step < steps; ++step) {
      if constexpr (drag == Drag::noisy) draw_impulse();
      for (const SubstepOp<N>& move : moves_) {
        if (move.is_kick) {
          kick<drag, has_environments>(move, q, p);
        } else {
          const FixedVector<N> velocity = damped_kick_.velocity(p);
          if constexpr (has_environments) {
            couplings_.find_heads(q, start_, velocity);
            couplings_.drift(move.substep);
          }
          for (int i = 0; i < N; ++i) q[i] += move.seconds * velocity[i];
          is_known_ = false;
        }
      }
      ++problem_.clock.steps;
    }
    q_ = q;
    p_ = p;
  }

  void draw_impulse() {
    const Eigen::VectorXd& impulse = noise_->impulse(problem_.clock.steps, problem_.clock.h);
    for (int i = 0; i < N; ++i) impulse_[i] = impulse[i];
  }

  template <Drag drag, bool has_environments>
  void kick(const SubstepOp<N>& move, const FixedVector<N>& q, FixedVector<N>& p) {
    if (!is_known_) potential_force_.find(q, potential_force_at_q_);
    is_known_ = true;
    FixedVector<N> force = potential_force_at_q_;
    if constexpr (has_environments) {
      couplings_.find_heads(q, start_, damped_kick_.velocity(p));
      couplings_.kick(move.substep, force);
    }
    if constexpr (drag == Drag::none) {
      for (int i = 0; i < N; ++i) p[i] += move.seconds * force[i];
    } else {
      damped_kick_.template kick<drag == Drag::noisy>(move, force, impulse_, p, dissipated_);
    }
  }

  Problem& problem_;
  ExplicitScheme scheme_;
  std::vector<SubstepOp<N>> moves_;
  DampedKick<N> damped_kick_;
  Force potential_force_;
  EnvironmentCouplings<N> couplings_;
  WhiteNoise* noise_;  // nullptr where there is none
  FixedVector<N> start_, q_, p_, potential_force_at_q_, impulse_;
  double dissipated_ = 0.0;
  bool is_known_ = false;  // whether potential_force_at_q_ is that at q_
};

template <int N>
std::unique_ptr<Stepper> make_with(const ExplicitScheme& scheme, Problem& problem, double h) {
  if constexpr (N > 8) {
    return nullptr;
  } else {
    if (problem.q.size() > N) return make_with<N + 1>(scheme, problem, h);
    if (LinearForce<N>::is_of(problem))
      return std::make_unique<SmallSplittingStepper<N, LinearForce<N>>>(scheme, problem, h);
    return std::make_unique<SmallSplittingStepper<N, AnyForce<N>>>(scheme, problem, h);
  }
}

}  // namespace

std::unique_ptr<Stepper> make_small_splitting_stepper(const ExplicitScheme& scheme, Problem& problem, double h) {
  const bool is_in_noise = problem.noise() != nullptr && !problem.environments().empty();
  if (!is_plain_splitting(scheme, problem) || is_in_noise) return nullptr;
  return make_with<1>(scheme, problem, h);
}

}  // namespace bathline
