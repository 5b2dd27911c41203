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

/// What environments are to the particles in a step: a constant force at every stage and dashpots between the stages.
/// Both stand stage by stage; empty where there are no environments.
struct StageForces {
  Eigen::VectorXd constant;
  Eigen::MatrixXd damping;
};

/// Advances the particles of a problem; lives on rank 0.
class ParticleStages {
 public:
  virtual ~ParticleStages() = default;
  /// One step of q, p and what has been dissipated. `velocities`, of all stages, are for environments and left alone
  /// where there are none. Where it fails the problem is left as it was.
  virtual SnesSolver::Report step(const StageForces& of_environments, Eigen::VectorXd& velocities) = 0;
};

/// `problem` must outlive it. For few unknowns everything has its size at compile time and nothing is allocated. Where
/// PETSc's options speak of Newton's method (`-snes_...`, `-particles_...`) it is PETSc's.
std::unique_ptr<ParticleStages> make_particle_stages(const PartitionedRungeKutta& scheme, Problem& problem, double h);

}  // namespace bathline
