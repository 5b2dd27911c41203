// Explicit steps of a few particles and their environments: loops of a length known at compile time over plain arrays.
//
// Every operation is that of the stepper for all problems, sums and eliminations in the order in which Eigen makes
// them, so that the bits are the same.
// Tested by tests/advance/explicit_stepper_test.cpp.
#include "advance/few_particles.hpp"

#include <Eigen/LU>
#include <array>
#include <cmath>

#include "advance/explicit_blocks.hpp"

namespace bathline {

namespace {

template <int N>
using Numbers = std::array<double, N>;

template <int N>
struct Matrix {
  std::array<Numbers<N>, N> rows{};

  explicit Matrix(const Eigen::MatrixXd& matrix) {
    for (int i = 0; i < N; ++i) {
      for (int j = 0; j < N; ++j) rows[i][j] = matrix(i, j);
    }
  }
  double times(const Numbers<N>& x, int row) const {
    double sum = 0.0;
    for (int j = 0; j < N; ++j) sum += rows[row][j] * x[j];
    return sum;
  }
};

/// Solves for the momenta after a kick with the velocity after it.
template <int N>
class Elimination {
 public:
  explicit Elimination(const Eigen::MatrixXd& matrix) : Elimination(Eigen::PartialPivLU<Eigen::MatrixXd>(matrix)) {}

  Numbers<N> solve(const Numbers<N>& b) const {
    Numbers<N> x;
    for (int i = 0; i < N; ++i) x[place_[i]] = b[i];
    for (int j = 0; j < N; ++j) {
      if (x[j] == 0.0) continue;
      for (int i = j + 1; i < N; ++i) x[i] -= x[j] * factors_.rows[i][j];
    }
    for (int j = N - 1; j >= 0; --j) {
      if (x[j] == 0.0) continue;
      x[j] /= factors_.rows[j][j];
      for (int i = 0; i < j; ++i) x[i] -= x[j] * factors_.rows[i][j];
    }
    return x;
  }

 private:
  explicit Elimination(const Eigen::PartialPivLU<Eigen::MatrixXd>& lu) : factors_(lu.matrixLU()) {
    for (int i = 0; i < N; ++i) place_[i] = lu.permutationP().indices()[i];
  }
  Matrix<N> factors_;
  std::array<int, N> place_;  // of every equation
};

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
    for (const auto& environment : problem.environments()) {
      contacts_.push_back({.weights = environment->attachment().weights()});
      marches_.push_back(environment->explicit_march(scheme, h));
    }
  }

  const std::vector<std::unique_ptr<ExplicitMarch>>& marches() const { return marches_; }

  /// Of particles at `q`, which began at `start`.
  void find_heads(const Numbers<N>& q, const Numbers<N>& start, const Numbers<N>& velocity) {
    for (Contact& one : contacts_) {
      for (int axis = 0; axis < axes_; ++axis) {
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
  void add_forces(Numbers<N>& forces) const {
    Numbers<N> force;
    for (std::size_t e = 0; e < marches_.size(); ++e) {
      const Contact& one = contacts_[e];
      marches_[e]->force(head(one), std::span(force).first(axes_));
      for (const Attachment::Weight& w : one.weights) {
        for (int axis = 0; axis < axes_; ++axis) forces[w.particle * axes_ + axis] += w.weight * force[axis];
      }
    }
  }
  void take(const Substep& substep) {
    for (std::size_t e = 0; e < marches_.size(); ++e) marches_[e]->substep(substep, head(contacts_[e]));
  }

 private:
  struct Contact {
    std::vector<Attachment::Weight> weights;
    Numbers<N> x{}, v{};
  };
  HeadMotion head(const Contact& one) const { return {std::span(one.x).first(axes_), std::span(one.v).first(axes_)}; }

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
        damping_(problem.damping()),
        of_potential_(problem),
        contacts_(problem, scheme_, h) {
    problem.clock.h = h;
    const Eigen::VectorXd& mass = problem.system().mass;
    for (int i = 0; i < N; ++i) mass_[i] = mass[i];
    for (const Substep& substep : scheme_.substeps) {
      const bool is_kick = substep.kind == Substep::Kind::kick;
      const bool solves = is_kick && substep.velocity_after && problem.is_damped();
      Eigen::MatrixXd matrix = Eigen::MatrixXd::Identity(N, N);
      if (solves) matrix += substep.weight * h * problem.damping() * mass.cwiseInverse().asDiagonal();
      moves_.push_back({substep, is_kick, solves, substep.weight * h, Elimination<N>(matrix)});
    }
  }

  std::int64_t portion() const override { return portion_of(contacts_.marches()); }

  std::optional<Failure> advance(std::int64_t steps, const Foresight& ahead) override {
    fetch();
    advance_in_blocks(contacts_.marches(), steps, ahead, [&](int block) {
      problem_.clock.steps += block;
      if (!problem_.communicator().is_root()) return;
      if (!contacts_.marches().empty()) {
        problem_.is_damped() ? take<true, true>(block) : take<false, true>(block);
      } else {
        problem_.is_damped() ? take<true, false>(block) : take<false, false>(block);
      }
    });
    bring_back();
    return std::nullopt;
  }

  std::vector<double> memory() const override { return memory_of(contacts_.marches()); }
  void remember(std::span<const double> memory) override { hand_out_memory(memory, contacts_.marches()); }

 private:
  struct Move {
    Substep substep;
    bool is_kick;
    bool solves;     // for the velocity after the kick
    double seconds;  // its weight times the step
    Elimination<N> elimination;
  };

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

  template <bool is_damped, bool has_environments>
  void take(int steps) {
    for (int step = 0; step < steps; ++step) {
      for (const Move& move : moves_) {
        Numbers<N> velocity;
        if (has_environments || !move.is_kick) {
          for (int i = 0; i < N; ++i) velocity[i] = p_[i] / mass_[i];
        }
        if constexpr (has_environments) contacts_.find_heads(q_, start_, velocity);
        if (move.is_kick) {
          kick<is_damped, has_environments>(move);
        } else {
          for (int i = 0; i < N; ++i) q_[i] += move.seconds * velocity[i];
          is_known_ = false;
        }
        if constexpr (has_environments) contacts_.take(move.substep);
      }
    }
  }

  template <bool is_damped, bool has_environments>
  void kick(const Move& move) {
    if (!is_known_) of_potential_.find(q_, of_potential_at_q_);
    is_known_ = true;
    if constexpr (has_environments) {
      force_ = of_potential_at_q_;
      contacts_.add_forces(force_);
      kick_by<is_damped>(move, force_);
    } else {
      kick_by<is_damped>(move, of_potential_at_q_);
    }
  }

  template <bool is_damped>
  void kick_by(const Move& move, const Numbers<N>& force) {
    if constexpr (is_damped) {
      kick_with_drag(move, force);
    } else {
      for (int i = 0; i < N; ++i) p_[i] += move.seconds * force[i];
    }
  }

  void kick_with_drag(const Move& move, const Numbers<N>& force) {
    if (move.solves) {
      Numbers<N> known;
      for (int i = 0; i < N; ++i) known[i] = p_[i] + move.seconds * force[i];
      p_ = move.elimination.solve(known);
    }
    Numbers<N> velocity, drag;
    for (int i = 0; i < N; ++i) velocity[i] = p_[i] / mass_[i];
    for (int i = 0; i < N; ++i) drag[i] = 0.0 - damping_.times(velocity, i);
    if (!move.solves) {
      for (int i = 0; i < N; ++i) p_[i] += move.seconds * (force[i] + drag[i]);
    }
    double power = velocity[0] * drag[0];
    for (int i = 1; i < N; ++i) power += velocity[i] * drag[i];
    dissipated_ -= move.seconds * power;
  }

  Problem& problem_;
  ExplicitScheme scheme_;
  std::vector<Move> moves_;
  Matrix<N> damping_;
  Force of_potential_;
  Contacts<N> contacts_;
  Numbers<N> mass_, start_, q_, p_, force_, of_potential_at_q_;
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
  const OpenSystem& system = problem.system();
  const bool is_plain =
      problem.noise() == nullptr && scheme.b.empty() && !scheme.has_heat_apart() && problem.heat.size() == 0;
  if (!is_plain || system.lagrangian || system.force || system.is_driven() || system.magnetic_field != 0.0) {
    return nullptr;
  }
  return make_with<1>(scheme, problem, h);
}

}  // namespace bathline
