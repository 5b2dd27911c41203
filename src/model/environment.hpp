// The interface of environments to the particles that they damp and to the integrators that advance them.
#pragma once  // Public: programs of others may include this header.

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "methods/scheme.hpp"
#include "model/lumped_network.hpp"
#include "model/attachment.hpp"
#include "model/environment_stepper.hpp"
#include "parallel/communicator.hpp"
#include "random/counter_rng.hpp"

namespace bathline {

class TemperatureInTime;

/// Properties of an environment that are known before the run; the same on every rank.
struct EnvironmentProperties {
  struct Echo {
    double time = std::numeric_limits<double>::infinity();  ///< when the first echo returns to the head, s
    std::string name = "echo";                              ///< what messages call it
  };
  std::int64_t sites = 0;          ///< number of stored sites; 0 where the environment is a memory kernel
  std::string site_name = "site";  ///< what messages call a site
  double damping = 0.0;            ///< the damping constant D that it represents until the echo, kg/s
  Echo echo;
  double highest_frequency = 0.0;  ///< supremum of the moduli of its eigenvalues with the head clamped, rad/s
  double fastest_decay = 0.0;      ///< the highest decay rate of its modes with the head clamped, 1/s
  double temperature = 0.0;        ///< kT of its start, J; 0 at rest
  std::shared_ptr<const TemperatureInTime> temperature_in_time = nullptr;  ///< of its noise, if it is not constant
  bool loses_energy = false;  ///< by dashpots, exponential decay or a matched end
  bool is_linear = true;      ///< whether its lumped network has all of its forces, and `couple` is linear
  /// The part of D that acts as -D x' on the head without delay, and the kT, J, of its white noise; integrators apply
  /// both as the damping and the noise of the particles.
  double white_damping = 0.0, white_temperature = 0.0;
  /// Whether there is nothing else: neither sites nor a stepper.
  bool is_white = false;
  std::optional<double> front_speed =
      std::nullopt;  ///< speed of a wave front away from the head, sites/s, where a formula is known
  /// Where the sites follow from the step: the g of the closed scheme `gamma` for which the reduced scheme has exactly
  /// the damper of this environment.
  std::optional<double> matched_gamma = std::nullopt;
};

/// The energy of an environment, ledger entries of limebeer2020 Theorem III.1.
struct EnvironmentEnergy {
  double environment = 0.0;  ///< kinetic energy of the sites and potential energy between them
  double interaction = 0.0;  ///< in the springs to the head
  double dissipated = 0.0;   ///< dissipated since the start
};

/// A part of an environment's state: an array of one axis that is distributed over the ranks.
struct StateField {
  std::string name;  ///< "w" for displacements of the sites, "p" for their momenta
  int axis = 0;
  std::int64_t first = 0;    ///< index of this rank's first value in the array
  std::int64_t total = 0;    ///< length of the array
  std::span<double> values;  ///< this rank's values
};

/// The analytic force of an environment on its head.
struct AnalyticKernel {
  std::vector<double> kernel;        ///< gamma(t), N/m: -integral gamma(t - s) x'(s) ds is the force from rest
  std::vector<double> limit;         ///< its limit for infinitely many sites; empty where no formula is known
  std::vector<double> random_force;  ///< on a clamped head, by time, then axis, N; empty where no formula is known
};

/// An environment and its state. Displacements w are measured from the head's position at the start: the head is at
/// x = c.(q - q(0)) with the coefficients c of the attachment, or s(q, t) - s(q(0), 0), and an environment at rest is
/// exactly zero.
class Environment {
 public:
  Environment(std::string name, Attachment attachment, const Communicator& communicator)
      : name_(std::move(name)), attachment_(std::move(attachment)), communicator_(communicator) {}
  virtual ~Environment() = default;

  const std::string& name() const { return name_; }
  const Attachment& attachment() const { return attachment_; }
  /// Sets the particles' positions at the start, from which the head is measured.
  void begin_at(const Eigen::VectorXd& q0) { attachment_.begin_at(q0); }
  const Communicator& communicator() const { return communicator_; }
  /// Computed at the first call; they do not change during a run.
  const EnvironmentProperties& properties() const;

  /// Why `scheme`, "it", cannot advance this environment, as a sentence; nothing where it can.
  std::optional<std::string> unsupported_reason(const Scheme& scheme) const;
  /// Bytes that this rank needs while `scheme` advances it, those only that grow with the number of sites.
  virtual std::int64_t bytes(const Scheme& scheme) const = 0;
  /// Its equations: all sites, or at most `limit` of them, whose response at high frequencies is that of all. The sites
  /// are those of the fields "w" and "p".
  virtual LumpedNetwork assemble(std::int64_t limit) const = 0;
  /// The kernel at the given times, s; nothing where no formula is known. The same on every rank. @note Collective.
  virtual std::optional<AnalyticKernel> analytic_kernel(std::span<const double>) const { return std::nullopt; }

  /// Allocates the state, with every site at rest at the head's position, or drawn as a thermal start by the random
  /// numbers of `key`. @note Collective.
  virtual void prepare(const RngKey& key) = 0;
  /// Its complete state: all that is needed to continue, given the motion of the head.
  virtual std::vector<StateField> fields() = 0;
  /// Must be called after the fields have been written. @note Collective.
  virtual void fields_changed() {}
  /// `head` is x on rank 0. The values are the same on every rank. @note Collective.
  virtual EnvironmentEnergy energy(std::span<const double> head) = 0;
  /// Force on the head at x, between two steps; within a block only if `has_force_within_blocks`. Rank 0 only.
  virtual void force(std::span<const double> head, std::span<double> force) const = 0;
  virtual bool has_force_within_blocks() const { return false; }

  /// A stepper for steps of h; the environment must outlive it. Several may be used alternately. @note Collective.
  virtual std::unique_ptr<ExplicitEnvironmentStepper> explicit_stepper(const ExplicitScheme& scheme, double h) = 0;
  /// Likewise. Reads PETSc's options where it needs a linear solver. @note Collective.
  virtual std::unique_ptr<ImplicitEnvironmentStepper> implicit_stepper(const PartitionedRungeKutta& scheme,
                                                                       double h) = 0;

  /// Throws std::out_of_range where there is none.
  StateField field(std::string_view name, int axis);
  /// All displacements and momenta on rank 0, site by site, axis by axis; empty elsewhere. @note Collective.
  void gather_state(std::vector<double>& w, std::vector<double>& p);
  /// The inverse of `gather_state`. @note Collective.
  void scatter_state(std::span<const double> w, std::span<const double> p);

 private:
  virtual EnvironmentProperties describe() const = 0;
  /// The reasons of this environment, beside those that hold for all.
  virtual std::optional<std::string> own_unsupported_reason(const Scheme&) const { return std::nullopt; }

  std::string name_;
  Attachment attachment_;
  Communicator communicator_;
  mutable std::optional<EnvironmentProperties> properties_;
};

}  // namespace bathline
