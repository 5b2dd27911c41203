// An environment of few sites, all of them on rank 0, that is its list of masses, springs and dashpots.
#pragma once  // Public: programs of others may include this header.

#include <Eigen/SparseCore>
#include <functional>

#include "model/environment.hpp"

namespace bathline {

/// The equations of an Assembly, and bonds that are not linear. With f = k (x - w) - K w + bonds the pulls on the
/// sites,
///
///   w' = p/m + slip f,   p' = f - dashpot p/m,   force on the head -sum k (x - w) - sum of the bonds' pulls
///
/// Runge-Kutta methods and implicit ones take them as they stand. Splittings kick and drift the sites in lockstep with
/// the particles, in between two half steps of what sites do by themselves with the head held (`relax`): their decays.
/// What derives from this says more only where it knows better.
class LumpedEnvironment : public Environment {
 public:
  /// One axis of the state.
  struct Axis {
    Eigen::VectorXd w, p;
    double dissipated = 0.0;
  };
  /// What is not linear between the sites or from a site to the head: adds the pulls on the sites to `pulls`, the head
  /// at x and the sites at w, and returns the energy. The head is pulled back by their sum.
  using Bonds = std::function<double(double x, const Eigen::VectorXd& w, Eigen::VectorXd& pulls)>;

  /// Nothing but the assembly without `bonds`; with them, implicit schemes and the exact flow are refused.
  LumpedEnvironment(std::string name, Attachment attachment, Assembly sites, const Communicator& communicator,
                    Bonds bonds = {});

  std::int64_t bytes(const Scheme&) const override;
  /// The whole, whatever the limit: the sites are few.
  Assembly assemble(std::int64_t) const override { return sites_; }
  void prepare(const RandomKey&) override;
  std::vector<StateField> fields() override;
  EnvironmentEnergy energy(std::span<const double> head) override;
  void force(std::span<const double> head, std::span<double> force) const override;
  std::unique_ptr<ExplicitMarch> explicit_march(const ExplicitScheme& scheme, double h) override;
  std::unique_ptr<ImplicitMarch> implicit_march(const CollocationScheme& scheme, double h) override;

  /// What splittings take exactly: the sites' own motion for t seconds with the head held at x, the decays of the
  /// momenta here. Returns the energy that is lost. Not asked where nothing is.
  virtual double relax(double t, double x, Axis& axis) const;
  /// Whether `relax` is all that the sites do by themselves, so that splittings neither kick nor drift them.
  virtual bool relaxes_wholly() const { return false; }

  // What the marches work with.
  /// By axis; empty where this rank is not the root.
  std::vector<Axis>& axes() { return axes_; }
  const Assembly& sites() const { return sites_; }
  const Eigen::VectorXd& inverse_mass() const { return inverse_mass_; }
  const Eigen::VectorXd& to_head() const { return to_head_; }
  const Eigen::VectorXd& dashpots() const { return dashpots_; }
  const Eigen::VectorXd& slips() const { return slips_; }
  /// Of the springs between sites and to the ground.
  const Eigen::SparseMatrix<double>& stiffness() const { return stiffness_; }
  /// The pulls on the sites with the head at x; returns the force on the head.
  double pull(double x, const Eigen::VectorXd& w, Eigen::VectorXd& pulls) const;

 protected:
  EnvironmentFacts describe() const override;
  std::optional<std::string> own_obstacle(const Scheme& scheme) const override;

 private:
  Assembly sites_;
  Bonds bonds_;
  Eigen::VectorXd inverse_mass_, to_head_, dashpots_, slips_;
  Eigen::SparseMatrix<double> stiffness_;
  std::vector<Axis> axes_;
};

}  // namespace bathline
