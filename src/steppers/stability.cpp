// The largest step with which an integrator stays bounded on a problem.
#include "steppers/stability.hpp"

#include <Eigen/LU>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <optional>

#include "steppers/assembled_system.hpp"
#include "steppers/step_matrix.hpp"
#include "model/gyration.hpp"
#include "solve/dense.hpp"
#include "solve/lanczos.hpp"

namespace bathline {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// M^-1/2 K M^-1/2, whose eigenvalues are the squares of frequencies.
Eigen::SparseMatrix<double> per_mass(Eigen::SparseMatrix<double> stiffness, const Eigen::VectorXd& mass) {
  const Eigen::VectorXd scale = mass.cwiseSqrt().cwiseInverse();
  stiffness = scale.asDiagonal() * stiffness * scale.asDiagonal();
  return stiffness;
}

SymmetricEigen extremal_modes(const Eigen::SparseMatrix<double>& matrix, Eigen::Index lowest, Eigen::Index highest) {
  return extremal_eigenvalues([&](const Eigen::VectorXd& x, Eigen::VectorXd& y) { y.noalias() = matrix * x; },
                              matrix.rows(), lowest, highest);
}

/// Entries that are not finite, of potentials without second derivatives at the start, count as zero.
double highest_frequency(Eigen::SparseMatrix<double> stiffness_per_mass) {
  for (double& entry : stiffness_per_mass.coeffs()) {
    if (!std::isfinite(entry)) entry = 0.0;
  }
  // Computing all eigenvalues of a larger matrix takes too long.
  constexpr Eigen::Index max_dense_size = 450;
  const double square = stiffness_per_mass.rows() <= max_dense_size
                            ? largest_symmetric_eigenvalue(stiffness_per_mass)
                            : extremal_modes(stiffness_per_mass, 0, 1).values[0];
  return std::sqrt(std::max(0.0, square));
}

/// The matrices of m q'' = -K q - C q' + F q + G q' for a system linearised at its start.
struct Linearisation {
  Eigen::VectorXd mass;
  Eigen::MatrixXd stiffness, damping;
  Eigen::MatrixXd df_dq, df_dv;  // F and G, empty without a force
  Eigen::MatrixXd dp_dq;         // of the momentum that belongs to a Lagrangian, otherwise empty
};

/// A Lagrangian's second derivatives at the start together with the other forces, in coordinates in which its mass
/// matrix is the identity. Nothing where that matrix is not positive definite, as frequencies then do not decide
/// stability.
std::optional<Linearisation> linearise_lagrangian(const ParticleSystem& system, const Linearisation& other_forces) {
  const Eigen::Index n = system.size();
  Eigen::VectorXd x(2 * n + 2);
  x << system.q0, system.v0, 0.0, 0.0;
  Eigen::MatrixXd hessian(2 * n + 1, 2 * n + 1);
  system.lagrangian->hessian(x.data(), hessian.data());
  Eigen::MatrixXd mass_matrix = hessian.block(n, n, n, n);
  mass_matrix.diagonal() += system.mass;
  if (!hessian.allFinite()) return std::nullopt;
  const SymmetricEigen axes = symmetric_eigen(mass_matrix);
  if (!(axes.values[0] > 0.0)) return std::nullopt;
  const Eigen::MatrixXd scale =
      axes.vectors * axes.values.cwiseSqrt().cwiseInverse().asDiagonal() * axes.vectors.transpose();
  const auto scaled = [&](const Eigen::MatrixXd& matrix) -> Eigen::MatrixXd {
    if (matrix.size() == 0) return Eigen::MatrixXd::Zero(n, n);
    return scale * matrix * scale;
  };
  // (dL/dv)' contains d2L/dv dq v, the source of gyroscopic forces.
  const Eigen::MatrixXd mixed = hessian.block(n, 0, n, n);
  return Linearisation{Eigen::VectorXd::Ones(n),
                       scaled(-hessian.topLeftCorner(n, n)),
                       scaled(other_forces.damping),
                       scaled(other_forces.df_dq),
                       scaled(other_forces.df_dv) + scaled(mixed.transpose() - mixed),
                       scaled(mixed)};
}

/// The projection of a system on the few motions that decide which steps are stable: the fastest oscillations and the
/// fastest decays, the images of the fastest oscillations under the damping, and the unstable motions. The projected
/// system has no motion that is faster than the fastest of the whole, and where damping and stiffness share their modes
/// its fastest motions are those of the whole.
Linearisation project_on_extremal_modes(const Linearisation& whole) {
  constexpr Eigen::Index fastest = 6, slowest = 2;
  const Eigen::Index n = whole.mass.size();
  const Eigen::SparseMatrix<double> k = per_mass(whole.stiffness.sparseView(), whole.mass);
  const Eigen::SparseMatrix<double> c = per_mass(whole.damping.sparseView(), whole.mass);
  const SymmetricEigen oscillations = extremal_modes(k, slowest, fastest);
  const Eigen::SparseMatrix<double> symmetric_damping = 0.5 * (c + Eigen::SparseMatrix<double>(c.transpose()));
  const SymmetricEigen decays = extremal_modes(symmetric_damping, 0, fastest);
  Eigen::MatrixXd motions(n, 2 * oscillations.vectors.cols() + decays.vectors.cols());
  motions << oscillations.vectors, decays.vectors, c * oscillations.vectors;
  // Linearly dependent directions are dropped.
  const Eigen::MatrixXd lengths = motions.colwise().norm().cwiseMax(std::numeric_limits<double>::min());
  const SingularValues svd = singular_values(motions * lengths.row(0).cwiseInverse().asDiagonal());
  const Eigen::MatrixXd basis = svd.u.leftCols((svd.values.array() > 1e-8 * svd.values[0]).count());
  const Eigen::VectorXd scale = whole.mass.cwiseSqrt().cwiseInverse();
  const auto on_basis = [&](const Eigen::SparseMatrix<double>& matrix) -> Eigen::MatrixXd {
    return basis.transpose() * (matrix * basis);
  };
  const auto force_on_basis = [&](const Eigen::MatrixXd& matrix) -> Eigen::MatrixXd {
    if (matrix.size() == 0) return matrix;
    return basis.transpose() * (scale.asDiagonal() * (matrix * (scale.asDiagonal() * basis)));
  };
  return {Eigen::VectorXd::Ones(basis.cols()),
          on_basis(k),
          on_basis(c),
          force_on_basis(whole.df_dq),
          force_on_basis(whole.df_dv),
          force_on_basis(whole.dp_dq)};
}

/// Makes motions that no force depends on decay slowly. Uniform drift is not an instability, but round-off would split
/// its double eigenvalue 1 by the square root of epsilon, which looks like one. `field` is that of the system.
void regularise_rigid_modes(double field, Linearisation& system) {
  const Eigen::Index n = system.mass.size();
  const Eigen::VectorXd root = system.mass.cwiseSqrt(), scale = root.cwiseInverse();
  const auto scaled = [&](const Eigen::MatrixXd& matrix) -> Eigen::MatrixXd {
    if (matrix.size() == 0) return Eigen::MatrixXd::Zero(n, n);
    return scale.asDiagonal() * matrix * scale.asDiagonal();
  };
  const Eigen::MatrixXd k = scaled(system.stiffness) - scaled(system.df_dq), c = scaled(system.damping);
  Eigen::MatrixXd gyroscopic = scaled(system.df_dv);
  if (field != 0.0) gyroscopic += scaled(magnetic_jacobian(field, n));
  const double rate = std::sqrt(k.norm()) + c.norm() + gyroscopic.norm();
  if (!std::isfinite(rate) || rate == 0.0) return;
  const SymmetricEigen modes = symmetric_eigen(k.transpose() * k / std::pow(rate, 4) + c / rate +
                                               gyroscopic.transpose() * gyroscopic / (rate * rate));
  for (Eigen::Index i = 0; i < modes.values.size(); ++i) {
    if (modes.values[i] > 1e-13) continue;
    // Decay at a fifth and a tenth of the fastest rate: two simple eigenvalues, and a limit no lower than those of the
    // others.
    const Eigen::VectorXd shape = root.asDiagonal() * modes.vectors.col(i);
    system.stiffness += 0.02 * rate * rate * shape * shape.transpose();
    system.damping += 0.3 * rate * shape * shape.transpose();
  }
}

/// An open problem with a quadratic potential and linear forces, so that a step is a matrix.
struct LinearProblem {
  Problem problem;
  Eigen::MatrixXd dp_dq;  // as above
};

/// The step of the momentum of a Lagrangian, p = v + A q, with p' = A^T v - K q and the force of the damping, in unit
/// masses. Where a method treats positions and momenta differently it is not that of m v.
Eigen::MatrixXd step_of_momenta(const PartitionedRungeKutta& scheme, const LinearProblem& linear, double h) {
  const Eigen::Index n = linear.dp_dq.rows(), stages = scheme.stages();
  Eigen::MatrixXd stiffness(n, n);
  linear.problem.system().potential->hessian(Eigen::VectorXd::Zero(n), stiffness);
  // The damping contains the gyration (A^T - A) v.
  const Eigen::MatrixXd by_v = linear.dp_dq - linear.problem.damping(), twice = scheme.a_hat * scheme.a;
  Eigen::MatrixXd system = Eigen::MatrixXd::Identity(stages * n, stages * n), start(stages * n, 2 * n);
  for (Eigen::Index i = 0; i < stages; ++i) {
    for (Eigen::Index j = 0; j < stages; ++j) {
      system.block(i * n, j * n, n, n) +=
          h * (scheme.a(i, j) * linear.dp_dq - scheme.a_hat(i, j) * by_v + h * twice(i, j) * stiffness);
    }
    start.middleRows(i * n, n) << -linear.dp_dq - h * scheme.a_hat.row(i).sum() * stiffness,
        Eigen::MatrixXd::Identity(n, n);
  }
  const Eigen::MatrixXd velocities = Lu(system).solve(start);
  Eigen::MatrixXd step = Eigen::MatrixXd::Identity(2 * n, 2 * n), positions = step.topRows(n);
  for (Eigen::Index i = 0; i < stages; ++i) {
    positions = Eigen::MatrixXd::Identity(n, 2 * n);
    for (Eigen::Index j = 0; j < stages; ++j) positions += h * scheme.a(i, j) * velocities.middleRows(j * n, n);
    step.topRows(n) += h * scheme.b[i] * velocities.middleRows(i * n, n);
    step.bottomRows(n) += h * scheme.b[i] * (by_v * velocities.middleRows(i * n, n) - stiffness * positions);
  }
  return step;
}

/// The problem with its potential replaced by the quadratic one of its start. Nothing where the derivatives of its
/// forces are not finite.
std::optional<LinearProblem> linearised(const Problem& problem) {
  constexpr int max_dense_size = 24;
  ParticleSystem system = problem.system();
  Linearisation at_start;
  at_start.mass = system.mass;
  at_start.damping = problem.damping();
  at_start.stiffness.resize(system.size(), system.size());
  system.potential->hessian(system.q0, at_start.stiffness);
  if (problem.drag_force() != nullptr || system.applied) {
    problem.jacobians(system.q0, system.v0, 0.0, at_start.df_dq, at_start.df_dv);
    at_start.df_dv += problem.damping();  // which is kept apart
  }
  if (!at_start.stiffness.allFinite() || !at_start.df_dq.allFinite() || !at_start.df_dv.allFinite())
    return std::nullopt;
  if (system.lagrangian) {
    const std::optional<Linearisation> lagrangian_part = linearise_lagrangian(system, at_start);
    if (!lagrangian_part) return std::nullopt;
    at_start = *lagrangian_part;
    system.mass = at_start.mass;
    system.lagrangian = nullptr;
  }
  if (system.size() > max_dense_size) {
    at_start = project_on_extremal_modes(at_start);
    system.particles = static_cast<int>(at_start.mass.size());
    system.axes = 1;
    system.mass = at_start.mass;
    system.q0 = system.v0 = Eigen::VectorXd::Zero(system.size());
    system.observables.clear();
    system.magnetic_field = 0.0;
  }
  regularise_rigid_modes(system.magnetic_field, at_start);
  if (at_start.df_dq.size() > 0) {
    at_start.stiffness -= at_start.df_dq;
    at_start.damping -= at_start.df_dv;
    system.force = system.applied = nullptr;
  }
  system.drive = nullptr;
  system.potential = std::make_shared<QuadraticPotential>(at_start.stiffness);
  return LinearProblem{Problem(system, at_start.damping, {}, problem.communicator()), at_start.dp_dq};
}

Scheme scheme_of(const Problem& problem, const Method& method, const Section& options) {
  if (problem.is_noisy()) return method.langevin_scheme(options);
  return problem.system().lagrangian && method.lagrangian_scheme ? method.lagrangian_scheme(options)
                                                                 : method.scheme(options);
}

/// A bound of the frequencies and rates of x' = A x, x = (q, v), up to a factor: sqrt(K) + C in mass-scaled
/// coordinates.
double rate_of(const Eigen::MatrixXd& system, const Eigen::VectorXd& mass) {
  const Eigen::Index n = mass.size();
  const Eigen::VectorXd root = mass.cwiseSqrt();
  const auto row_sum = [&](const Eigen::MatrixXd& block) {
    return (root.asDiagonal() * block * root.cwiseInverse().asDiagonal()).cwiseAbs().rowwise().sum().maxCoeff();
  };
  return std::sqrt(row_sum(system.bottomLeftCorner(n, n))) + row_sum(system.bottomRightCorner(n, n));
}

/// Whether an eigenvalue has a `growth` beyond the uncertainty that round-off gives it: the norm of the matrix times
/// its condition number, and eps^(1/m) where m eigenvalues share an eigenvector, since these are split by as much and
/// have the condition numbers of the split ones. Source: golub2013, section 7.2.2.
template <class Growth>
bool certainly_grows(const Eigen::MatrixXd& matrix, Growth growth) {
  constexpr double safety = 100.0, ill_conditioned = 1e3;
  if (!matrix.allFinite()) return true;
  const RealEigen eigen = real_eigen(matrix);
  const Eigen::MatrixXd left = eigen.vectors.fullPivLu().inverse();
  const double round_off = safety * std::numeric_limits<double>::epsilon() * matrix.norm();
  for (Eigen::Index i = 0; i < eigen.values.size(); ++i) {
    // The columns and rows of a pair are real and imaginary parts; the pair of left and right vectors has the
    // product 1.
    const bool is_pair = eigen.values[i].imag() != 0.0;
    const Eigen::Index count = is_pair ? 2 : 1;
    const double condition = left.middleRows(i, count).norm() * eigen.vectors.middleCols(i, count).norm() / count;
    double uncertainty = round_off * condition;
    const Eigen::Index n = matrix.rows();
    const double size = (matrix - eigen.values[i].real() * Eigen::MatrixXd::Identity(n, n)).norm();
    for (Eigen::Index m = 2; m <= n && condition > ill_conditioned; ++m) {
      const double radius = size * std::pow(round_off / size, 1.0 / static_cast<double>(m));
      if (((eigen.values.array() - eigen.values[i]).abs() <= radius).count() >= m) {
        uncertainty = std::max(uncertainty, radius);
      }
    }
    if (growth(eigen.values[i]) > uncertainty) return true;
    i += count - 1;
  }
  return false;
}

/// Finds the largest stable step of a scheme on a linear problem, on which a step is a matrix.
///
/// Eigenvalues are computed in units of masses and of the fastest rate. In other units one matrix would have entries of
/// very different sizes, and its round-off would look like growth.
void find_limit(const Scheme& scheme, LinearProblem& linear, StabilityLimit& limit) {
  constexpr double slack = 1e-10;
  const Eigen::MatrixXd system = system_matrix(linear.problem);
  const Eigen::VectorXd& mass = linear.problem.system().mass;
  const double rate = rate_of(system, mass);
  if (rate == 0.0) {  // free particles
    limit.largest_step = infinity;
    return;
  }
  Eigen::VectorXd units(2 * mass.size());
  units << mass.cwiseSqrt().cwiseInverse(), rate * mass.cwiseSqrt().cwiseInverse();
  const auto in_units = [&](const Eigen::MatrixXd& matrix) -> Eigen::MatrixXd {
    return units.cwiseInverse().asDiagonal() * matrix * units.asDiagonal();
  };
  // The growth at an unstable equilibrium does not depend on the step.
  if (certainly_grows(in_units(system) / rate, [](std::complex<double> x) { return x.real() - slack; })) {
    limit.largest_step = infinity;
    return;
  }
  const auto is_stable = [&](double h) {
    const auto* stages = linear.dp_dq.size() > 0 ? std::get_if<PartitionedRungeKutta>(&scheme) : nullptr;
    return !certainly_grows(
        in_units(stages != nullptr ? step_of_momenta(*stages, linear, h) : step_matrix(scheme, linear.problem, h)),
        [](std::complex<double> x) { return std::abs(x) - (1.0 + slack); });
  };
  double stable = 1e-4 / rate;
  if (!is_stable(stable)) {
    limit.never_stable = true;
    return;
  }
  // Up to 10^8 times the fastest time; the number of doublings is bounded for all matrices.
  constexpr int doublings = 40;
  double unstable = 2.0 * stable;
  for (int i = 1; is_stable(unstable); ++i) {
    if (i == doublings) {
      limit.largest_step = infinity;
      return;
    }
    stable = unstable;
    unstable *= 2.0;
  }
  for (int i = 0; i < 60 && unstable - stable > 1e-12 * stable; ++i) {
    const double middle = 0.5 * (stable + unstable);
    (is_stable(middle) ? stable : unstable) = middle;
  }
  limit.largest_step = stable;
}

/// The highest decay rate by C alone, 1/s.
double highest_damping_rate(const Problem& problem) {
  if (problem.system().lagrangian || problem.damping().isZero(0.0)) return 0.0;
  const double root = highest_frequency(per_mass(problem.damping().sparseView(), problem.system().mass));
  return root * root;
}

/// The step with (h omega/a)^2 + h c/b = 1, a and b the limits of a method for oscillations of frequency omega and for
/// decays at the rate c: exact for `gamma` with 0, an estimate for the other methods.
double largest_damped_step(const MethodProperties& properties, double omega, double c) {
  const double decay = c / properties.real_axis_limit;
  if (decay == 0.0) return omega > 0.0 ? properties.imaginary_axis_limit / omega : infinity;
  const double oscillation = omega > 0.0 ? omega / properties.imaginary_axis_limit : 0.0;
  return 2.0 / (decay + std::sqrt(decay * decay + 4.0 * oscillation * oscillation));
}

/// For a problem in a magnetic field that is not analysed as a whole: bounds the limit by that of a pair of coordinates
/// with the highest frequency and the fastest gyration of all, which may belong to different particles, so that the
/// bound is an estimate.
void limit_by_gyration(const Problem& problem, const Scheme& scheme, StabilityLimit& limit) {
  ParticleSystem pair;
  pair.magnetic_field = cyclotron_frequency(problem.system().magnetic_field, problem.system().mass);
  const double frequency = particle_frequency(problem.system());
  if (pair.magnetic_field == 0.0 || frequency == 0.0) return;
  pair.particles = 2;
  pair.mass = Eigen::Vector2d::Ones();
  pair.q0 = pair.v0 = Eigen::Vector2d::Zero();
  pair.potential = std::make_shared<QuadraticPotential>(frequency * frequency * Eigen::Matrix2d::Identity());
  LinearProblem linear{Problem(pair, Eigen::Matrix2d::Zero(), {}, problem.communicator()), {}};
  StabilityLimit pair_limit;
  find_limit(scheme, linear, pair_limit);
  if (pair_limit.never_stable || pair_limit.largest_step >= limit.largest_step) return;
  limit.largest_step = pair_limit.largest_step;
  limit.is_linear = false;
}

}  // namespace

// A vibration above the band of a long environment is localised at the particles, so that its first sites suffice; the
// band's edge is known in closed form.
double highest_frequency(const Problem& problem) {
  constexpr std::int64_t max_sites = 200;
  if (problem.system().lagrangian) {
    double highest = particle_frequency(problem.system());
    for (const auto& environment : problem.environments()) {
      highest = std::max(highest, environment->properties().highest_frequency);
    }
    return highest;
  }
  const AssembledSystem system(problem, max_sites);
  double highest = highest_frequency(per_mass(system.sparse_stiffness(), system.mass()));
  for (const auto& environment : problem.environments()) {
    const EnvironmentProperties& environment_properties = environment->properties();
    if (environment_properties.sites == 0 || environment_properties.sites > max_sites)
      highest = std::max(highest, environment_properties.highest_frequency);
  }
  return highest;
}

StabilityLimit stability_limit(const Problem& problem, const Method& method, const Section& options) {
  StabilityLimit limit;
  limit.is_linear = problem.system().has_linear_forces() && problem.has_linear_environments();
  const MethodProperties properties = method.properties(options);
  // The effect of dL/dz on a step is neither an oscillation nor a decay.
  if (problem.system().lagrangian && problem.system().contact) {
    limit.largest_step = infinity;
    return limit;
  }
  if (properties.imaginary_axis_limit == infinity && properties.real_axis_limit == infinity) {
    limit.largest_step = infinity;
    return limit;
  }
  if (!problem.stepped_environments().empty()) {
    const double frequency = highest_frequency(problem);
    limit.never_stable = properties.imaginary_axis_limit == 0.0;
    limit.largest_step = largest_damped_step(properties, frequency, highest_damping_rate(problem));
    // Splittings solve the decays of an environment exactly.
    const Scheme scheme = scheme_of(problem, method, options);
    const auto* explicit_scheme = std::get_if<ExplicitScheme>(&scheme);
    limit_by_gyration(problem, scheme, limit);
    if (explicit_scheme != nullptr && explicit_scheme->b.empty()) return limit;
    for (const Environment* environment : problem.stepped_environments()) {
      const EnvironmentProperties& environment_properties = environment->properties();
      if (environment_properties.fastest_decay == 0.0) continue;
      const double edge = std::min(properties.imaginary_axis_limit, properties.real_axis_limit);
      limit.largest_step = std::min(limit.largest_step, edge / environment_properties.highest_frequency);
    }
    return limit;
  }
  std::optional<LinearProblem> linear_problem = linearised(problem);
  if (!linear_problem) {
    // Without a linearisation no limit is known.
    limit.largest_step = infinity;
    return limit;
  }
  const Scheme scheme = scheme_of(problem, method, options);
  find_limit(scheme, *linear_problem, limit);
  if (linear_problem->problem.system().size() < problem.system().size()) limit_by_gyration(problem, scheme, limit);
  return limit;
}

double particle_frequency(const ParticleSystem& system) {
  if (system.lagrangian) {
    const std::optional<Linearisation> lagrangian_part = linearise_lagrangian(system, {});
    return lagrangian_part ? highest_frequency(lagrangian_part->stiffness.sparseView()) : 0.0;
  }
  Eigen::SparseMatrix<double> hessian;
  system.potential->sparse_hessian(system.q0, hessian);
  return highest_frequency(per_mass(hessian, system.mass));
}

}  // namespace bathline
