// The largest step with which an integrator stays bounded on a problem.
#include "advance/stability.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "advance/assembled_system.hpp"
#include "advance/step_matrix.hpp"
#include "solve/dense.hpp"

namespace bathline {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Highest frequency of the problem linearised at its start. A vibration above the band of a long environment is
/// localised at the particles, so that its first sites suffice; the band's edge is known in closed form.
double highest_frequency(const Problem& problem) {
  constexpr std::int64_t sites_that_matter = 200;
  const AssembledSystem system(problem, sites_that_matter);
  const Eigen::VectorXd scale = system.mass().cwiseSqrt().cwiseInverse();
  const Eigen::MatrixXd matrix = scale.asDiagonal() * system.stiffness() * scale.asDiagonal();
  double highest = std::sqrt(std::max(0.0, largest_symmetric_eigenvalue(matrix)));
  for (const auto& environment : problem.environments()) {
    if (environment->sites() > sites_that_matter) highest = std::max(highest, environment->highest_frequency());
  }
  return highest;
}

/// Makes motions that nothing holds and nothing damps decay slowly. Drifting away is no instability, but its double
/// eigenvalue 1 would be split by the square root of round-off and look like one.
void hold_free_motions(const Eigen::VectorXd& mass, Eigen::MatrixXd& stiffness, Eigen::MatrixXd& damping) {
  const Eigen::VectorXd root = mass.cwiseSqrt(), scale = root.cwiseInverse();
  const Eigen::MatrixXd k = scale.asDiagonal() * stiffness * scale.asDiagonal();
  const Eigen::MatrixXd c = scale.asDiagonal() * damping * scale.asDiagonal();
  const double rate = std::sqrt(k.norm()) + c.norm();
  if (!std::isfinite(rate) || rate == 0.0) return;
  const SymmetricEigen modes = symmetric_eigen(k * k / std::pow(rate, 4) + c / rate);
  for (Eigen::Index i = 0; i < modes.values.size(); ++i) {
    if (modes.values[i] > 1e-13) continue;
    // Decay at a fifth and a tenth of the fastest rate: two simple eigenvalues, and no limit lower than the others'.
    const Eigen::VectorXd shape = root.asDiagonal() * modes.vectors.col(i);
    stiffness += 0.02 * rate * rate * shape * shape.transpose();
    damping += 0.3 * rate * shape * shape.transpose();
  }
}

/// The open problem with its potential replaced by the quadratic one of its start, so that a step is a matrix.
Problem linearised(const Problem& problem) {
  OpenSystem system = problem.system();
  Eigen::MatrixXd hessian(system.size(), system.size()), damping = problem.damping();
  system.potential->hessian(system.q0, hessian);
  hold_free_motions(system.mass, hessian, damping);
  if (system.force) {
    Eigen::MatrixXd by_q, by_v;
    system.force->slopes(system.q0, system.v0, by_q, by_v);
    hessian -= by_q;
    damping -= by_v;
    system.force = nullptr;
  }
  system.potential = std::make_shared<QuadraticPotential>(hessian);
  return Problem(system, damping, {}, problem.communicator());
}

}  // namespace

StabilityLimit stability_limit(const Problem& problem, const Method& method, const Section& options) {
  StabilityLimit limit;
  limit.is_linear = problem.system().is_linear();
  const Properties properties = method.properties(options);
  if (properties.oscillation_limit == infinity && properties.decay_limit == infinity) {
    limit.largest_step = infinity;
    return limit;
  }
  if (!problem.environments().empty()) {
    const double frequency = highest_frequency(problem);
    limit.never_stable = properties.oscillation_limit == 0.0;
    limit.largest_step = frequency > 0.0 ? properties.oscillation_limit / frequency : infinity;
    return limit;
  }
  Problem linear = linearised(problem);
  // A motion that grows by itself (an unstable equilibrium) is nothing that the step could cure.
  constexpr double slack = 1e-10;
  if (spectral_abscissa(motion_matrix(linear)) > slack) {
    limit.largest_step = infinity;
    return limit;
  }
  const Scheme scheme = method.scheme(options);
  const auto is_stable = [&](double h) { return spectral_radius(step_matrix(scheme, linear, h)) <= 1.0 + slack; };
  const double fastest = std::max(motion_matrix(linear).cwiseAbs().rowwise().sum().maxCoeff(), 1e-300);
  double stable = 1e-4 / fastest;
  if (!is_stable(stable)) {
    limit.never_stable = true;
    return limit;
  }
  double unstable = stable;
  do {
    stable = unstable;
    unstable *= 2.0;
    if (unstable * fastest > 1e8) {
      limit.largest_step = infinity;
      return limit;
    }
  } while (is_stable(unstable));
  for (int i = 0; i < 60 && unstable - stable > 1e-12 * stable; ++i) {
    const double middle = 0.5 * (stable + unstable);
    (is_stable(middle) ? stable : unstable) = middle;
  }
  limit.largest_step = stable;
  return limit;
}

}  // namespace bathline
