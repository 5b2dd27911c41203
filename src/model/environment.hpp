// What an environment is to the particles that it damps, and to the integrators that advance it.
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

/// What is known of an environment before it moves; the same on every rank.
struct EnvironmentProperties {
  struct Echo {
    double time = std::numeric_limits<double>::infinity();  ///< when the first is back at the head, s
    std::string name = "echo";                              ///< what that is called
  };
  std::int64_t sites = 0;          ///< that are kept; 0 where it is known by its memory alone
  std::string site_name = "site";  ///< what one of them is called
  double damping = 0.0;            ///< the damping constant D that it stands for until the echo, kg/s
  Echo echo;
  double highest_frequency = 0.0;  ///< supremum of the sizes of its own eigenvalues with the head held, rad/s
  double fastest_decay = 0.0;      ///< of the rates at which its own motions die down with the head held, 1/s
  double temperature = 0.0;        ///< kT of its start, J; 0 at rest
  bool loses_energy = false;
  bool is_linear = true;  ///< whether its assembly is all there is to it
  std::optional<double> front_speed =
      std::nullopt;  ///< of a disturbance away from the head, sites/s, where a formula is known
  /// Where what it is made of follows from the step: the g of the closed scheme `gamma` for which the reduced scheme
  /// has its damper exactly.
  std::optional<double> matched_gamma = std::nullopt;
};

/// The energy of an environment, ledger entries of limebeer2020 Theorem III.1.
struct EnvironmentEnergy {
  double environment = 0.0;  ///< kinetic energy of the sites and potential energy between them
  double interaction = 0.0;  ///< in the springs to the head
  double dissipated = 0.0;   ///< lost for good since the start
};

/// A part of an environment's state: numbers of one axis in a row that lies over the ranks.
struct StateField {
  std::string name;  ///< "w" are displacements of the sites, "p" their momenta
  int axis = 0;
  std::int64_t first = 0;    ///< where this rank's part of the row begins
  std::int64_t total = 0;    ///< length of the row
  std::span<double> values;  ///< this rank's part
};

/// What theory knows of an environment's force on its head.
struct AnalyticKernel {
  std::vector<double> kernel;        ///< gamma(t), N/m: -integral gamma(t - s) x'(s) ds is the force from rest
  std::vector<double> limit;         ///< what that tends to with ever more sites; empty where no formula is known
  std::vector<double> random_force;  ///< on a head at rest, by time, then axis, N; empty where no formula is known
};

/// An environment in motion. Displacements w are measured from the start, where every site stands at the head's place:
/// the head is at x = c.(q - q(0)), and an environment at rest is zero everywhere, exactly.
class Environment {
 public:
  Environment(std::string name, Attachment attachment, const Communicator& communicator)
      : name_(std::move(name)), attachment_(std::move(attachment)), communicator_(communicator) {}
  virtual ~Environment() = default;

  const std::string& name() const { return name_; }
  const Attachment& attachment() const { return attachment_; }
  const Communicator& communicator() const { return communicator_; }
  const EnvironmentProperties& properties() const;

  /// Why `scheme` cannot advance it, in a sentence that begins with its own subject; nothing where it can.
  std::optional<std::string> unsupported_reason(const Scheme& scheme) const;
  /// Bytes that this rank needs while `scheme` advances it, as far as they grow with the sites.
  virtual std::int64_t bytes(const Scheme& scheme) const = 0;
  /// Its equations: the whole, or at most `limit` sites that answer fast motions of the head like the whole. The sites
  /// are those of the fields "w" and "p".
  virtual LumpedNetwork assemble(std::int64_t limit) const = 0;
  /// Nothing where no formula is known of the kernel. The same on every rank. @note Collective.
  virtual std::optional<AnalyticKernel> analytic_kernel(std::span<const double>) const { return std::nullopt; }

  /// Allocates, and puts every site at rest at the head's place, or where a thermal start has it, for which `key` says
  /// which one. @note Collective.
  virtual void prepare(const RngKey& key) = 0;
  /// All of its state: what it will do follows from that and from how its head moves.
  virtual std::vector<StateField> fields() = 0;
  /// To be called once the fields have been written from outside. @note Collective.
  virtual void fields_changed() {}
  /// `head` is x on rank 0. The values are the same on every rank. @note Collective.
  virtual EnvironmentEnergy energy(std::span<const double> head) = 0;
  /// Force on the head at x, outside of blocks. Rank 0 only.
  virtual void force(std::span<const double> head, std::span<double> force) const = 0;

  /// What advances it by steps of h; the environment must outlive it. Any number of them may take turns.
  /// @note Collective.
  virtual std::unique_ptr<ExplicitEnvironmentStepper> explicit_stepper(const ExplicitScheme& scheme, double h) = 0;
  /// The same. Reads PETSc's options where it needs a solver. @note Collective.
  virtual std::unique_ptr<ImplicitEnvironmentStepper> implicit_stepper(const PartitionedRungeKutta& scheme,
                                                                       double h) = 0;

  /// Throws std::out_of_range where there is none.
  StateField field(std::string_view name, int axis);
  /// All displacements and momenta on rank 0, site by site, axis by axis; empty elsewhere. @note Collective.
  void gather_state(std::vector<double>& w, std::vector<double>& p);
  /// The converse. @note Collective.
  void scatter_state(std::span<const double> w, std::span<const double> p);

 private:
  virtual EnvironmentProperties describe() const = 0;
  /// What stands in the way of `scheme` here, apart from what does so everywhere.
  virtual std::optional<std::string> own_unsupported_reason(const Scheme&) const { return std::nullopt; }

  std::string name_;
  Attachment attachment_;
  Communicator communicator_;
  mutable std::optional<EnvironmentProperties> properties_;
};

}  // namespace bathline
