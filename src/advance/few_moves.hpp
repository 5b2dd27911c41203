// What the substeps of a splitting do to a few particles: loops of a length known at compile time over plain arrays,
// for single numbers or for registers with a realisation in every lane.
//
// Every operation is that of the stepper for all problems, sums and eliminations in the order in which Eigen makes
// them, so that the bits are the same.
// Tested by tests/advance/explicit_stepper_test.cpp.
#pragma once

#include <Eigen/LU>
#include <array>
#include <vector>

#include "advance/explicit_blocks.hpp"
#include "parallel/divisor.hpp"
#include "parallel/lanes.hpp"

namespace bathline {

/// Whether there is nothing else in a step: no stages and no exact flows of damping, no forces but those of
/// environments, potential, damping matrix and noise, and no ledger of single degrees of freedom.
inline bool has_only_moves(const ExplicitScheme& scheme, const Problem& problem) {
  const OpenSystem& system = problem.system();
  return scheme.b.empty() && !scheme.has_heat_apart() && problem.heat.size() == 0 && !system.lagrangian &&
         !system.force && !system.is_driven() && system.magnetic_field == 0.0;
}

template <int N, class Number = double>
using Numbers = std::array<Number, N>;

template <int N>
struct Matrix {
  std::array<Numbers<N>, N> rows{};

  explicit Matrix(const Eigen::MatrixXd& matrix) {
    for (int i = 0; i < N; ++i) {
      for (int j = 0; j < N; ++j) rows[i][j] = matrix(i, j);
    }
  }
  template <class Number>
  Number times(const Numbers<N, Number>& x, int row) const {
    Number sum{};
    for (int j = 0; j < N; ++j) sum += rows[row][j] * x[j];
    return sum;
  }
};

/// Solves for the momenta after a kick with the velocity after it.
template <int N>
class Elimination {
 public:
  explicit Elimination(const Eigen::MatrixXd& matrix) : Elimination(Eigen::PartialPivLU<Eigen::MatrixXd>(matrix)) {}

  /// Eigen leaves out what a zero would do, which may be the sign of another zero.
  template <class Number>
  Numbers<N, Number> solve(const Numbers<N, Number>& b) const {
    Numbers<N, Number> x;
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
  explicit Elimination(const Eigen::PartialPivLU<Eigen::MatrixXd>& lu) : factors_(lu.matrixLU()) {
    for (int i = 0; i < N; ++i) {
      pivots_[i] = Divisor(factors_.rows[i][i]);
      place_[i] = lu.permutationP().indices()[i];
    }
  }
  Matrix<N> factors_;
  std::array<Divisor, N> pivots_;
  std::array<int, N> place_;  // of every equation
};

/// One substep on N degrees of freedom.
template <int N>
struct Move {
  Substep substep;
  bool is_kick;
  bool solves;     // for the velocity after the kick
  double seconds;  // its weight times the step
  Elimination<N> elimination;
};

/// The masses and damping matrix of N degrees of freedom, and what follows from them.
template <int N>
class Friction {
 public:
  explicit Friction(const Problem& problem) : damping_(problem.damping()) {
    for (int i = 0; i < N; ++i) mass_[i] = Divisor(problem.system().mass[i]);
  }

  template <class Number>
  Numbers<N, Number> velocity(const Numbers<N, Number>& p) const {
    Numbers<N, Number> velocity;
    for (int i = 0; i < N; ++i) velocity[i] = mass_[i].divide(p[i]);
    return velocity;
  }

  /// A kick with drag. `force` is without drag; `impulse` is the noise of the whole step, of which
  /// the kicks get parts by their weights, and is not looked at where there is none.
  template <bool is_noisy, class Number>
  void kick(const Move<N>& move, const Numbers<N, Number>& force, const Numbers<N, Number>& impulse,
            Numbers<N, Number>& p, Number& dissipated) const {
    const double weight = move.substep.weight;
    [[maybe_unused]] Numbers<N, Number> before;
    if constexpr (is_noisy) before = velocity(p);
    if (move.solves) {
      Numbers<N, Number> known;
      for (int i = 0; i < N; ++i) known[i] = p[i] + move.seconds * force[i];
      if constexpr (is_noisy) {
        for (int i = 0; i < N; ++i) known[i] += weight * impulse[i];
      }
      p = move.elimination.solve(known);
    }
    Numbers<N, Number> along = velocity(p), drag;
    for (int i = 0; i < N; ++i) drag[i] = 0.0 - damping_.times(along, i);
    if (!move.solves) {
      for (int i = 0; i < N; ++i) p[i] += move.seconds * (force[i] + drag[i]);
      if constexpr (is_noisy) {
        for (int i = 0; i < N; ++i) p[i] += weight * impulse[i];
      }
    }
    if constexpr (is_noisy) {
      const Numbers<N, Number> after = velocity(p);
      for (int i = 0; i < N; ++i) along[i] = 0.5 * (before[i] + after[i]);
      dissipated -= weight * product(along, impulse);
    }
    dissipated -= move.seconds * product(along, drag);
  }

 private:
  template <class Number>
  static Number product(const Numbers<N, Number>& a, const Numbers<N, Number>& b) {
    Number sum = a[0] * b[0];
    for (int i = 1; i < N; ++i) sum += a[i] * b[i];
    return sum;
  }

  std::array<Divisor, N> mass_;
  Matrix<N> damping_;
};

/// All substeps of a step of h.
template <int N>
std::vector<Move<N>> moves_of(const ExplicitScheme& scheme, const Problem& problem, double h) {
  std::vector<Move<N>> moves;
  for (const Substep& substep : scheme.substeps) {
    const bool is_kick = substep.kind == Substep::Kind::kick;
    const bool solves = is_kick && substep.velocity_after && problem.is_damped();
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Identity(N, N);
    if (solves) {
      matrix += substep.weight * h * problem.damping() * problem.system().mass.cwiseInverse().asDiagonal();
    }
    moves.push_back({substep, is_kick, solves, substep.weight * h, Elimination<N>(matrix)});
  }
  return moves;
}

}  // namespace bathline
