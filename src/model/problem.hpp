// Particles and their environments in motion.
#pragma once

#include <Eigen/Dense>
#include <memory>
#include <optional>
#include <vector>

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
  double work = 0.0;                                    ///< done from outside, which comes on top of what there was
  std::vector<EnvironmentEnergy> of_environments = {};  ///< what the sums are made of; empty where it is not known
  double total() const { return (((particles + environment) + interaction) + dissipated) - work; }
};

/// Where a run is in time, in whole steps: the time of a node has the same bits wherever the run was cut.
struct Clock {
  std::int64_t steps = 0;  ///< done so far
  double h = 0.0;          ///< s
  /// The time `c` steps from here, s.
  double at(double c) const { return (static_cast<double>(steps) + c) * h; }
};

/// What an integrator advances: m q'' = -grad V(q) - C q' + f(q, q') + a(q, q', t) + d(t) + forces of the environments.
/// A closed system has environments and C = 0, an open one a damping matrix, noise where it is warm, and no
/// environments.
///
/// The particles live on rank 0, where the heads are: q and p are up to date there only, until `broadcast_particles`.
class Problem {
 public:
  /// The particles stand at q0 with p0 = M v0; the environments have no storage yet. Masses on their heads, which are
  /// at rest before, share this momentum: `system()` has the masses with them.
  Problem(const ParticleSystem& system, Eigen::MatrixXd damping, std::vector<std::unique_ptr<Environment>> environments,
          const Communicator& communicator);

  /// Draws a thermal start of the particles, and allocates the environments, at rest at their heads' places or in the
  /// thermal start that belongs to the seed and the realisation, as do all random numbers to come. @note Collective.
  void prepare(std::uint64_t seed = 0, std::uint32_t realisation = 0);

  const ParticleSystem& system() const { return system_; }
  const Communicator& communicator() const { return communicator_; }
  const Eigen::MatrixXd& damping() const { return damping_; }
  /// Replaces C.
  void set_damping(Eigen::MatrixXd damping);
  /// Adds white noise with the momentum diffusion D, J kg/s.
  void add_noise(const Eigen::MatrixXd& diffusion) { noise_.emplace(diffusion); }
  /// Draws positions or momenta of the start in `prepare`; environments then start around where the particles are.
  void set_thermal_start(std::shared_ptr<const ThermalStart> start) { start_ = std::move(start); }
  /// nullptr where there is none.
  WhiteNoise* noise() { return noise_ ? &*noise_ : nullptr; }
  const WhiteNoise* noise() const { return noise_ ? &*noise_ : nullptr; }
  /// Whether C or f does work on the particles.
  bool is_damped() const { return is_damped_; }
  /// Whether forces depend on the velocities.
  bool depends_on_velocity() const { return is_damped_ || (system_.applied && system_.applied->depends_on_velocity()); }
  bool has_linear_environments() const;
  const std::vector<std::unique_ptr<Environment>>& environments() const { return environments_; }

  Eigen::VectorXd q, p;
  /// Velocities that belong to q and p, where the system has a Lagrangian of its own: kept up by the integrator.
  Eigen::VectorXd v;
  double z = 0.0;  ///< action of a contact system in J s, kept up by the integrator on rank 0
  /// Of a contact system: the position after the first step, until a stepper has turned it into p.
  std::optional<Eigen::VectorXd> initial_q1;
  double dissipated =
      0.0;  ///< work that C and f have taken so far less that of noise, kept up by the integrator on rank 0
  /// The part of `dissipated` that each degree of freedom has given, where that is wanted; else empty.
  Eigen::VectorXd heat;
  double work = 0.0;  ///< work that a and d have done so far, likewise
  Clock clock;        ///< kept up by the integrator on every rank

  /// p / M, or the velocities that a Lagrangian of its own has with these momenta.
  Eigen::VectorXd velocity() const;
  /// Between v and p of a Lagrangian of its own; nullptr where there is none.
  LegendreTransform* legendre() const { return legendre_ ? &*legendre_ : nullptr; }

  /// Head of an environment at particle positions `at`, measured from the start: c.(at - q0).
  void head(const Environment& environment, const Eigen::VectorXd& at, std::span<double> head) const;
  /// All forces on the particles at positions `at` with velocities `v`, between two steps. Rank 0 only.
  void forces(const Eigen::VectorXd& at, const Eigen::VectorXd& v, Eigen::VectorXd& forces) const;

  /// The drag f(q, v) - C v.
  void drag(const Eigen::VectorXd& at, const Eigen::VectorXd& v, Eigen::VectorXd& drag) const;
  /// What acts from outside, a(q, v, t) + d(t).
  void applied(const Eigen::VectorXd& at, const Eigen::VectorXd& v, double t, Eigen::VectorXd& applied) const;
  /// Derivatives of drag and applied force together with respect to q and v.
  void jacobians(const Eigen::VectorXd& at, const Eigen::VectorXd& v, double t, Eigen::MatrixXd& by_q,
                 Eigen::MatrixXd& by_v) const;

  /// q and p, and z of a contact system, to all ranks. @note Collective.
  void broadcast_particles();
  /// The same on every rank. @note Collective.
  EnergyLedger energies();
  /// That of the particles, what C and f have taken and a and d have done; NaN for the environments. @note Collective.
  EnergyLedger energies_of_particles();

 private:
  ParticleSystem system_;
  Eigen::MatrixXd damping_;
  bool is_damped_;
  std::optional<WhiteNoise> noise_;
  std::shared_ptr<const ThermalStart> start_;
  std::vector<std::unique_ptr<Environment>> environments_;
  Communicator communicator_;
  mutable std::optional<LegendreTransform> legendre_;
  mutable Eigen::VectorXd displacement_;
  mutable std::vector<double> head_, force_;
};

}  // namespace bathline
