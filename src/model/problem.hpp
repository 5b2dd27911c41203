// The state of particles and environments, with the forces between them.
#pragma once

#include <Eigen/Dense>
#include <Eigen/SparseCore>
#include <memory>
#include <optional>
#include <vector>

#include "model/coupled_friction.hpp"
#include "model/environment.hpp"
#include "model/legendre_transform.hpp"
#include "model/particle_system.hpp"
#include "model/thermal/white_noise.hpp"
#include "parallel/communicator.hpp"

namespace bathline {

class ThermalStart;

/// The energy ledger (limebeer2020, Theorem III.1): the sum of all terms is constant for the exact flow of closed and
/// open systems alike.
struct EnergyLedger {
  double particles = 0.0;
  double environment = 0.0;
  double interaction = 0.0;
  double dissipated = 0.0;
  double work = 0.0;                                         ///< of external forces, which is added to the energy
  std::vector<EnvironmentEnergy> environment_energies = {};  ///< the terms of the sums; empty where they are not known
  double total() const { return (((particles + environment) + interaction) + dissipated) - work; }
};

/// The time of a run, counted in whole steps, so that times have the same bits wherever the run was interrupted.
struct Clock {
  std::int64_t steps = 0;  ///< number of completed steps
  double h = 0.0;          ///< s
  /// The time `c` steps after the last completed one, s.
  double at(double c) const { return (static_cast<double>(steps) + c) * h; }
};

/// The parts of the friction that a stepper applies as a force; the others it applies by flows or heads of its own.
struct FrictionParts {
  bool matrix = true;     ///< C
  bool couplings = true;  ///< that of white environments on nonlinear couplings
};

/// The system that an integrator advances: m q'' = -grad V(q) - C q' + f(q, q') + a(q, q', t) + d(t) + forces of the
/// environments. A closed system has environments, and the C and the noise of those that are white; an open one has a
/// damping matrix, noise at positive temperatures, and no environments.
///
/// The particles are on rank 0, with the heads: elsewhere q and p are outdated until `broadcast_particles`.
class Problem {
 public:
  /// The particles have q0 and p0 = M v0, M without the masses on heads, which are at rest before and share this
  /// momentum; `system().mass` includes them. The environments have no storage yet.
  Problem(const ParticleSystem& system, Eigen::MatrixXd damping, std::vector<std::unique_ptr<Environment>> environments,
          const Communicator& communicator);

  /// Draws a thermal start of the particles and allocates the environments, at rest or in their thermal starts. Seed
  /// and realisation determine these and all later random numbers. @note Collective.
  void prepare(std::uint64_t seed = 0, std::uint32_t realisation = 0);

  const ParticleSystem& system() const { return system_; }
  const Communicator& communicator() const { return communicator_; }
  const Eigen::MatrixXd& damping() const { return damping_; }
  /// Adds white noise with the momentum diffusion D, J kg/s.
  void add_noise(const Eigen::MatrixXd& diffusion, TemperaturesInTime temperatures = {}) {
    noise_.emplace(diffusion, std::move(temperatures));
  }
  /// Adds white friction and noise on a nonlinear coupling, which C and D do not contain.
  void add_coupled_damper(CoupledDamper damper);
  CoupledFriction& coupled_friction() { return coupled_friction_; }
  const CoupledFriction& coupled_friction() const { return coupled_friction_; }
  /// f(q, v), with the friction of nonlinear couplings where it is among the parts; nullptr where there is none.
  const Force* drag_force(FrictionParts parts = {}) const {
    const bool has_couplings = parts.couplings && !coupled_friction_.dampers().empty();
    return has_couplings ? static_cast<const Force*>(&coupled_friction_) : system_.force.get();
  }
  /// Makes `prepare` draw positions or momenta; environments then start at the positions drawn.
  void set_thermal_start(std::shared_ptr<const ThermalStart> start) { start_ = std::move(start); }
  /// nullptr where there is none.
  WhiteNoise* noise() { return noise_ ? &*noise_ : nullptr; }
  const WhiteNoise* noise() const { return noise_ ? &*noise_ : nullptr; }
  /// Whether there is white noise, on nonlinear couplings or others.
  bool is_noisy() const { return noise_ || coupled_friction_.is_noisy(); }
  /// Whether C or f does work on the particles.
  bool is_damped(FrictionParts parts = {}) const {
    return (parts.matrix && has_damping_) || drag_force(parts) != nullptr;
  }
  /// Whether forces depend on the velocities.
  bool depends_on_velocity(FrictionParts parts = {}) const {
    return is_damped(parts) || (system_.applied && system_.applied->depends_on_velocity());
  }
  /// Linear in themselves and in the coordinates of the particles, white friction of open systems included.
  bool has_linear_environments() const;
  /// Whether external forces, or the time dependence of a Lagrangian or a coupling, do work.
  bool has_work() const;
  /// All environments, in the order of the recipe.
  const std::vector<std::unique_ptr<Environment>>& environments() const { return environments_; }
  /// Those that have a stepper; C and the noise contain the others.
  const std::vector<Environment*>& stepped_environments() const { return stepped_environments_; }

  Eigen::VectorXd q, p;
  /// Velocities of q and p where the system has a Lagrangian; updated by the integrator.
  Eigen::VectorXd v;
  double z = 0.0;  ///< action of a contact system in J s, updated by the integrator on rank 0
  /// Of a contact system: the position after the first step, until a stepper has converted it to p.
  std::optional<Eigen::VectorXd> initial_q1;
  double dissipated = 0.0;  ///< minus the work of C, f and noise so far, updated by the integrator on rank 0
  /// The contribution of C and noise to `dissipated` by degree of freedom where that is requested; else empty.
  Eigen::VectorXd heat;
  /// Where that is requested, the sum of F v^T over the impulses F of C and noise and the mean velocities v of the
  /// kicks or stages in which they act; else empty. Its trace is the energy that they give to the particles.
  Eigen::MatrixXd exchange;
  double work = 0.0;  ///< work of a, d and couplings so far, likewise
  Clock clock;        ///< updated by the integrator on every rank

  /// p / M, or `v` where the system has a Lagrangian.
  Eigen::VectorXd velocity() const;
  /// The Legendre transform between v and p; nullptr where the system has no Lagrangian.
  LegendreTransform* legendre() const { return legendre_ ? &*legendre_ : nullptr; }

  /// Head of an environment at these particle positions between two steps, measured from the start.
  void head(const Environment& environment, const Eigen::VectorXd& position, std::span<double> head) const;
  /// All forces on the particles at these positions and velocities, between two steps. Rank 0 only.
  void forces(const Eigen::VectorXd& position, const Eigen::VectorXd& v, Eigen::VectorXd& forces,
              FrictionParts parts = {}) const;

  /// The drag f(q, v) - C v, with f as in `drag_force`.
  void drag(const Eigen::VectorXd& position, const Eigen::VectorXd& v, Eigen::VectorXd& drag,
            FrictionParts parts = {}) const;
  /// The external force a(q, v, t) + d(t).
  void applied(const Eigen::VectorXd& position, const Eigen::VectorXd& v, double t, Eigen::VectorXd& applied) const;
  /// -C v, where C is among the parts, given their drag at v.
  Eigen::VectorXd friction(const Eigen::VectorXd& v, const Eigen::VectorXd& drag, FrictionParts parts = {}) const;
  /// What a white environment has dissipated so far; NaN where others act on its coordinates too. Rank 0 only.
  double heat_of(const Environment& environment) const;
  /// Derivatives of drag and applied force together with respect to q and v.
  void jacobians(const Eigen::VectorXd& position, const Eigen::VectorXd& v, double t, Eigen::MatrixXd& by_q,
                 Eigen::MatrixXd& by_v, FrictionParts parts = {}) const;

  /// Broadcasts q, p and v, and z of a contact system. @note Collective.
  void broadcast_particles();
  /// The same on every rank. @note Collective.
  EnergyLedger energies();
  /// The ledger with NaN for the terms of the environments. @note Collective.
  EnergyLedger energies_of_particles();

 private:
  ParticleSystem system_;
  /// forces -= C v.
  void subtract_damping(const Eigen::VectorXd& v, Eigen::VectorXd& forces) const;

  Eigen::MatrixXd damping_;
  std::shared_ptr<const Eigen::SparseMatrix<double>> sparse_damping_;  // of many degrees of freedom
  bool has_damping_ = false;                                           // whether C is not zero
  CoupledFriction coupled_friction_;
  std::optional<WhiteNoise> noise_;
  std::shared_ptr<const ThermalStart> start_;
  std::vector<std::unique_ptr<Environment>> environments_;
  std::vector<Environment*> stepped_environments_;
  Communicator communicator_;
  mutable std::optional<LegendreTransform> legendre_;
  mutable Eigen::VectorXd displacement_;
  mutable std::vector<double> head_, force_;  // of the environment with the most axes
};

/// By degree of freedom, of the white parts of the environments or of all that they stand for in open runs; empty where
/// all are constant, nothing where one coordinate has the noise of several environments whose temperatures are not in
/// proportion.
std::optional<TemperaturesInTime> temperatures_in_time(const std::vector<std::unique_ptr<Environment>>& environments,
                                                       Eigen::Index size, bool of_white_parts);

}  // namespace bathline
