// An environment of few sites, all of them on rank 0, that is given by its masses, springs and dashpots.
#pragma once  // Public: programs of others may include this header.

#include <Eigen/SparseCore>
#include <functional>

#include "model/environment.hpp"
#include "model/noise_stream.hpp"

namespace bathline {

/// The equations of a LumpedNetwork with further nonlinear springs. With f = k (x - w) - K w + n(x, w) the forces of
/// all springs on the sites, n those of the nonlinear ones,
///
///   w' = p/m + mobility f,   p' = f - dashpot p/m,   force on the head -sum k (x - w) - sum n
///
/// Explicit Runge-Kutta methods and implicit ones discretise these equations. Splittings kick and drift the sites in
/// lockstep with the particles, between two half steps of the exact flow of their decay (`apply_exact_flow`). Derived
/// classes override it where they have another exact flow.
///
/// At a temperature kT it starts from its Gibbs distribution with the head clamped, and dissipative elements have
/// noise, <F F'> = 2 kT dashpot delta(t - t') on p' and 2 kT mobility delta(t - t') on w'. Splittings and methods with
/// several stages include it in the exact flow; methods with one stage take it as constant over a step. The dissipated
/// energy is then the net heat.
class LumpedEnvironment : public Environment, public Noisy {
 public:
  /// One axis of the state.
  struct Axis {
    Eigen::VectorXd w, p;
    double dissipated = 0.0;
  };
  /// Nonlinear springs between sites or from a site to the head: adds their forces on the sites to `pulls`, with the
  /// head at x and the sites at w, and returns their energy. The force on the head is minus the sum.
  using NonlinearSprings = std::function<double(double x, const Eigen::VectorXd& w, Eigen::VectorXd& pulls)>;

  /// With `nonlinear_springs`, implicit schemes and the exact flow are unsupported, and `temperature`, which is kT in
  /// J, must be 0.
  LumpedEnvironment(std::string name, Attachment attachment, LumpedNetwork sites, const Communicator& communicator,
                    NonlinearSprings nonlinear_springs = {}, double temperature = 0.0);

  std::int64_t bytes(const Scheme&) const override;
  /// All sites, whatever the limit, as they are few.
  LumpedNetwork assemble(std::int64_t) const override { return sites_; }
  void prepare(const RngKey& key) override;
  std::vector<StateField> fields() override;
  EnvironmentEnergy energy(std::span<const double> head) override;
  void force(std::span<const double> head, std::span<double> force) const override;
  bool has_force_within_blocks() const override { return true; }
  std::unique_ptr<ExplicitEnvironmentStepper> explicit_stepper(const ExplicitScheme& scheme, double h) override;
  std::unique_ptr<ImplicitEnvironmentStepper> implicit_stepper(const PartitionedRungeKutta& scheme, double h) override;

  /// The part of the sites' motion that splittings apply exactly, for t seconds with the head clamped at x: here the
  /// decay of the momenta by dashpots. `numbers` are standard normal ones, for the mobilities and then for the dashpots
  /// of the network, or empty without noise. Returns the dissipated energy. Called only if the network loses energy.
  virtual double apply_exact_flow(double t, double x, std::span<const double> numbers, Axis& axis) const;
  /// Whether `apply_exact_flow` is the complete motion with the head clamped, so that splittings neither kick nor drift
  /// the sites.
  virtual bool exact_flow_is_complete() const { return false; }

  /// Makes the state that of costates, dJ/dp in the place of w and dJ/dw in that of p, and all steppers that follow
  /// those of the transposed equations, with x a costate of momentum and the force on the head one of position:
  ///
  ///   w' = p/m - dashpot w/m,   p' = k (x - u) - K u,   u = w + mobility p,   force on the head -sum k (x - u)
  ///
  /// Without decay these are the equations above. Steppers of splittings leave out the decay, for which there is
  /// `apply_transposed_flow`.
  void transpose() { is_transposed_ = true; }
  bool is_transposed() const { return is_transposed_; }
  /// The transpose of `apply_exact_flow` without noise. Returns what it adds to the costate of the head's position.
  virtual double apply_transposed_flow(double t, Axis& axis) const;

  NoiseStream* noise() override { return is_noisy() ? &noise_ : nullptr; }

  // For the steppers.
  double temperature() const { return temperature_; }
  bool is_noisy() const { return temperature_ > 0.0 && properties().loses_energy; }
  /// The random numbers of draw 0 or 1 of the current step, in the order of `apply_exact_flow`. They are for the noise
  /// at the temperature of the start; where that depends on the time, they are scaled for the part of a step of h whose
  /// middle is this fraction of it. Where a draw has several parts, each has numbers of its own.
  std::span<const double> numbers(int draw, std::size_t axis, double h, double middle, std::size_t part = 0,
                                  std::size_t parts = 1);
  /// Sets the temperature of the noise after the start. Before the first use.
  void set_temperature_in_time(std::shared_ptr<const TemperatureInTime> temperature) {
    temperature_in_time_ = std::move(temperature);
  }
  /// Makes the next step the current one.
  void end_step() { steps_ += 1.0; }
  /// The state by axis; empty except on the root.
  std::vector<Axis>& axes() { return axes_; }
  const LumpedNetwork& sites() const { return sites_; }
  const Eigen::VectorXd& inverse_mass() const { return inverse_mass_; }
  const Eigen::VectorXd& to_head() const { return to_head_; }
  /// Stiffness of the springs to the ground.
  const Eigen::VectorXd& to_ground() const { return to_ground_; }
  const Eigen::VectorXd& dashpots() const { return dashpots_; }
  const Eigen::VectorXd& mobilities() const { return mobilities_; }
  /// The stiffness matrix of the springs between sites and to the ground.
  const Eigen::SparseMatrix<double>& stiffness() const { return stiffness_; }
  /// The forces of all springs on the sites, with the head at x and the sites at w; returns the force on the head.
  double pull(double x, const Eigen::VectorXd& w, Eigen::VectorXd& pulls) const;

 protected:
  EnvironmentProperties describe() const override;
  std::optional<std::string> own_unsupported_reason(const Scheme& scheme) const override;

 private:
  LumpedNetwork sites_;
  NonlinearSprings nonlinear_springs_;
  Eigen::VectorXd inverse_mass_, to_head_, to_ground_, dashpots_, mobilities_;
  Eigen::SparseMatrix<double> stiffness_;
  std::vector<Axis> axes_;
  bool is_transposed_ = false;
  double temperature_;
  std::shared_ptr<const TemperatureInTime> temperature_in_time_;
  NoiseStream noise_;
  std::vector<double> scaled_;
  double steps_ = 0.0;  // number of completed steps, a whole number; on rank 0
};

}  // namespace bathline
