// An environment of few sites, all of them on rank 0, that is its list of masses, springs and dashpots.
#pragma once  // Public: programs of others may include this header.

#include <Eigen/SparseCore>
#include <functional>

#include "model/environment.hpp"
#include "model/noise_stream.hpp"

namespace bathline {

/// The equations of an Assembly, and bonds that are not linear. With f = k (x - w) - K w + bonds the pulls on the
/// sites,
///
///   w' = p/m + slip f,   p' = f - dashpot p/m,   force on the head -sum k (x - w) - sum of the bonds' pulls
///
/// Runge-Kutta methods and implicit ones take them as they stand. Splittings kick and drift the sites in lockstep with
/// the particles, in between two half steps of what sites do by themselves with the head held (`apply_exact_flow`):
/// their decays. What derives from this says more only where it knows better.
///
/// At a temperature kT it starts from its Gibbs distribution with the head held, and what dissipates has noise,
/// <F F'> = 2 kT dashpot delta(t - t') on a momentum and 2 kT slip delta(t - t') on w'. Splittings and methods of
/// several stages take both exactly with the decays; one stage is given them as constant over a step. What is
/// dissipated is then net heat.
class LumpedEnvironment : public Environment, public Noisy {
 public:
  /// One axis of the state.
  struct Axis {
    Eigen::VectorXd w, p;
    double dissipated = 0.0;
  };
  /// What is not linear between the sites or from a site to the head: adds the pulls on the sites to `pulls`, the head
  /// at x and the sites at w, and returns the energy. The head is pulled back by their sum.
  using NonlinearSprings = std::function<double(double x, const Eigen::VectorXd& w, Eigen::VectorXd& pulls)>;

  /// Nothing but the assembly without `nonlinear_springs`; with them, implicit schemes and the exact flow are refused,
  /// and there is no temperature. `temperature` is kT in J.
  LumpedEnvironment(std::string name, Attachment attachment, LumpedNetwork sites, const Communicator& communicator,
                    NonlinearSprings nonlinear_springs = {}, double temperature = 0.0);

  std::int64_t bytes(const Scheme&) const override;
  /// The whole, whatever the limit: the sites are few.
  LumpedNetwork assemble(std::int64_t) const override { return sites_; }
  void prepare(const RngKey& key) override;
  std::vector<StateField> fields() override;
  EnvironmentEnergy energy(std::span<const double> head) override;
  void force(std::span<const double> head, std::span<double> force) const override;
  std::unique_ptr<ExplicitEnvironmentStepper> explicit_stepper(const ExplicitScheme& scheme, double h) override;
  std::unique_ptr<ImplicitEnvironmentStepper> implicit_stepper(const PartitionedRungeKutta& scheme, double h) override;

  /// What splittings take exactly: the sites' own motion for t seconds with the head held at x, the decays of the
  /// momenta here. `numbers` are those of the noise, normal ones for the slips and then for the dashpots of the
  /// assembly, or none. Returns the energy that is lost. Not asked where nothing is.
  virtual double apply_exact_flow(double t, double x, std::span<const double> numbers, Axis& axis) const;
  /// Whether `apply_exact_flow` is all that the sites do by themselves, so that splittings neither kick nor drift them.
  virtual bool exact_flow_is_complete() const { return false; }

  NoiseStream* noise() override { return is_noisy() ? &noise_ : nullptr; }

  // What the marches work with.
  double temperature() const { return temperature_; }
  bool is_noisy() const { return temperature_ > 0.0 && properties().loses_energy; }
  /// Of draw 0 or 1 of the step under way, as `apply_exact_flow` takes them.
  std::span<const double> numbers(int draw, std::size_t axis);
  /// The numbers after this are those of the next step.
  void end_step() { steps_ += 1.0; }
  /// By axis; empty where this rank is not the root.
  std::vector<Axis>& axes() { return axes_; }
  const LumpedNetwork& sites() const { return sites_; }
  const Eigen::VectorXd& inverse_mass() const { return inverse_mass_; }
  const Eigen::VectorXd& to_head() const { return to_head_; }
  const Eigen::VectorXd& dashpots() const { return dashpots_; }
  const Eigen::VectorXd& mobilities() const { return mobilities_; }
  /// Of the springs between sites and to the ground.
  const Eigen::SparseMatrix<double>& stiffness() const { return stiffness_; }
  /// The pulls on the sites with the head at x; returns the force on the head.
  double pull(double x, const Eigen::VectorXd& w, Eigen::VectorXd& pulls) const;

 protected:
  EnvironmentProperties describe() const override;
  std::optional<std::string> own_unsupported_reason(const Scheme& scheme) const override;

 private:
  LumpedNetwork sites_;
  NonlinearSprings nonlinear_springs_;
  Eigen::VectorXd inverse_mass_, to_head_, dashpots_, mobilities_;
  Eigen::SparseMatrix<double> stiffness_;
  std::vector<Axis> axes_;
  double temperature_;
  NoiseStream noise_;
  double steps_ = 0.0;  // that have used numbers, a whole number; on rank 0
};

}  // namespace bathline
