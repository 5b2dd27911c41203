// What an environment is to the particles that it damps, and to the integrators that advance it.
#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "integrate/scheme.hpp"
#include "model/attachment.hpp"
#include "parallel/random_key.hpp"

namespace bathline {

/// An environment's sites as plain numbers: M_j w_j'' = -(K w)_j + coupling_j x - dashpot_j w_j', and the force on the
/// head sum_j coupling_j (w_j - x). For references and stability limits on one rank.
struct LinearChain {
  struct Spring {
    int first;
    int second;
    double stiffness;
  };
  std::vector<double> mass;
  std::vector<Spring> springs;                    ///< between sites
  std::vector<std::pair<int, double>> to_head;    ///< springs from a site to the head
  std::vector<std::pair<int, double>> to_ground;  ///< springs from a site to a fixed point
  std::vector<std::pair<int, double>> dashpots;   ///< from a site to a fixed point
};

/// The energy of an environment, ledger entries of limebeer2020 Theorem III.1.
struct EnvironmentEnergy {
  double environment = 0.0;  ///< kinetic energy of the sites and potential energy between them
  double interaction = 0.0;  ///< in the springs to the head
  double dissipated = 0.0;   ///< lost for good at a matched end since the start
};

/// The stage of an implicit scheme with the environment eliminated: force on the head = constant - damping * v, with v
/// the stage velocity of the head.
struct HeadResponse {
  std::vector<double> constant;  ///< one entry per axis
  double damping = 0.0;
};

/// The same with several stages: force on the head at stage i = constant_i - sum_j damping_ij v_j.
struct StageResponse {
  Eigen::MatrixXd constant;  ///< stages x axes, on rank 0
  Eigen::MatrixXd damping;   ///< stages x stages
};

/// An environment in motion. Displacements w are measured from the start, where every site stands at the head's place:
/// the head is at x = c.(q - q(0)), and an environment at rest is zero everywhere, exactly.
///
/// Explicit schemes run in blocks: `open_block`, then on rank 0 the substeps of all steps in lockstep with the
/// particles through `force` and `substep`, then `close_block`, in which the part that cannot feel the particles yet
/// catches up. Implicit schemes alternate `eliminate` and `complete`, those with several stages `eliminate_stages` and
/// `complete_stages`, in blocks of steps likewise, where every environment allows any.
class Environment {
 public:
  Environment(std::string name, Attachment attachment) : name_(std::move(name)), attachment_(std::move(attachment)) {}
  virtual ~Environment() = default;

  const std::string& name() const { return name_; }
  const Attachment& attachment() const { return attachment_; }

  // What it is.
  virtual std::int64_t sites() const = 0;
  /// What one of them is called.
  virtual std::string site_name() const { return "site"; }
  /// Bytes of state that this rank holds after `prepare`.
  virtual std::int64_t bytes() const = 0;
  /// Bytes that this rank needs besides while `scheme` advances it, as far as they grow with the sites.
  virtual std::int64_t bytes_for(const Scheme&) const { return 0; }
  /// The damping constant D that it stands for until the echo, kg/s.
  virtual double damping() const = 0;
  /// When the first echo is back at the head, s; infinity if never.
  virtual double echo_time() const = 0;
  /// What that is called.
  virtual std::string echo_name() const { return "echo"; }
  /// kT of its start, J; 0 at rest.
  virtual double temperature() const { return 0.0; }
  /// Supremum of its own frequencies with the head held, rad/s.
  virtual double highest_frequency() const = 0;
  /// Whether it loses energy (a matched end).
  virtual bool is_open_ended() const = 0;
  /// The whole, or at most `limit` sites that answer fast motions of the head like the whole.
  virtual LinearChain chain(std::int64_t limit) const = 0;
  /// Its memory kernel gamma(t), N/m, until the echo: the force on the head is -integral gamma(t - s) x'(s) ds when it
  /// starts at rest. The same on every rank; empty where no formula is known. @note Collective.
  virtual std::vector<double> memory_kernel(std::span<const double> times) const = 0;
  /// What that kernel tends to with ever more sites; empty where no formula is known.
  virtual std::vector<double> memory_kernel_limit(std::span<const double>) const { return {}; }
  /// Speed at which the front of a disturbance moves away from the head, sites/s; nothing where no formula is known.
  virtual std::optional<double> front_speed() const { return std::nullopt; }
  /// The force on a head at rest that follows from the present state, by time, then axis, N; empty where no formula is
  /// known. @note Collective.
  virtual std::vector<double> random_force(std::span<const double>) const { return {}; }

  // Its state.
  /// Allocates, and puts every site at rest at the head's place, or where a thermal start has it, for which `key` says
  /// which one. @note Collective.
  virtual void prepare(const RandomKey& key) = 0;
  /// All displacements and momenta on rank 0, site by site, axis by axis; empty elsewhere. @note Collective.
  virtual void gather_state(std::vector<double>& w, std::vector<double>& p) const = 0;
  /// The converse. @note Collective.
  virtual void scatter_state(std::span<const double> w, std::span<const double> p) = 0;
  /// This rank's displacements along `axis`; its first entry is global site `first_site()`.
  virtual std::span<const double> displacement(int axis) const = 0;
  virtual std::int64_t first_site() const = 0;
  /// This rank's momenta along `axis`, of the same sites.
  virtual std::span<const double> momentum(int axis) const = 0;
  /// Puts this rank's sites back to what `displacement` and `momentum` once were, on as many ranks or others.
  virtual void restore(int axis, std::span<const double> w, std::span<const double> p) = 0;
  /// What the steps to come depend on besides displacements and momenta, such as energy lost so far and sums kept from
  /// the last step; the same on every rank. @note Collective.
  virtual std::vector<double> carried() const = 0;
  /// The converse, after `restore` and once a stepper has been made. Throws std::out_of_range on what does not fit.
  virtual void carry_on(std::span<const double> carried) = 0;
  /// `head` is x on rank 0. The values are the same on every rank. @note Collective.
  virtual EnvironmentEnergy energy(std::span<const double> head) = 0;

  /// Promises that from now on nothing matters but how the head moves, in `steps` more steps: sites that it will not
  /// feel any more may be left behind, whose displacements, momenta and energies are then worthless. To be repeated
  /// before every advance.
  virtual void foresee_end(std::int64_t) {}

  // Explicit schemes.
  /// How many steps the next block may have. The same on every rank.
  virtual int block_limit(const ExplicitScheme& scheme) const = 0;
  /// @note Collective.
  virtual void open_block(const ExplicitScheme& scheme, double h, int steps) = 0;
  /// Force on the head at x, between substeps of a block or outside of blocks. Rank 0 only.
  virtual void force(std::span<const double> head, std::span<double> force) const = 0;
  /// One substep of the sites near the head, which stands at x. Rank 0 only, inside a block.
  virtual void substep(const Substep& substep, std::span<const double> head) = 0;
  /// @note Collective.
  virtual void close_block() = 0;

  // Implicit schemes.
  /// Reads PETSc's options and prepares the solver. @note Collective.
  virtual void set_up_implicit(const OneStageScheme& scheme, double h) = 0;
  /// How many steps of the scheme set up last a block may have; 0: every step needs all ranks. The same on every rank.
  virtual int implicit_block_limit() const { return 0; }
  /// @note Collective.
  virtual void open_implicit_block(int) {}
  /// @note Collective.
  virtual void close_implicit_block() {}
  /// Nothing where a linear solver did not converge; `failure` says why. `head` is x on rank 0. @note Collective, but
  /// on rank 0 only inside a block.
  virtual std::optional<HeadResponse> eliminate(std::span<const double> head) = 0;
  /// Ends the step that `eliminate` began; `head_velocity` is the stage velocity, the same on every rank that calls
  /// this. @note Collective, but on rank 0 only inside a block.
  virtual void complete(std::span<const double> head_velocity) = 0;
  virtual std::string failure() const = 0;

  // Implicit schemes with several stages.
  /// Whether there are any for it.
  virtual bool allows_stages() const { return true; }
  /// @note Collective.
  virtual void set_up_stages(const CollocationScheme& scheme, double h) = 0;
  /// As `eliminate`. @note Collective, but on rank 0 only inside a block.
  virtual std::optional<StageResponse> eliminate_stages(std::span<const double> head) = 0;
  /// Ends the step that `eliminate_stages` began; `head_velocities` is stages x axes, the same on every rank that calls
  /// this. @note Collective, but on rank 0 only inside a block.
  virtual void complete_stages(const Eigen::MatrixXd& head_velocities) = 0;

 private:
  std::string name_;
  Attachment attachment_;
};

}  // namespace bathline
