// Schemes by what they make of a line's memory.
// Tested by tests/model/semi_infinite_line/semi_infinite_line_test.cpp.
#include "model/semi_infinite_line/scheme_kernel.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

namespace bathline {

namespace {

constexpr double roundoff = 1e-13;

/// Whether steps in a row are kicks of a whole step and drifts of a whole step by turns.
bool is_leapfrog(const KickDriftSequence& turns) {
  return turns.stages() == 1 && std::abs(turns.kicks.front() - 1.0) < roundoff &&
         std::abs(turns.drifts.front() - 1.0) < roundoff;
}

/// Lobatto IIIA-IIIB with two stages: a kick at both ends of a drift.
bool is_leapfrog(const PartitionedRungeKutta& scheme) {
  if (scheme.stages() != 2) return false;
  Eigen::MatrixXd a(2, 2), a_hat(2, 2);
  a << 0.0, 0.0, 0.5, 0.5;
  a_hat << 0.5, 0.0, 0.5, 0.0;
  return scheme.a.isApprox(a, roundoff) && scheme.a_hat.isApprox(a_hat, roundoff);
}

/// b_i > 0 and b_i a_ij + b_j a_ji - b_i b_j positive semi-definite. Source: hairer2006, section II.1 for the matrix.
bool is_algebraically_stable(const PartitionedRungeKutta& scheme) {
  if (!scheme.a.isApprox(scheme.a_hat, roundoff) || scheme.b.minCoeff() <= 0.0) return false;
  const Eigen::MatrixXd weighted = scheme.b.asDiagonal() * scheme.a;
  const Eigen::MatrixXd m = weighted + weighted.transpose() - scheme.b * scheme.b.transpose();
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(m).eigenvalues().minCoeff() > -roundoff;
}

}  // namespace

bool is_midpoint(const Scheme& scheme) {
  const auto* stages = std::get_if<PartitionedRungeKutta>(&scheme);
  return stages != nullptr && stages->stages() == 1 && stages->a == stages->a_hat && stages->a(0, 0) == 0.5;
}

std::variant<SchemeKernel, std::string> kernel_of(const Scheme& scheme) {
  if (const auto* steps = std::get_if<ExplicitScheme>(&scheme)) {
    if (!steps->b.empty()) {
      return "an explicit Runge-Kutta method: a line without end is known to those that never make an oscillation "
             "grow, "
             "such as `gauss`, and to `gamma`, `stoermer-verlet` and compositions";
    }
    const std::optional<KickDriftSequence> turns = kick_drift_sequence_of(*steps);
    if (!turns) return "which is not made of kicks and drifts alone, as a line without end knows them";
    return is_leapfrog(*turns) ? SchemeKernel(LeapfrogKernel{}) : SchemeKernel(*turns);
  }
  if (const auto* stages = std::get_if<PartitionedRungeKutta>(&scheme)) {
    if (is_algebraically_stable(*stages)) return RungeKuttaKernel{};
    if (stages->stages() == 1 && std::abs(stages->a(0, 0) + stages->a_hat(0, 0) - 1.0) < roundoff) {
      return GammaKernel{stages->a_hat(0, 0)};
    }
    if (is_leapfrog(*stages)) return LeapfrogKernel{};
    return "which treats positions and momenta by different matrices, and the exponentials that a line without end "
           "consists of are neither; take `gauss`, or two stages";
  }
  return "for which no line without end is known; take `gamma`, `stoermer-verlet` or `gauss`";
}

}  // namespace bathline
