// The kind of kernel that a scheme needs.
// Tested by tests/model/semi_infinite_line/semi_infinite_line_test.cpp.
#include "model/semi_infinite_line/scheme_kernel.hpp"

#include <algorithm>
#include <cmath>

#include "solve/dense.hpp"

namespace bathline {

namespace {

constexpr double round_off = 1e-13;

bool is_kick_or_drift(const Substep& substep) {
  return substep.kind == Substep::Kind::kick || substep.kind == Substep::Kind::drift;
}

/// Lobatto IIIA-IIIB with two stages: a kick at both ends of a drift.
bool is_leapfrog(const PartitionedRungeKutta& scheme) {
  if (scheme.stages() != 2) return false;
  Eigen::MatrixXd a(2, 2), a_hat(2, 2);
  a << 0.0, 0.0, 0.5, 0.5;
  a_hat << 0.5, 0.0, 0.5, 0.0;
  return scheme.a.isApprox(a, round_off) && scheme.a_hat.isApprox(a_hat, round_off);
}

/// b_i > 0 and b_i a_ij + b_j a_ji - b_i b_j positive semi-definite. Source: hairer2006, section II.1 for the matrix.
bool is_algebraically_stable(const PartitionedRungeKutta& scheme) {
  if (!scheme.a.isApprox(scheme.a_hat, round_off) || scheme.b.minCoeff() <= 0.0) return false;
  const Eigen::MatrixXd weighted = scheme.b.asDiagonal() * scheme.a;
  const Eigen::MatrixXd m = weighted + weighted.transpose() - scheme.b * scheme.b.transpose();
  return symmetric_eigenvalues(m).minCoeff() > -round_off;
}

}  // namespace

bool is_midpoint(const Scheme& scheme) {
  const auto* stages = std::get_if<PartitionedRungeKutta>(&scheme);
  return stages != nullptr && stages->stages() == 1 && stages->a == stages->a_hat && stages->a(0, 0) == 0.5;
}

std::variant<SchemeKernel, std::string> kernel_of(const Scheme& scheme) {
  if (const auto* steps = std::get_if<ExplicitScheme>(&scheme)) {
    if (!steps->b.empty()) {
      return "it is an explicit Runge-Kutta method, and a semi-infinite line needs kicks and drifts, or an "
             "algebraically stable method";
    }
    if (!std::all_of(steps->substeps.begin(), steps->substeps.end(), is_kick_or_drift)) {
      return "it does not consist of kicks and drifts alone, as a semi-infinite line requires";
    }
    // Consecutive steps alternate kicks and drifts of a whole step each.
    const std::size_t size = steps->merged().substeps.size();
    if (size == 2 || size == 3) return LeapfrogKernel{};
    return "it is a composition with several kicks a step, and a semi-infinite line supports one; set `sites` to a "
           "number so large that no echo returns before the end, or take `stoermer-verlet` or `gauss`";
  }
  if (const auto* stages = std::get_if<PartitionedRungeKutta>(&scheme)) {
    if (is_algebraically_stable(*stages)) return RungeKuttaKernel{};
    if (stages->stages() == 1 && std::abs(stages->a(0, 0) + stages->a_hat(0, 0) - 1.0) < round_off) {
      return GammaKernel{stages->a_hat(0, 0)};
    }
    if (is_leapfrog(*stages)) return LeapfrogKernel{};
    return "it has different tableaus for positions and momenta, and a semi-infinite line needs one tableau for both, "
           "but for two stages";
  }
  return "no kernel of a semi-infinite line is known for it";
}

}  // namespace bathline
