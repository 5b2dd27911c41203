// What the substeps of a splitting do to a few particles: loops of a length known at compile time over plain arrays,
// for single numbers or for registers with a realisation in every lane.
//
// Every operation is that of the stepper for all problems, sums and eliminations in the order in which Eigen makes
// them, so that the bits are the same.
// Tested by tests/steppers/explicit_stepper_test.cpp.
#pragma once

#include <Eigen/LU>
#include <array>
#include <vector>

#include "steppers/time_blocking.hpp"
#include "simd/invariant_divisor.hpp"
#include "simd/simd_double.hpp"

namespace bathline {

/// Whether there is nothing else in a step: no stages and no exact flows of damping, no forces but those of
/// environments, potential, damping matrix and noise, and no ledger of single degrees of freedom.
inline bool is_plain_splitting(const ExplicitScheme& scheme, const Problem& problem) {
  const ParticleSystem& system = problem.system();
  return scheme.b.empty() && !scheme.has_ou_substeps() && problem.heat.size() == 0 && !system.lagrangian &&
         !system.force && !system.is_driven() && system.magnetic_field == 0.0;
}

template <int N, class Number = double>
using FixedVector = std::array<Number, N>;

template <int N>
struct FixedMatrix {
  std::array<FixedVector<N>, N> rows{};

  explicit FixedMatrix(const Eigen::MatrixXd& matrix) {
    for (int i = 0; i < N; ++i) {
      for (int j = 0; j < N; ++j) rows[i][j] = matrix(i, j);
    }
  }
  template <class Number>
  Number times(const FixedVector<N, Number>& x, int row) const {
    Number sum{};
    for (int j = 0; j < N; ++j) sum += rows[row][j] * x[j];
    return sum;
  }
};

/// Solves for the momenta after a kick with the velocity after it.
template <int N>
class SmallLu {
 public:
  explicit SmallLu(const Eigen::MatrixXd& matrix) : SmallLu(Eigen::PartialPivLU<Eigen::MatrixXd>(matrix)) {}

  /// Eigen leaves out what a zero would do, which may be the sign of another zero.
  template <class Number>
  FixedVector<N, Number> solve(const FixedVector<N, Number>& b) const {
    FixedVector<N, Number> x;
    for (int i = 0; i < N; ++i) x[place_[i]] = b[i];
    for (int j = 0; j < N; ++j) {
      for (int i = j + 1; i < N; ++i) x[i] = x[j] == 0.0 ? x[i] : x[i] - x[j] * factors_.rows[i][j];
    }
    for (int j = N - 1; j >= 0; --j) {
      x[j] = x[j] == 0.0 ? x[j] : pivots_[j].divide(x[j]);
      for (int i = 0; i < j; ++i) x[i] = x[j] == 0.0 ? x[i] : x[i] - x[j] * factors_.rows[i][j];
    }
    return x;
  }

 private:
  explicit SmallLu(const Eigen::PartialPivLU<Eigen::MatrixXd>& lu) : factors_(lu.matrixLU()) {
    for (int i = 0; i < N; ++i) {
      pivots_[i] = InvariantDivisor(factors_.rows[i][i]);
      place_[i] = lu.permutationP().indices()[i];
    }
  }
  FixedMatrix<N> factors_;
  std::array<InvariantDivisor, N> pivots_;
  std::array<int, N> place_;  // of every equation
};

/// One substep on N degrees of freedom.
template <int N>
struct SubstepOp {
  Substep substep;
  bool is_kick;
  bool solves;     // for the velocity after the kick
  double seconds;  // its weight times the step
  SmallLu<N> elimination;
};

/// The masses and damping matrix of N degrees of freedom, and what follows from them.
template <int N>
class DampedKick {
 public:
  explicit DampedKick(const Problem& problem) : damping_(problem.damping()) {
    for (int i = 0; i < N; ++i) mass_[i] = InvariantDivisor(problem.system().mass[i]);
  }

  template <class Number>
  FixedVector<N, Number> velocity(const FixedVector<N, Number>& p) const {
    FixedVector<N, Number> velocity;
    for (int i = 0; i < N; ++i) velocity[i] = mass_[i].divide(p[i]);
    return velocity;
  }

  /// A kick with drag. `force` is without drag; `impulse` is the noise of the whole step, of which
  /// the kicks get parts by their weights, and is not looked at where there is none.
  template <bool is_noisy, class Number>
  void kick(const SubstepOp<N>& move, const FixedVector<N, Number>& force, const FixedVector<N, Number>& impulse,
            FixedVector<N, Number>& p, Number& dissipated) const {
    const double weight = move.substep.weight;
    [[maybe_unused]] FixedVector<N, Number> before;
    if constexpr (is_noisy) before = velocity(p);
    if (move.solves) {
      FixedVector<N, Number> known;
      for (int i = 0; i < N; ++i) known[i] = p[i] + move.seconds * force[i];
      if constexpr (is_noisy) {
        for (int i = 0; i < N; ++i) known[i] += weight * impulse[i];
      }
      p = move.elimination.solve(known);
    }
    FixedVector<N, Number> along = velocity(p), drag;
    for (int i = 0; i < N; ++i) drag[i] = 0.0 - damping_.times(along, i);
    if (!move.solves) {
      for (int i = 0; i < N; ++i) p[i] += move.seconds * (force[i] + drag[i]);
      if constexpr (is_noisy) {
        for (int i = 0; i < N; ++i) p[i] += weight * impulse[i];
      }
    }
    if constexpr (is_noisy) {
      const FixedVector<N, Number> after = velocity(p);
      for (int i = 0; i < N; ++i) along[i] = 0.5 * (before[i] + after[i]);
      dissipated -= weight * product(along, impulse);
    }
    dissipated -= move.seconds * product(along, drag);
  }

 private:
  template <class Number>
  static Number product(const FixedVector<N, Number>& a, const FixedVector<N, Number>& b) {
    Number sum = a[0] * b[0];
    for (int i = 1; i < N; ++i) sum += a[i] * b[i];
    return sum;
  }

  std::array<InvariantDivisor, N> mass_;
  FixedMatrix<N> damping_;
};

/// All substeps of a step of h.
template <int N>
std::vector<SubstepOp<N>> substep_ops(const ExplicitScheme& scheme, const Problem& problem, double h) {
  std::vector<SubstepOp<N>> moves;
  for (const Substep& substep : scheme.substeps) {
    const bool is_kick = substep.kind == Substep::Kind::kick;
    const bool solves = is_kick && substep.velocity_after && problem.is_damped();
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Identity(N, N);
    if (solves) {
      matrix += substep.weight * h * problem.damping() * problem.system().mass.cwiseInverse().asDiagonal();
    }
    moves.push_back({substep, is_kick, solves, substep.weight * h, SmallLu<N>(matrix)});
  }
  return moves;
}

}  // namespace bathline
