// Particles and environments assembled into one system of equations, for references and stability limits.
#pragma once

#include <Eigen/Dense>
#include <Eigen/SparseCore>
#include <span>
#include <string>
#include <vector>

#include "model/environment.hpp"
#include "model/problem.hpp"

namespace bathline {

/// All degrees of freedom u = (particles, sites of every environment), as displacements from the start:
///
///   m u'' = f(u) - C u',   and u' = p/m + mobility f for sites with a mobility (lumped_network.hpp)
///
/// with the springs and dashpots of the environments as plain lists. Environments longer than `limit` sites are
/// truncated there.
class AssembledSystem {
 public:
  AssembledSystem(const Problem& problem, std::int64_t limit);

  int size() const { return static_cast<int>(mass_.size()); }
  int particle_dofs() const { return static_cast<int>(problem_.system().size()); }
  const Eigen::VectorXd& mass() const { return mass_; }
  bool is_damped() const { return problem_.is_damped() || !dashpots_.empty() || !mobilities_.empty(); }
  bool is_linear() const { return problem_.system().is_linear() && problem_.has_linear_environments(); }
  bool has_applied() const { return problem_.system().is_driven() || problem_.system().lagrangian; }
  /// Whether `force` has all forces between particles and sites: nonlinear springs are in no list.
  bool is_complete() const { return is_linear_; }

  /// Stiffness matrix linearised at the start.
  Eigen::MatrixXd stiffness() const;
  Eigen::SparseMatrix<double> sparse_stiffness() const;
  /// B^T K B for displacements B, a column each. The springs of environments are summed as squares of their strains, so
  /// that motions that hardly strain stiff springs keep their digits; what the rounding of V's second derivatives could
  /// make is 0.
  Eigen::MatrixXd stiffness_between(const Eigen::MatrixXd& displacements) const;
  /// x' = B x + noise, <noise noise^T> = Q delta(t - t'), with all forces linearised at the start and all sources of
  /// noise.
  struct LinearSde {
    Eigen::MatrixXd drift, diffusion;
  };
  /// In the order of step_matrix.hpp: q and v of the particles, then w and p of each environment.
  LinearSde linear_sde() const;
  /// Force without losses at displacements u.
  void force(std::span<const double> u, std::span<double> force) const;
  /// Adds the drag, -C v and the particles' own force at displacements u, to `force`, and mobility times `force`
  /// to v = p/m. Returns the power that they dissipate.
  double add_losses(std::span<const double> u, std::span<double> v, std::span<double> force) const;
  /// The velocities of momenta p, NaN where a Lagrangian has none. Newton's method starts from `v`, and if that fails
  /// from the velocities of the problem, which are those at the start of the step. `z` is the action.
  void find_velocities(double t, double z, std::span<const double> u, std::span<const double> p,
                       std::span<double> v) const;
  /// Why a Lagrangian had none the last time that it had none; empty before.
  const std::string& why_no_velocities() const { return why_no_velocities_; }
  /// Adds the force of a magnetic field, if there is one, which has no power.
  void add_magnetic(std::span<const double> v, std::span<double> force) const;
  /// The power of external forces, the power that a Lagrangian dissipates by its dependence on z, and z' = L.
  struct AppliedRates {
    double work = 0.0, loss = 0.0, action = 0.0;
  };
  /// Adds the external forces on the particles and those of a Lagrangian, dL/dq + dL/dz p.
  AppliedRates add_applied(double t, double z, std::span<const double> u, std::span<const double> p,
                           std::span<const double> v, std::span<double> force) const;

 private:
  /// Every contribution to the stiffness matrix, as add(i, j, value).
  template <class Add>
  void add_stiffnesses(Add add) const;
  /// A spring of stiffness k on the combination sum_i coefficient_i u_i.
  struct Spring {
    std::vector<std::pair<int, double>> terms;
    double stiffness;
  };
  const Problem& problem_;
  Eigen::VectorXd mass_;
  std::vector<double> temperature_;  // kT of the noise at each degree of freedom
  std::vector<int> ends_;            // one past the last index of each environment
  std::vector<Spring> springs_;
  std::vector<std::pair<int, double>> dashpots_, mobilities_;
  bool is_linear_ = true;
  mutable Eigen::VectorXd q_, gradient_;
  mutable std::string why_no_velocities_;
};

}  // namespace bathline
