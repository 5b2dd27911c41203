// The stages of an implicit step of a nonlinear line, solved by PETSc's SNES.
#pragma once

#include <Eigen/Core>
#include <memory>

#include "model/environment_stepper.hpp"
#include "model/line/state.hpp"
#include "solve/snes_solver.hpp"

namespace bathline {

/// A stepper without a linear response: that of `condense` is 0. Its sites are solved for with given velocities of the
/// head, near which the response is linear.
class NonlinearResponse {
 public:
  struct NearVelocities {
    SnesSolver::Report report;
    Eigen::MatrixXd forces;   ///< on the head, stages x axes
    Eigen::MatrixXd damping;  ///< minus their derivative by its velocities, both ordered by axis, then stage
  };

  virtual ~NonlinearResponse() = default;
  /// Between `condense` and `back_substitute`. `head_velocities` is stages x axes; it and the report are the same on
  /// every rank, forces and damping those of rank 0. @note Collective.
  virtual NearVelocities respond(const Eigen::MatrixXd& head_velocities) = 0;
};

/// Its stepper implements NonlinearResponse. For up to `max_nonlinear_stages` stages. @note Collective.
std::unique_ptr<ImplicitEnvironmentStepper> make_nonlinear_stages(LineState& line, const PartitionedRungeKutta& scheme,
                                                                  double h);
inline constexpr int max_nonlinear_stages = 3;

}  // namespace bathline
