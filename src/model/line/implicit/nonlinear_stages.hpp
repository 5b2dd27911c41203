// The stages of an implicit step of a nonlinear line, for a solver that has those of the particles as well.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <vector>

#include "model/environment_stepper.hpp"
#include "model/line/state.hpp"
#include "solve/direct_line_solver.hpp"

namespace bathline {

/// Unknowns are the stage velocities of the sites. Those of a chain, which is one of `chains`, are ordered by row: a
/// site of each of its strands, strand by strand, all stages of a site together. A row has `block` numbers, as has the
/// head, whose numbers are the stage velocities of the axes of the attachment in the same order.
class NonlinearStages {
 public:
  struct Row {
    Eigen::MatrixXd before, diagonal, behind;  ///< block x block, as in block_line_elimination.hpp
  };

  virtual ~NonlinearStages() = default;
  virtual int chains() const = 0;
  virtual int block() const = 0;
  virtual const Layout& layout() const = 0;
  /// The velocities at the start of the step. All pointers are to the numbers of this rank.
  virtual void guess(double* velocities) const = 0;
  /// `head_velocities` is stages x axes, the same on every rank. Keeps what `linearise` needs. @note Collective.
  virtual void evaluate(const Eigen::MatrixXd& head_velocities, const double* velocities, double* residual) = 0;
  /// After `evaluate`, on rank 0: the forces on the heads, and minus their derivatives by the heads' positions at the
  /// same stage; stages x axes.
  virtual const Eigen::MatrixXd& head_forces() const = 0;
  virtual const Eigen::MatrixXd& head_stiffness() const = 0;
  /// The squares of the terms of this rank's residual, summed, after `evaluate`: their round-off is that of the
  /// residual.
  virtual double squared_scale() const = 0;
  /// At the last `evaluate`. @note Collective.
  virtual void linearise() = 0;
  virtual Row row(int chain, std::int64_t site) const = 0;
  /// The halves of the solution, as of BlockLineElimination. @note Collective.
  virtual const HeadRelation& eliminate(int chain, double* values) = 0;
  virtual void substitute(int chain, double* values, const Eigen::VectorXd& head) const = 0;
};

/// Its stepper implements NonlinearStages: it has no response of its own, and completes the step of the last
/// `evaluate`. For up to `max_nonlinear_stages` stages. @note Collective.
std::unique_ptr<ImplicitEnvironmentStepper> make_nonlinear_stages(LineState& line, const PartitionedRungeKutta& scheme,
                                                                  double h);
inline constexpr int max_nonlinear_stages = 3;

}  // namespace bathline
