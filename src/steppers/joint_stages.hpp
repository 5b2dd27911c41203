// The stages of particles and nonlinear lines in one system, solved by PETSc's SNES.
#pragma once

#include <memory>
#include <vector>

#include "model/line/implicit/nonlinear_stages.hpp"
#include "steppers/particle_stages.hpp"

namespace bathline {

/// A nonlinear line and what its axes follow.
struct JoinedLine {
  NonlinearStages* stages;
  const Attachment* attachment;
};

class JointStages {
 public:
  virtual ~JointStages() = default;
  /// As ParticleStages::step, with the forces of the lines beside those of the other environments; leaves the lines at
  /// the solution. The same report on every rank. @note Collective.
  virtual SnesSolver::Report step(const StageForces& environment_forces, Eigen::VectorXd& velocities) = 0;
};

/// `particles` is nullptr except on rank 0; all arguments must outlive it. @note Collective.
std::unique_ptr<JointStages> make_joint_stages(const PartitionedRungeKutta& scheme, const Problem& problem, double h,
                                               ParticleStages* particles, std::vector<JoinedLine> lines);

}  // namespace bathline
