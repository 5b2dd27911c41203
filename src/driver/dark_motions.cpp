// In the coordinates sqrt(m) q the normal modes phi of one frequency span a space. What is dark in it is the kernel of
// the couplings c -> c.phi there.
// Tested by tests/driver/noise_test.cpp.
#include "driver/dark_motions.hpp"

#include <algorithm>
#include <cmath>

#include "steppers/assembled_system.hpp"

namespace bathline {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// x' = A x of the particles' q and v, and of the states of environments where all of these are small and decay.
MatrixXd flow_of(const Problem& problem, const MatrixXd& stiffness, const MatrixXd& damping, bool is_linearised) {
  constexpr Index max_size = 400;
  const Index n = stiffness.rows();
  Index size = 2 * n;
  bool is_assembled = !is_linearised;
  for (const Environment* environment : problem.stepped_environments()) {
    const EnvironmentProperties& properties = environment->properties();
    is_assembled =
        is_assembled && properties.sites > 0 && properties.fastest_decay > 0.0 && properties.sites < max_size;
    size += 2 * properties.sites * environment->attachment().axes();
  }
  if (is_assembled && size <= max_size) {
    const MatrixXd drift = AssembledSystem(problem, LumpedNetwork::no_limit).linear_sde().drift;
    std::vector<Index> active;  // without the momenta of massless sites
    for (Index i = 0; i < size; ++i) {
      if (i < 2 * n || !drift.col(i).isZero(0.0)) active.push_back(i);
    }
    return drift(active, active);
  }
  const auto inverse_mass = problem.system().mass.cwiseInverse().asDiagonal();
  MatrixXd flow = MatrixXd::Zero(2 * n, 2 * n);
  flow.topRightCorner(n, n).setIdentity();
  flow.bottomLeftCorner(n, n) = -(inverse_mass * stiffness);
  flow.bottomRightCorner(n, n) = -(inverse_mass * damping);
  return flow;
}

}  // namespace

std::optional<DarkMotions> dark_motions(const Problem& problem) {
  constexpr Index max_particles = 1000;
  const ParticleSystem& system = problem.system();
  const Index n = system.size();
  if (!system.has_linear_forces() || system.magnetic_field != 0.0 || n > max_particles) return std::nullopt;
  DarkMotions result;
  bool has_rate = true;
  MatrixXd damping = problem.damping(), stiffness(n, n);
  for (const auto& environment : problem.environments()) {
    const EnvironmentProperties& properties = environment->properties();
    const bool is_nonlinear = environment->attachment().nonlinear() != nullptr;
    result.is_linearised = result.is_linearised || is_nonlinear;
    if (properties.is_white && !is_nonlinear) continue;  // part of the damping
    const bool has_constant = std::isfinite(properties.damping) && properties.damping > 0.0;
    has_rate = has_rate && has_constant;
    environment->attachment().add_outer(has_constant ? properties.damping : 1.0, damping);
  }
  if (damping.isZero(0.0)) return std::nullopt;
  system.potential->hessian(system.q0, stiffness);
  const VectorXd root = system.mass.cwiseSqrt();
  const auto scale = root.cwiseInverse().asDiagonal();
  const auto [values, modes] = symmetric_eigen(scale * stiffness * scale);
  const MatrixXd seen = modes.transpose() * (scale * damping * scale) * modes;
  const double largest = std::max(std::abs(values[0]), std::abs(values[n - 1])), zero = 1e-13 * largest;
  std::vector<VectorXd> others;  // the modes that are not dark
  for (Index first = 0, end = 0; first < n; first = end) {
    while (end < n && values[end] - values[first] <= 1e-9 * std::abs(values[first]) + 1e-14 * largest) ++end;
    const auto [squares, mixed] = symmetric_eigen(seen.block(first, first, end - first, end - first));
    for (Index k = 0; k < squares.size(); ++k) {
      if (squares[k] <= 1e-14 * seen.diagonal().maxCoeff() && values[first] >= -zero) {
        result.frequencies.push_back(values[first] <= zero ? 0.0 : std::sqrt(values[first]));
      } else {
        others.emplace_back(modes.middleCols(first, end - first) * mixed.col(k));
      }
    }
  }
  const bool is_diffusive = values[0] <= zero && (result.frequencies.empty() || result.frequencies[0] > 0.0);
  if (!has_rate || is_diffusive || others.empty() || others.size() > 200) return result;
  const MatrixXd flow = flow_of(problem, stiffness, damping, result.is_linearised);
  const auto kept = static_cast<Index>(others.size()), rest = flow.rows() - 2 * n;
  MatrixXd left = MatrixXd::Zero(2 * kept + rest, flow.rows()), right = left.transpose();
  for (Index k = 0; k < kept; ++k) {
    const VectorXd& mode = others[static_cast<std::size_t>(k)];
    left.row(k).head(n) = left.row(kept + k).segment(n, n) = mode.cwiseProduct(root);
    right.col(k).head(n) = right.col(kept + k).segment(n, n) = mode.cwiseQuotient(root);
  }
  left.bottomRightCorner(rest, rest).setIdentity();
  right.bottomRightCorner(rest, rest).setIdentity();
  const SlowestMotion slowest = slowest_motion_of_flow(left * flow * right);
  if (slowest.rate > 0.0) result.slowest = slowest;
  return result;
}

}  // namespace bathline
