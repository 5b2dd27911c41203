// The scheme of an integrator, as data.
//
// Every scheme advances q' = v, p' = f(q, v), with v = p/m and f = -grad U(q) - C v, for the particles and for all
// sites of their environments alike. The methods in this folder fill in the numbers; `steppers/` runs them on particles
// and `model/` on environments, so that neither depends on a method by name.
#pragma once  // Public: programs of others may include this header.

#include <Eigen/Core>
#include <cstdint>
#include <variant>
#include <vector>

namespace bathline {

/// One substep of an explicit scheme.
struct Substep {
  enum class Kind {
    drift,  ///< q += weight h v
    kick,   ///< p += weight h f(q, v)
    stage,  ///< one stage of a Runge-Kutta method; the last one also ends the step
    ou      ///< p by the exact flow of p' = -C v + noise over weight h; kicks then omit both. Not for environments
  };
  Kind kind;
  double weight = 0.0;
  /// For a kick: v inside f is the velocity after the kick. A kick and its mirror image, one with the velocity before
  /// and one with the velocity after, are adjoint to each other, which keeps compositions symmetric under damping.
  bool velocity_after = false;
  int stage = 0;

  bool operator==(const Substep&) const = default;
};

/// An explicit scheme: substeps in order, and the tableau that its `stage` substeps refer to.
struct ExplicitScheme {
  std::vector<Substep> substeps;
  std::vector<std::vector<double>> a;  ///< strictly lower triangular, row i has i entries; empty for a splitting
  std::vector<double> b;

  /// The equivalent scheme if no force depends on velocities: consecutive kicks, at the same positions, are merged, and
  /// so are consecutive drifts.
  ExplicitScheme merged() const;
  /// The times of its substeps, in steps from the start. Time advances with the positions: the time of a kick is the
  /// sum of the drifts before it, so that the equations with time as one more position are autonomous and keep the
  /// order, tables for q'' = f(q) included. The time of a stage is the sum of its weights.
  std::vector<double> nodes() const;
  /// The number of sites on each side on which the state of a site depends after `steps` steps.
  int reach(int steps) const;
  /// The number of steps whose reach is at most `sites`: at least one, at most `sites`.
  int steps_within(std::int64_t sites) const;
  /// Whether damping and noise have substeps of their own.
  bool has_ou_substeps() const;
  /// Whether it is symplectic Euler with the drift first.
  bool is_drift_and_kick() const;
  /// The scheme with damping and noise in two further substeps over half a step each, the first and the last.
  ExplicitScheme with_ou_outside() const;
  /// The scheme of an environment, which has no part in the substeps of damping and noise.
  ExplicitScheme without_ou() const;

  bool operator==(const ExplicitScheme&) const = default;
};

/// A partitioned implicit method with s stages: Q_i = q + h sum_j a_ij V_j, P_i = p + h sum_j a_hat_ij f(Q_j, V_j),
/// V = P/m, q+ = q + h sum_i b_i V_i, p+ = p + h sum_i b_i f(Q_i, V_i).
struct PartitionedRungeKutta {
  Eigen::MatrixXd a;      ///< s x s
  Eigen::MatrixXd a_hat;  ///< s x s
  Eigen::VectorXd b;      ///< s
  /// For contact systems: every stage has the action at the start of the step, Z_i = z, instead of Z_i = z + h sum_j
  /// a_ij L_j.
  bool freezes_action = false;
  /// Damping and noise act before and after the stages, by their exact flow over h/2 each, and not in the stages.
  bool ou_outside = false;

  int stages() const { return static_cast<int>(b.size()); }
  /// The times of its stages, in steps from the start: the nodes of the positions, with which time advances.
  Eigen::VectorXd nodes() const { return a.rowwise().sum(); }
};

/// With one stage, at q + h a V and p + h a_hat f.
PartitionedRungeKutta one_stage(double a, double a_hat);

/// The exact flow, to the accuracy of a reference solution.
struct ExactFlow {
  double tolerance = 1e-14;  ///< relative error of an adaptive step, for systems without a closed form
};

/// The discrete Herglotz equations of a contact system, for the discrete Lagrangian of the midpoint rule or the exact
/// one (steppers/contact_lagrangian.hpp).
struct HerglotzScheme {
  bool exact_lagrangian = false;
};

using Scheme = std::variant<ExplicitScheme, PartitionedRungeKutta, ExactFlow, HerglotzScheme>;

/// Whether it has stages: only splittings, which advance positions and momenta alternately, have none.
bool has_stages(const Scheme& scheme);

/// A kick-and-drift scheme.
ExplicitScheme splitting(std::vector<Substep> substeps);
/// An explicit Runge-Kutta method.
ExplicitScheme runge_kutta(std::vector<std::vector<double>> a, std::vector<double> b);

}  // namespace bathline
