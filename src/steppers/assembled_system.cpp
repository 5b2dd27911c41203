// Particles and environments assembled into one system of equations.
#include "steppers/assembled_system.hpp"

#include <algorithm>
#include <limits>

#include "model/gyration.hpp"

namespace bathline {

AssembledSystem::AssembledSystem(const Problem& problem, std::int64_t limit) : problem_(problem) {
  std::vector<double> mass(problem.system().mass.begin(), problem.system().mass.end());
  for (const auto& environment : problem.environments()) {
    const LumpedNetwork chain = environment->assemble(limit);
    const int axes = environment->attachment().axes();
    const EnvironmentProperties& properties = environment->properties();
    is_linear_ = is_linear_ && (properties.is_linear || properties.is_white);
    const int first = static_cast<int>(mass.size());
    const auto index = [&](int site, int axis) { return first + site * axes + axis; };
    for (double m : chain.mass) mass.insert(mass.end(), static_cast<std::size_t>(axes), m);
    auto* noisy = dynamic_cast<Noisy*>(environment.get());
    const bool has_noise = noisy != nullptr && noisy->noise() != nullptr;
    temperature_.resize(static_cast<std::size_t>(first), 0.0);
    temperature_.resize(mass.size(), has_noise ? environment->properties().temperature : 0.0);
    ends_.push_back(static_cast<int>(mass.size()));
    for (int axis = 0; axis < axes; ++axis) {
      for (const auto& spring : chain.springs) {
        springs_.push_back({{{index(spring.first, axis), 1.0}, {index(spring.second, axis), -1.0}}, spring.stiffness});
      }
      for (const auto& [site, stiffness] : chain.to_ground) springs_.push_back({{{index(site, axis), 1.0}}, stiffness});
      for (const auto& [site, stiffness] : chain.to_head) {
        Spring spring{{{index(site, axis), 1.0}}, stiffness};
        for (const Attachment::Term& term : environment->attachment().terms()) {
          if (term.axis == axis) spring.terms.push_back({term.coordinate, -term.weight});
        }
        springs_.push_back(std::move(spring));
      }
      for (const auto& [site, damping] : chain.dashpots) dashpots_.push_back({index(site, axis), damping});
      for (const auto& [site, mobility] : chain.mobilities) mobilities_.push_back({index(site, axis), mobility});
    }
  }
  mass_ = Eigen::Map<Eigen::VectorXd>(mass.data(), static_cast<Eigen::Index>(mass.size()));
}

template <class Add>
void AssembledSystem::add_stiffnesses(Add add) const {
  Eigen::SparseMatrix<double> hessian;
  problem_.system().potential->sparse_hessian(problem_.system().q0, hessian);
  for (int j = 0; j < particle_dofs(); ++j) {
    for (Eigen::SparseMatrix<double>::InnerIterator entry(hessian, j); entry; ++entry) {
      if (entry.value() != 0.0) add(static_cast<int>(entry.row()), j, entry.value());
    }
  }
  for (const Spring& spring : springs_) {
    for (const auto& [i, a] : spring.terms) {
      for (const auto& [j, b] : spring.terms) add(i, j, spring.stiffness * a * b);
    }
  }
}

Eigen::MatrixXd AssembledSystem::stiffness() const {
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(size(), size());
  add_stiffnesses([&](int i, int j, double value) { matrix(i, j) += value; });
  return matrix;
}

Eigen::SparseMatrix<double> AssembledSystem::sparse_stiffness() const {
  std::vector<Eigen::Triplet<double>> entries;
  add_stiffnesses([&](int i, int j, double value) { entries.emplace_back(i, j, value); });
  Eigen::SparseMatrix<double> matrix(size(), size());
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

Eigen::MatrixXd AssembledSystem::stiffness_between(const Eigen::MatrixXd& displacements) const {
  constexpr double round_off = 4.0 * std::numeric_limits<double>::epsilon();
  Eigen::SparseMatrix<double> hessian;
  problem_.system().potential->sparse_hessian(problem_.system().q0, hessian);
  const Eigen::MatrixXd particles = displacements.topRows(particle_dofs()), sizes = particles.cwiseAbs();
  Eigen::MatrixXd matrix = particles.transpose() * (hessian * particles);
  const Eigen::MatrixXd size = sizes.transpose() * (hessian.cwiseAbs() * sizes);
  matrix = (matrix.array().abs() > round_off * size.array()).select(matrix, 0.0);
  for (const Spring& spring : springs_) {
    Eigen::RowVectorXd strain = Eigen::RowVectorXd::Zero(displacements.cols());
    for (const auto& [i, a] : spring.terms) strain += a * displacements.row(i);
    matrix.noalias() += spring.stiffness * strain.transpose() * strain;
  }
  return matrix;
}

AssembledSystem::LinearSde AssembledSystem::linear_sde() const {
  const int n = particle_dofs();
  // The rows of u and of v or p of every degree of freedom.
  std::vector<int> position, rate;
  int first = 0;
  const auto append_rows = [&](int end) {
    const int count = end - first;
    for (int i = 0; i < count; ++i) position.push_back(2 * first + i);
    for (int i = 0; i < count; ++i) rate.push_back(2 * first + count + i);
    first = end;
  };
  append_rows(n);
  for (const int end : ends_) append_rows(end);
  LinearSde linear_sde{Eigen::MatrixXd::Zero(2 * size(), 2 * size()), Eigen::MatrixXd::Zero(2 * size(), 2 * size())};
  const Eigen::MatrixXd minus_stiffness = -stiffness();
  for (int i = 0; i < size(); ++i) {
    const bool is_particle = i < n;
    linear_sde.drift(position[i], rate[i]) = is_particle ? 1.0 : 1.0 / mass_[i];
    for (int j = 0; j < size(); ++j)
      linear_sde.drift(rate[i], position[j]) = minus_stiffness(i, j) / (is_particle ? mass_[i] : 1.0);
  }
  const auto inverse_mass = problem_.system().mass.cwiseInverse().asDiagonal();
  Eigen::MatrixXd df_dq, df_dv;
  problem_.jacobians(problem_.system().q0, problem_.system().v0, 0.0, df_dq, df_dv);
  linear_sde.drift.block(n, 0, n, n) += inverse_mass * df_dq;
  if (problem_.system().magnetic_field != 0.0) df_dv += magnetic_jacobian(problem_.system().magnetic_field, n);
  linear_sde.drift.block(n, n, n, n) += inverse_mass * df_dv;
  if (const WhiteNoise* noise = problem_.noise()) {
    linear_sde.diffusion.block(n, n, n, n) = 2.0 * inverse_mass * noise->diffusion() * inverse_mass;
  }
  for (const auto& [i, damping] : dashpots_) {
    linear_sde.drift(rate[i], rate[i]) -= damping / mass_[i];
    linear_sde.diffusion(rate[i], rate[i]) += 2.0 * temperature_[i] * damping;
  }
  for (const auto& [i, mobility] : mobilities_) {
    for (int j = 0; j < size(); ++j) linear_sde.drift(position[i], position[j]) += mobility * minus_stiffness(i, j);
    linear_sde.diffusion(position[i], position[i]) += 2.0 * temperature_[i] * mobility;
  }
  return linear_sde;
}

void AssembledSystem::force(std::span<const double> u, std::span<double> force) const {
  const int n = particle_dofs();
  q_ = problem_.system().q0 + Eigen::Map<const Eigen::VectorXd>(u.data(), n);
  problem_.system().potential->gradient(q_, gradient_);
  std::fill(force.begin(), force.end(), 0.0);
  Eigen::Map<Eigen::VectorXd>(force.data(), n) = -gradient_;
  for (const Spring& spring : springs_) {
    double strain = 0.0;
    for (const auto& [i, a] : spring.terms) strain += a * u[i];
    for (const auto& [i, a] : spring.terms) force[i] -= spring.stiffness * a * strain;
  }
}

double AssembledSystem::add_losses(std::span<const double> u, std::span<double> v, std::span<double> force) const {
  const int n = particle_dofs();
  double power = 0.0;
  // Mobilities act on the forces of the springs, before those of the dashpots are added.
  std::vector<double> mobility_velocity;
  for (const auto& [i, mobility] : mobilities_) mobility_velocity.push_back(mobility * force[i]);
  if (problem_.is_damped()) {
    const Eigen::Map<const Eigen::VectorXd> velocity(v.data(), n);
    q_ = problem_.system().q0 + Eigen::Map<const Eigen::VectorXd>(u.data(), n);
    Eigen::VectorXd drag(n);
    problem_.drag(q_, velocity, drag);
    Eigen::Map<Eigen::VectorXd>(force.data(), n) += drag;
    power -= velocity.dot(drag);
  }
  for (const auto& [i, damping] : dashpots_) {
    force[i] -= damping * v[i];
    power += damping * v[i] * v[i];
  }
  for (std::size_t k = 0; k < mobilities_.size(); ++k) {
    const auto& [i, mobility] = mobilities_[k];
    v[i] += mobility_velocity[k];
    power += mobility_velocity[k] * mobility_velocity[k] / mobility;
  }
  return power;
}

void AssembledSystem::find_velocities(double t, double z, std::span<const double> u, std::span<const double> p,
                                      std::span<double> v) const {
  const int n = particle_dofs();
  LegendreTransform* const legendre = problem_.legendre();
  for (int i = legendre == nullptr ? 0 : n; i < size(); ++i) v[i] = p[i] / mass_[i];
  if (legendre == nullptr) return;
  q_ = problem_.system().q0 + Eigen::Map<const Eigen::VectorXd>(u.data(), n);
  const Eigen::VectorXd momentum = Eigen::Map<const Eigen::VectorXd>(p.data(), n);
  Eigen::VectorXd velocity = Eigen::Map<const Eigen::VectorXd>(v.data(), n);
  for (int attempt = 0; const auto reason = legendre->find_velocity(q_, momentum, t, z, velocity); ++attempt) {
    velocity = problem_.v;
    if (attempt == 0) continue;
    why_no_velocities_ = *reason;
    velocity.setConstant(std::numeric_limits<double>::quiet_NaN());
    break;
  }
  std::copy(velocity.begin(), velocity.end(), v.begin());
}

void AssembledSystem::add_magnetic(std::span<const double> v, std::span<double> force) const {
  const double field = problem_.system().magnetic_field;
  if (field == 0.0) return;
  const int n = particle_dofs();
  Eigen::Map<Eigen::VectorXd>(force.data(), n) += magnetic_force(field, Eigen::Map<const Eigen::VectorXd>(v.data(), n));
}

AssembledSystem::AppliedRates AssembledSystem::add_applied(double t, double z, std::span<const double> u,
                                                           std::span<const double> p, std::span<const double> v,
                                                           std::span<double> force) const {
  const ParticleSystem& system = problem_.system();
  const int n = particle_dofs();
  q_ = system.q0 + Eigen::Map<const Eigen::VectorXd>(u.data(), n);
  const Eigen::VectorXd velocity = Eigen::Map<const Eigen::VectorXd>(v.data(), n);
  const Eigen::Map<const Eigen::VectorXd> momentum(p.data(), n);
  Eigen::Map<Eigen::VectorXd> total(force.data(), n);
  AppliedRates rates;
  if (system.is_driven()) {
    Eigen::VectorXd applied(n);
    problem_.applied(q_, velocity, t, applied);
    total += applied;
    rates.work = velocity.dot(applied);
  }
  const double gamma = system.contact ? system.contact->gamma : 0.0;
  if (system.lagrangian) {
    Eigen::VectorXd x(2 * n + 2), gradient(2 * n + 2);
    x << q_, velocity, t, z;
    system.lagrangian->gradient(x.data(), gradient.data());
    total += gradient.head(n);
    rates.work -= gradient[2 * n];
    if (!system.contact) return rates;
    const double dl_dz = gradient[2 * n + 1];
    total += dl_dz * momentum;
    rates.action = system.lagrangian->value(x.data());
    rates.loss = -dl_dz * (momentum.dot(velocity) - rates.action) - gamma * rates.action;
  } else if (system.contact) {
    rates.action = 0.5 * momentum.dot(velocity) - system.potential->value(q_) + gamma * z;
  }
  return rates;
}

}  // namespace bathline
