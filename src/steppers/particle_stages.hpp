// The stages of the particles in an implicit step, solved by Newton's method.
//
//   P_i = p + h sum_j a^_ij F_j,  P = dL/dv,  F = dL/dq + forces,  both at Q_i = q + h sum_j a_ij V_j, V_i
//   q+ = q + h sum_i b_i V_i,  p+ = p + h sum_i b_i F_i
//
// Unknowns are the stage velocities V: as h goes to zero the matrix of Newton's method goes to that of the masses,
// whatever the scheme. Source: hairer2006, section II.2; martin2018, section 7 for forces.
#pragma once

#include <memory>

#include "methods/scheme.hpp"
#include "model/problem.hpp"
#include "solve/snes_solver.hpp"

namespace bathline {

/// An environment on a nonlinear coupling: at stage i it acts as F_i ds/dq with F_i = constant_i - sum_j stiffness_ij
/// (s(Q_j, t_j) - start).
struct CoupledStages {
  const Attachment* attachment;
  Eigen::MatrixXd constant;   ///< stages x axes
  Eigen::MatrixXd stiffness;  ///< stages x stages
  std::vector<double> start;  ///< the head at the start of the step, by axis
};

/// The action of environments on the particles in a step: a constant force at every stage and dashpots between the
/// stages, both ordered by stage and empty where there are no environments, and the environments on nonlinear
/// couplings.
struct StageForces {
  Eigen::VectorXd constant;
  Eigen::MatrixXd damping;
  std::vector<CoupledStages> coupled = {};
};

/// Advances the particles of a problem; exists on rank 0.
class ParticleStages {
 public:
  virtual ~ParticleStages() = default;
  /// Advances q, p and the dissipated energy by one step. Sets `velocities`, of all stages, where there are
  /// environments. The problem is unchanged where Newton's method fails.
  SnesSolver::Report step(const StageForces& environment_forces, Eigen::VectorXd& velocities) {
    SnesSolver::Report report = solve(environment_forces, velocities);
    finish(report);
    return report;
  }
  /// The first half of a step, which changes nothing in the problem: the stage velocities.
  virtual SnesSolver::Report solve(const StageForces& environment_forces, Eigen::VectorXd& velocities) = 0;
  /// Completes the step of the last `solve`, where `report` says that it found the solution; a step that is rejected
  /// changes it.
  virtual void finish(SnesSolver::Report& report) = 0;
};

/// The friction that stages apply as forces. Other steppers do the rest: the exact flow of all of it beside the stages,
/// or heads of nonlinear couplings, where a damper is a line on its characteristic grid.
FrictionParts friction_in_stages(const PartitionedRungeKutta& scheme);

/// `problem` must outlive it. For few unknowns all sizes are known at compile time and nothing is allocated. Newton's
/// method is PETSc's where options of PETSc mention it (`-snes_...`, `-particles_...`).
std::unique_ptr<ParticleStages> make_particle_stages(const PartitionedRungeKutta& scheme, Problem& problem, double h);

}  // namespace bathline
