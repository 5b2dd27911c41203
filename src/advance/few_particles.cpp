// Explicit steps of a few particles and their environments, or with their noise.
// Tested by tests/advance/explicit_stepper_test.cpp.
#include "advance/few_particles.hpp"

#include "advance/explicit_blocks.hpp"
#include "advance/few_moves.hpp"

namespace bathline {

namespace {

/// -grad V of a quadratic potential.
template <int N>
class LinearForce {
 public:
  explicit LinearForce(const Problem& problem) : stiffness_(stiffness_of(problem)) {}
  void find(const Numbers<N>& q, Numbers<N>& force) const {
    for (int i = 0; i < N; ++i) force[i] = -stiffness_.times(q, i);
  }
  static bool is_of(const Problem& problem) {
    return dynamic_cast<const QuadraticPotential*>(problem.system().potential.get()) != nullptr;
  }

 private:
  static Matrix<N> stiffness_of(const Problem& problem) {
    Eigen::MatrixXd matrix;
    problem.system().potential->hessian(problem.q, matrix);
    return Matrix<N>(matrix);
  }
  Matrix<N> stiffness_;
};

/// -grad V of any other.
template <int N>
class AnyForce {
 public:
  explicit AnyForce(const Problem& problem) : potential_(*problem.system().potential), place_(N), gradient_(N) {}
  void find(const Numbers<N>& q, Numbers<N>& force) {
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
class Contacts {
 public:
  Contacts(Problem& problem, const ExplicitScheme& scheme, double h) : axes_(problem.system().axes) {
    contacts_.resize(problem.environments().size());
    for (std::size_t e = 0; e < contacts_.size(); ++e) {
      Environment& environment = *problem.environments()[e];
      marches_.push_back(environment.explicit_march(scheme, h));
      Contact& one = contacts_[e];
      one.march = marches_.back().get();
      one.weights = environment.attachment().weights();
      if (one.weights.size() == 1 && one.weights.front().weight == 1.0) {
        one.only = one.weights.front().particle * axes_;
      }
      one.head = {std::span(one.x).first(axes_), std::span(one.v).first(axes_)};
    }
  }
  Contacts(const Contacts&) = delete;
  Contacts& operator=(const Contacts&) = delete;

  const std::vector<std::unique_ptr<ExplicitMarch>>& marches() const { return marches_; }

  /// Of particles at `q`, which began at `start`.
  void find_heads(const Numbers<N>& q, const Numbers<N>& start, const Numbers<N>& velocity) {
    for (Contact& one : contacts_) {
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
  void kick(const Substep& substep, Numbers<N>& forces) {
    Numbers<N> force;
    for (const Contact& one : contacts_) {
      one.march->force(one.head, std::span(force).first(axes_));
      one.march->substep(substep, one.head);
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
    for (const Contact& one : contacts_) one.march->substep(substep, one.head);
  }

 private:
  struct Contact {
    ExplicitMarch* march = nullptr;
    std::vector<Attachment::Weight> weights;
    int only = -1;  // the first degree of freedom of the only particle that it follows, as it is; else negative
    Numbers<N> x{}, v{};
    HeadMotion head;  // these two
  };

  int axes_;
  std::vector<Contact> contacts_;
  std::vector<std::unique_ptr<ExplicitMarch>> marches_;
};

template <int N, class Force>
class FewParticles final : public Stepper {
 public:
  FewParticles(const ExplicitScheme& scheme, Problem& problem, double h)
      : problem_(problem),
        scheme_(feels_velocity(problem) ? scheme : scheme.merged()),
        moves_(moves_of<N>(scheme_, problem, h)),
        friction_(problem),
        of_potential_(problem),
        contacts_(problem, scheme_, h),
        noise_(problem.is_damped() ? problem.noise() : nullptr) {
    problem.clock.h = h;
  }

  std::int64_t portion() const override { return portion_of(contacts_.marches()); }

  std::optional<Failure> advance(std::int64_t steps, const Foresight& ahead) override {
    fetch();
    advance_in_blocks(contacts_.marches(), steps, ahead, [&](int block) {
      if (!problem_.communicator().is_root()) {
        problem_.clock.steps += block;
      } else if (!contacts_.marches().empty()) {
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

  std::vector<double> memory() const override { return memory_of(contacts_.marches()); }
  void remember(std::span<const double> memory) override { hand_out_memory(memory, contacts_.marches()); }

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
    Numbers<N> q = q_, p = p_;
    for (int step = 0; step < steps; ++step) {
      if constexpr (drag == Drag::noisy) draw_impulse();
      for (const Move<N>& move : moves_) {
        if (move.is_kick) {
          kick<drag, has_environments>(move, q, p);
        } else {
          const Numbers<N> velocity = friction_.velocity(p);
          if constexpr (has_environments) {
            contacts_.find_heads(q, start_, velocity);
            contacts_.drift(move.substep);
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
  void kick(const Move<N>& move, const Numbers<N>& q, Numbers<N>& p) {
    if (!is_known_) of_potential_.find(q, of_potential_at_q_);
    is_known_ = true;
    Numbers<N> force = of_potential_at_q_;
    if constexpr (has_environments) {
      contacts_.find_heads(q, start_, friction_.velocity(p));
      contacts_.kick(move.substep, force);
    }
    if constexpr (drag == Drag::none) {
      for (int i = 0; i < N; ++i) p[i] += move.seconds * force[i];
    } else {
      friction_.template kick<drag == Drag::noisy>(move, force, impulse_, p, dissipated_);
    }
  }

  Problem& problem_;
  ExplicitScheme scheme_;
  std::vector<Move<N>> moves_;
  Friction<N> friction_;
  Force of_potential_;
  Contacts<N> contacts_;
  WhiteNoise* noise_;  // nullptr where there is none
  Numbers<N> start_, q_, p_, of_potential_at_q_, impulse_;
  double dissipated_ = 0.0;
  bool is_known_ = false;  // whether of_potential_at_q_ is that at q_
};

template <int N>
std::unique_ptr<Stepper> make_with(const ExplicitScheme& scheme, Problem& problem, double h) {
  if constexpr (N > 8) {
    return nullptr;
  } else {
    if (problem.q.size() > N) return make_with<N + 1>(scheme, problem, h);
    if (LinearForce<N>::is_of(problem)) return std::make_unique<FewParticles<N, LinearForce<N>>>(scheme, problem, h);
    return std::make_unique<FewParticles<N, AnyForce<N>>>(scheme, problem, h);
  }
}

}  // namespace

std::unique_ptr<Stepper> make_few_particles_stepper(const ExplicitScheme& scheme, Problem& problem, double h) {
  const bool is_in_noise = problem.noise() != nullptr && !problem.environments().empty();
  if (!has_only_moves(scheme, problem) || is_in_noise) return nullptr;
  return make_with<1>(scheme, problem, h);
}

}  // namespace bathline
