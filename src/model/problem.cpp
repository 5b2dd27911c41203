// Forces and energies of particles and environments.
#include "model/problem.hpp"

#include <algorithm>
#include <limits>

#include "model/gyration.hpp"
#include "model/thermal/thermal_start.hpp"
#include "random/streams.hpp"

namespace bathline {

Problem::Problem(const ParticleSystem& system, Eigen::MatrixXd damping,
                 std::vector<std::unique_ptr<Environment>> environments, const Communicator& communicator)
    : q(system.q0),
      p(system.mass.cwiseProduct(system.v0)),
      system_(system),
      damping_(std::move(damping)),
      coupled_friction_(system.force),
      environments_(std::move(environments)),
      communicator_(communicator),
      displacement_(system.size()) {
  Eigen::MatrixXd diffusion;
  int white = 0;
  for (const auto& environment : environments_) {
    const auto axes = static_cast<std::size_t>(environment->attachment().axes());
    if (axes > head_.size()) {
      head_.resize(axes);
      force_.resize(axes);
    }
    environment->begin_at(q);
    environment->attachment().add_head_mass(system_.mass);
    const EnvironmentProperties& properties = environment->properties();
    if (!properties.is_white) stepped_environments_.push_back(environment.get());
    if (properties.white_damping == 0.0) continue;
    ++white;
    if (environment->attachment().nonlinear() != nullptr) {
      coupled_friction_.add({environment->attachment(), properties.white_damping, properties.white_temperature,
                             properties.temperature_in_time});
      continue;
    }
    if (diffusion.size() == 0) diffusion.setZero(system.size(), system.size());
    environment->attachment().add_outer(properties.white_damping, damping_);
    environment->attachment().add_outer(properties.white_temperature * properties.white_damping, diffusion);
  }
  constexpr Eigen::Index many = 16;
  if (damping_.rows() > many)
    sparse_damping_ = std::make_shared<Eigen::SparseMatrix<double>>(damping_.sparseView(0.0, 0.0));
  has_damping_ = !damping_.isZero(0.0);
  if (!diffusion.isZero(0.0)) {
    add_noise(diffusion, temperatures_in_time(environments_, system.size(), true).value_or(TemperaturesInTime{}));
  }
  if (white > 1 || (white == 1 && system.force)) heat = Eigen::VectorXd::Zero(system.size());
  if (system.contact) {
    z = system.contact->z0;
    initial_q1 = system.contact->q1;
  }
  if (!system.lagrangian) return;
  // Masses on heads are at rest before: p is that of the particles alone.
  v = system.v0;
  p += LegendreTransform(system.lagrangian, Eigen::VectorXd::Zero(system.size()), q, v, z).momentum(q, v, 0.0, z);
  legendre_.emplace(system.lagrangian, system_.mass, q, v, z);
  if (system_.mass != system.mass) legendre_->find_velocity(q, p, 0.0, z, v);
}

std::optional<TemperaturesInTime> temperatures_in_time(const std::vector<std::unique_ptr<Environment>>& environments,
                                                       Eigen::Index size, bool of_white_parts) {
  const auto dofs = static_cast<std::size_t>(size);
  TemperaturesInTime by_dof(dofs);
  std::vector<bool> has_noise(dofs);
  bool any = false;
  for (const auto& environment : environments) {
    const EnvironmentProperties& properties = environment->properties();
    if (environment->attachment().nonlinear() != nullptr || (of_white_parts && properties.white_damping == 0.0))
      continue;
    any = any || properties.temperature_in_time != nullptr;
    for (const Attachment::Term& term : environment->attachment().terms()) {
      const auto dof = static_cast<std::size_t>(term.coordinate);
      if (has_noise[dof] && by_dof[dof] != properties.temperature_in_time) return std::nullopt;
      has_noise[dof] = true;
      by_dof[dof] = properties.temperature_in_time;
    }
  }
  if (!any) by_dof.clear();
  return by_dof;
}

void Problem::add_coupled_damper(CoupledDamper damper) {
  damper.attachment.begin_at(q);
  coupled_friction_.add(std::move(damper));
}

bool Problem::has_linear_environments() const {
  const auto is_linear = [](const auto& environment) { return environment->properties().is_linear; };
  return coupled_friction_.dampers().empty() && std::all_of(environments_.begin(), environments_.end(), is_linear);
}

bool Problem::has_work() const {
  const auto does_work = [](const auto& environment) {
    const Coupling* coupling = environment->attachment().nonlinear();
    return coupling != nullptr && coupling->depends_on_time();
  };
  return system_.has_work() || std::any_of(environments_.begin(), environments_.end(), does_work);
}

void Problem::prepare(std::uint64_t seed, std::uint32_t realisation) {
  if (start_) {
    start_->draw(seed, realisation, system_.mass, q, p);
    system_.q0 = q;
    for (const auto& environment : environments_) environment->begin_at(q);
    coupled_friction_.begin_at(q);
  }
  std::uint32_t index = 0;
  for (const auto& environment : environments_) {
    environment->prepare(streams::environment_starts.key(seed, realisation, index++));
  }
  if (noise_) noise_->begin(seed, realisation);
  coupled_friction_.noise().begin(streams::coupled_noise.key(seed, realisation));
}

void Problem::head(const Environment& environment, const Eigen::VectorXd& position, std::span<double> head) const {
  environment.attachment().position(position, clock.at(0.0), head);
}

void Problem::forces(const Eigen::VectorXd& position, const Eigen::VectorXd& v, Eigen::VectorXd& forces,
                     FrictionParts parts) const {
  system_.potential->gradient(position, forces);
  forces = -forces;
  for (const auto& environment : environments_) {
    head(*environment, position, head_);
    environment->force(head_, force_);
    environment->attachment().distribute(position, clock.at(0.0), force_, forces);
  }
  if (is_damped(parts)) {
    drag(position, v, displacement_, parts);
    forces += displacement_;
  }
  if (system_.is_driven()) {
    applied(position, v, clock.at(0.0), displacement_);
    forces += displacement_;
  }
  if (system_.magnetic_field != 0.0) forces += magnetic_force(system_.magnetic_field, v);
}

void Problem::drag(const Eigen::VectorXd& position, const Eigen::VectorXd& v, Eigen::VectorXd& drag,
                   FrictionParts parts) const {
  const Force* const force = drag_force(parts);
  if (force == nullptr) {
    drag.setZero(v.size());
  } else {
    force->value(position, v, 0.0, drag);
  }
  if (parts.matrix) subtract_damping(v, drag);
}

void Problem::subtract_damping(const Eigen::VectorXd& v, Eigen::VectorXd& forces) const {
  if (sparse_damping_) {
    forces.noalias() -= *sparse_damping_ * v;
  } else {
    forces.noalias() -= damping_ * v;
  }
}

Eigen::VectorXd Problem::friction(const Eigen::VectorXd& v, const Eigen::VectorXd& drag, FrictionParts parts) const {
  if (drag_force(parts) == nullptr) return drag;
  Eigen::VectorXd friction = Eigen::VectorXd::Zero(v.size());
  if (parts.matrix) subtract_damping(v, friction);
  return friction;
}

double Problem::heat_of(const Environment& environment) const {
  if (heat.size() == 0) return dissipated;
  if (environment.attachment().nonlinear() != nullptr) return std::numeric_limits<double>::quiet_NaN();
  for (const auto& other : environments_) {
    if (other.get() == &environment || other->properties().white_damping == 0.0) continue;
    for (const Attachment::Term& a : other->attachment().terms()) {
      for (const Attachment::Term& b : environment.attachment().terms()) {
        if (a.coordinate == b.coordinate) return std::numeric_limits<double>::quiet_NaN();
      }
    }
  }
  double sum = 0.0;
  for (const Attachment::Term& term : environment.attachment().terms()) sum += heat[term.coordinate];
  return sum;
}

void Problem::applied(const Eigen::VectorXd& position, const Eigen::VectorXd& v, double t,
                      Eigen::VectorXd& applied) const {
  applied.setZero(v.size());
  if (system_.applied) system_.applied->value(position, v, t, applied);
  if (!system_.drive) return;
  Eigen::VectorXd driven(v.size());
  system_.drive->value(t, driven);
  applied += driven;
}

void Problem::jacobians(const Eigen::VectorXd& position, const Eigen::VectorXd& v, double t, Eigen::MatrixXd& by_q,
                        Eigen::MatrixXd& by_v, FrictionParts parts) const {
  by_q.setZero(v.size(), v.size());
  by_v.setZero(v.size(), v.size());
  const Force* const force = drag_force(parts);
  if (force == nullptr) {
    if (system_.applied) system_.applied->jacobians(position, v, t, by_q, by_v);
    if (parts.matrix) by_v -= damping_;
    return;
  }
  force->jacobians(position, v, t, by_q, by_v);
  if (parts.matrix) by_v -= damping_;
  if (!system_.applied) return;
  Eigen::MatrixXd more_by_q(v.size(), v.size()), more_by_v(v.size(), v.size());
  system_.applied->jacobians(position, v, t, more_by_q, more_by_v);
  by_q += more_by_q;
  by_v += more_by_v;
}

Eigen::VectorXd Problem::velocity() const {
  if (legendre_) return v;
  return p.cwiseQuotient(system_.mass);
}

void Problem::broadcast_particles() {
  communicator_.broadcast(std::span<double>(q.data(), static_cast<std::size_t>(q.size())));
  communicator_.broadcast(std::span<double>(p.data(), static_cast<std::size_t>(p.size())));
  communicator_.broadcast(std::span<double>(v.data(), static_cast<std::size_t>(v.size())));
  if (system_.contact) communicator_.broadcast(std::span<double>(&z, 1));
}

EnergyLedger Problem::energies_of_particles() {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  EnergyLedger ledger{.environment = unknown, .interaction = unknown};
  double numbers[3] = {0.0, 0.0, 0.0};
  if (communicator_.is_root()) {
    if (legendre_) {
      numbers[0] = legendre_->energy(q, v, clock.at(0.0), z);
      // The Lagrangian of a system with gamma contains gamma z, which is no energy of the particles.
      if (system_.contact) numbers[0] += system_.contact->gamma * z;
    } else {
      numbers[0] = 0.5 * p.cwiseAbs2().cwiseQuotient(system_.mass).sum() + system_.potential->value(q);
    }
    numbers[1] = dissipated;
    numbers[2] = work;
  }
  communicator_.broadcast(std::span<double>(numbers, 3));
  ledger.particles = numbers[0];
  ledger.dissipated = numbers[1];
  ledger.work = numbers[2];
  return ledger;
}

EnergyLedger Problem::energies() {
  EnergyLedger ledger = energies_of_particles();
  ledger.environment = ledger.interaction = 0.0;
  for (const auto& environment : environments_) {
    EnvironmentEnergy energy;
    if (!environment->properties().is_white) {
      head(*environment, q, head_);
      energy = environment->energy(head_);
    }
    ledger.environment += energy.environment;
    ledger.interaction += energy.interaction;
    ledger.dissipated += energy.dissipated;
    if (environment->properties().white_damping > 0.0) {
      // `dissipated` of the particles contains it.
      double heat = heat_of(*environment);
      communicator_.broadcast(std::span<double>(&heat, 1));
      energy.dissipated += heat;
    }
    ledger.environment_energies.push_back(energy);
  }
  return ledger;
}

}  // namespace bathline
