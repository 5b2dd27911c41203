// Explicit steps of a few particles on their own: loops of a length known at compile time over plain arrays.
//
// Every operation is that of the stepper for all problems, sums and eliminations in the order in which Eigen makes
// them, so that the bits are the same.
// Tested by tests/advance/explicit_stepper_test.cpp.
#include "advance/few_particles.hpp"

#include <Eigen/LU>
#include <array>
#include <cmath>

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

template <int N, class Force>
class FewParticles final : public Stepper {
 public:
  FewParticles(const ExplicitScheme& scheme, Problem& problem, double h)
      : problem_(problem), damping_(problem.damping()), of_potential_(problem) {
    problem.clock.h = h;
    const Eigen::VectorXd& mass = problem.system().mass;
    for (int i = 0; i < N; ++i) mass_[i] = mass[i];
    for (const Substep& substep : (problem.is_damped() ? scheme : scheme.merged()).substeps) {
      const bool is_kick = substep.kind == Substep::Kind::kick;
      const bool solves = is_kick && substep.velocity_after && problem.is_damped();
      Eigen::MatrixXd matrix = Eigen::MatrixXd::Identity(N, N);
      if (solves) matrix += substep.weight * h * problem.damping() * mass.cwiseInverse().asDiagonal();
      moves_.push_back({is_kick, solves, substep.weight * h, Elimination<N>(matrix)});
    }
  }

  std::optional<Failure> advance(std::int64_t steps, const Foresight&) override {
    problem_.clock.steps += steps;
    if (!problem_.communicator().is_root()) return std::nullopt;
    for (int i = 0; i < N; ++i) {
      q_[i] = problem_.q[i];
      p_[i] = problem_.p[i];
    }
    dissipated_ = problem_.dissipated;
    is_known_ = false;
    if (problem_.is_damped()) {
      take<true>(steps);
    } else {
      take<false>(steps);
    }
    for (int i = 0; i < N; ++i) {
      problem_.q[i] = q_[i];
      problem_.p[i] = p_[i];
    }
    problem_.dissipated = dissipated_;
    return std::nullopt;
  }

 private:
  struct Move {
    bool is_kick;
    bool solves;     // for the velocity after the kick
    double seconds;  // its weight times the step
    Elimination<N> elimination;
  };

  template <bool is_damped>
  void take(std::int64_t steps) {
    for (std::int64_t step = 0; step < steps; ++step) {
      for (const Move& move : moves_) {
        if (!move.is_kick) {
          for (int i = 0; i < N; ++i) q_[i] += move.seconds * (p_[i] / mass_[i]);
          is_known_ = false;
          continue;
        }
        if (!is_known_) of_potential_.find(q_, force_);
        is_known_ = true;
        if constexpr (is_damped) {
          kick_with_drag(move);
        } else {
          for (int i = 0; i < N; ++i) p_[i] += move.seconds * force_[i];
        }
      }
    }
  }

  void kick_with_drag(const Move& move) {
    if (move.solves) {
      Numbers<N> known;
      for (int i = 0; i < N; ++i) known[i] = p_[i] + move.seconds * force_[i];
      p_ = move.elimination.solve(known);
    }
    Numbers<N> velocity, drag;
    for (int i = 0; i < N; ++i) velocity[i] = p_[i] / mass_[i];
    for (int i = 0; i < N; ++i) drag[i] = 0.0 - damping_.times(velocity, i);
    if (!move.solves) {
      for (int i = 0; i < N; ++i) p_[i] += move.seconds * (force_[i] + drag[i]);
    }
    double power = velocity[0] * drag[0];
    for (int i = 1; i < N; ++i) power += velocity[i] * drag[i];
    dissipated_ -= move.seconds * power;
  }

  Problem& problem_;
  std::vector<Move> moves_;
  Matrix<N> damping_;
  Force of_potential_;
  Numbers<N> mass_, q_, p_, force_;
  double dissipated_ = 0.0;
  bool is_known_ = false;  // whether force_ is that at q_
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
  const bool is_alone = problem.environments().empty() && problem.noise() == nullptr;
  const bool is_plain = is_alone && scheme.b.empty() && !scheme.has_heat_apart();
  if (!is_plain || system.lagrangian || system.force || system.is_driven() || system.magnetic_field != 0.0) {
    return nullptr;
  }
  return make_with<1>(scheme, problem, h);
}

}  // namespace bathline
