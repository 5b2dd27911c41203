// The substeps of a splitting on few particles: loops of a length known at compile time over plain arrays, for single
// numbers or for SIMD registers with a realisation in every lane.
//
// Every operation is that of the general stepper, with sums and eliminations in Eigen's order, so that the bits are the
// same.
// Tested by tests/steppers/explicit_stepper_test.cpp.
#pragma once

#include <Eigen/LU>
#include <array>
#include <vector>

#include "steppers/time_blocking.hpp"
#include "simd/invariant_divisor.hpp"
#include "simd/simd_double.hpp"

namespace bathline {

/// Whether a step consists of drifts and kicks only: no stages and no exact flows of damping, no forces but those of
/// environments, potential, damping matrix, cold dampers on nonlinear couplings and noise, and no ledger of single
/// degrees of freedom.
inline bool is_plain_splitting(const ExplicitScheme& scheme, const Problem& problem) {
  const ParticleSystem& system = problem.system();
  const CoupledFriction& coupled = problem.coupled_friction();
  const bool has_plain_friction = coupled.dampers().empty() || (!coupled.is_noisy() && !scheme.is_drift_and_kick());
  // Couplings that depend on the time do work.
  return !problem.has_work() && scheme.b.empty() && !scheme.has_ou_substeps() && problem.heat.size() == 0 &&
         problem.exchange.size() == 0 && !system.lagrangian && !system.force && has_plain_friction &&
         !system.is_driven() && system.magnetic_field == 0.0;
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

  /// Eigen skips operations with zeros, which might change the sign of another zero.
  template <class Number>
  FixedVector<N, Number> solve(const FixedVector<N, Number>& b) const {
    FixedVector<N, Number> x;
    for (int i = 0; i < N; ++i) x[row_[i]] = b[i];
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
      row_[i] = lu.permutationP().indices()[i];
    }
  }
  FixedMatrix<N> factors_;
  std::array<InvariantDivisor, N> pivots_;
  std::array<int, N> row_;  // position of every equation after pivoting
};

/// One substep on N degrees of freedom.
template <int N>
struct SubstepOp {
  Substep substep;
  bool is_kick;
  bool is_implicit;  // whether the force is that of the velocity after the kick
  double duration;   // its weight times the step
  SmallLu<N> elimination;
};

/// Kicks with the damping matrix and velocities of N degrees of freedom.
template <int N>
class DampedKick {
 public:
  explicit DampedKick(const Problem& problem) : damping_(problem.damping()) {
    for (int i = 0; i < N; ++i) mass_[i] = InvariantDivisor(problem.system().mass[i]);
  }
  void set_damping(const FixedMatrix<N>& damping) { damping_ = damping; }

  template <class Number>
  FixedVector<N, Number> velocity(const FixedVector<N, Number>& p) const {
    FixedVector<N, Number> velocity;
    for (int i = 0; i < N; ++i) velocity[i] = mass_[i].divide(p[i]);
    return velocity;
  }

  /// A kick with drag. `force` is without drag; `impulse` is the noise of the whole step, of which the kicks get parts
  /// by their weights, and is unused where there is none. Whether the damping matrix `varies`: then it is eliminated
  /// here. Without inlining p would go through memory in every step.
  template <bool is_noisy, bool varies, class Number>
  [[gnu::always_inline]] void kick(const SubstepOp<N>& op, const FixedVector<N, Number>& force,
                                   const FixedVector<N, Number>& impulse, FixedVector<N, Number>& p,
                                   Number& dissipated) const {
    const double weight = op.substep.weight;
    [[maybe_unused]] FixedVector<N, Number> velocity_before;
    if constexpr (is_noisy) velocity_before = velocity(p);
    if (op.is_implicit) {
      FixedVector<N, Number> right_side;
      for (int i = 0; i < N; ++i) right_side[i] = p[i] + op.duration * force[i];
      if constexpr (is_noisy) {
        for (int i = 0; i < N; ++i) right_side[i] += weight * impulse[i];
      }
      if constexpr (varies) {
        p = eliminate(op.duration, right_side);
      } else {
        p = op.elimination.solve(right_side);
      }
    }
    FixedVector<N, Number> work_velocity = velocity(p), drag;
    for (int i = 0; i < N; ++i) drag[i] = 0.0 - damping_.times(work_velocity, i);
    if (!op.is_implicit) {
      for (int i = 0; i < N; ++i) p[i] += op.duration * (force[i] + drag[i]);
      if constexpr (is_noisy) {
        for (int i = 0; i < N; ++i) p[i] += weight * impulse[i];
      }
    }
    if constexpr (is_noisy) {
      const FixedVector<N, Number> velocity_after = velocity(p);
      for (int i = 0; i < N; ++i) work_velocity[i] = 0.5 * (velocity_before[i] + velocity_after[i]);
      dissipated -= weight * dot_product(work_velocity, impulse);
    }
    dissipated -= op.duration * dot_product(work_velocity, drag);
  }

 private:
  template <class Number>
  static Number dot_product(const FixedVector<N, Number>& a, const FixedVector<N, Number>& b) {
    Number sum = a[0] * b[0];
    for (int i = 1; i < N; ++i) sum += a[i] * b[i];
    return sum;
  }

  /// Solves (1 + duration C M^-1) p = b. The matrix is similar to a positive definite one, and needs no pivots.
  FixedVector<N> eliminate(double duration, FixedVector<N> b) const {
    FixedMatrix<N> matrix = damping_;
    for (int i = 0; i < N; ++i) {
      for (int j = 0; j < N; ++j)
        matrix.rows[i][j] = (i == j ? 1.0 : 0.0) + mass_[j].divide(duration * matrix.rows[i][j]);
    }
    for (int j = 0; j < N; ++j) {
      for (int i = j + 1; i < N; ++i) {
        const double factor = matrix.rows[i][j] / matrix.rows[j][j];
        for (int k = j + 1; k < N; ++k) matrix.rows[i][k] -= factor * matrix.rows[j][k];
        b[i] -= factor * b[j];
      }
    }
    for (int j = N - 1; j >= 0; --j) {
      for (int k = j + 1; k < N; ++k) b[j] -= matrix.rows[j][k] * b[k];
      b[j] /= matrix.rows[j][j];
    }
    return b;
  }

  std::array<InvariantDivisor, N> mass_;
  FixedMatrix<N> damping_;
};

/// All substeps of a step of h.
template <int N>
std::vector<SubstepOp<N>> substep_ops(const ExplicitScheme& scheme, const Problem& problem, double h) {
  std::vector<SubstepOp<N>> ops;
  for (const Substep& substep : scheme.substeps) {
    const bool is_kick = substep.kind == Substep::Kind::kick;
    const bool is_implicit = is_kick && substep.velocity_after && problem.is_damped();
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Identity(N, N);
    if (is_implicit) {
      matrix += substep.weight * h * problem.damping() * problem.system().mass.cwiseInverse().asDiagonal();
    }
    ops.push_back({substep, is_kick, is_implicit, substep.weight * h, SmallLu<N>(matrix)});
  }
  return ops;
}

}  // namespace bathline
