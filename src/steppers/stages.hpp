// The stages of the particles in an implicit step, solved by Newton's method.
//
//   P_i = p + h sum_j a^_ij F_j,  P = dL/dv,  F = dL/dq + forces,  both at Q_i = q + h sum_j a_ij V_j, V_i
//   q+ = q + h sum_i b_i V_i,  p+ = p + h sum_i b_i F_i
//
// Unknowns are the stage velocities V: as h goes to zero the matrix of Newton's method goes to that of the masses,
// whatever the scheme. Source: hairer2006, section II.2; martin2018, section 7 for forces.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "methods/scheme.hpp"
#include "model/problem.hpp"
#include "solve/banded_lu.hpp"
#include "solve/snes_solver.hpp"
#include "steppers/contact_stages.hpp"
#include "steppers/forces.hpp"

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

/// The friction that stages apply as forces. Other steppers do the rest: the exact flow of all of it beside the stages,
/// or heads of nonlinear couplings, where a damper is a line on its characteristic grid.
FrictionParts friction_in_stages(const PartitionedRungeKutta& scheme);

/// Advances the particles of a problem; exists on rank 0. Masses and potential of a system are a part of its
/// Lagrangian, v M v / 2 - V, to which a Lagrangian of another form is added. Where that depends on the action there
/// are no masses beside it, and the stages have actions and factors as well.
class StageSolver {
 public:
  /// `problem` must outlive it. Newton's method is PETSc's where options of PETSc mention it (`-snes_...`,
  /// `-particles_...`).
  StageSolver(const PartitionedRungeKutta& scheme, Problem& problem, double h);

  /// The first half of a step, which changes nothing in the problem: the stage velocities, in `velocities` where there
  /// are environments.
  SnesSolver::Report solve(const StageForces& environment_forces, Eigen::VectorXd& velocities);
  /// Completes the step of the last `solve`, where `report` says that it found the solution: advances q, p and the
  /// ledger. A step that is rejected changes the report.
  void finish(SnesSolver::Report& report);
  /// Both. The problem is unchanged where Newton's method fails.
  SnesSolver::Report step(const StageForces& environment_forces, Eigen::VectorXd& velocities) {
    SnesSolver::Report report = solve(environment_forces, velocities);
    finish(report);
    return report;
  }

 private:
  /// A nonlinear coupling at the positions of the stages.
  struct CouplingState {
    Eigen::MatrixXd x;         // of the head from the start of the step, stages x axes
    Eigen::MatrixXd gradient;  // ds/dq, a column for each axis of each stage
    Eigen::MatrixXd forces;    // on the head, stages x axes
  };
  using Values = Eigen::VectorXd;  // a number for each coordinate at each stage, stage by stage
  using Stages = Eigen::Map<Eigen::MatrixXd>;

  double time(int stage) const { return problem_.clock.at(nodes_[stage]); }
  double action(int stage) const { return contact_stages_ ? contact_stages_->z(stage) : 0.0; }
  Moment moment(int stage) const { return {time(stage), q_.data() + stage * n_, x_.data() + stage * n_}; }
  Stages by_stage(Values& values) const { return {values.data(), n_, s_}; }
  /// The sum over the stages with the weights h b; valid until the next call.
  const Eigen::VectorXd& weighted(const Values& values);
  /// The row of the matrix that belongs to a coordinate at a stage, and entries by these.
  int row(int stage, int coordinate) const { return order_[static_cast<std::size_t>(coordinate)] + stage * step_; }
  double& entry(int i, int r, int j, int c) { return lu_.at(row(i, r), row(j, c)); }
  void choose_order();
  void guess();

  // The equations at x_.
  void evaluate();
  void evaluate_with_norm() {
    evaluate();
    residual_norm_ = residual_.norm();
  }
  /// Sets `point_` to q, v, t and z of a stage.
  void set_point(int stage);
  void add_lagrangian(int stage);
  void add_couplings();
  /// Sets `lu_` to the matrix at the last point evaluated.
  void assemble();
  void add_slopes(int stage);
  void add_lagrangian_slopes(int stage);
  /// Subtracts the derivative of the forces of nonlinear couplings by the stage velocities.
  void add_coupling_damping(Eigen::MatrixXd& damping);
  /// Whether the matrix, before it is factored, differs from that of the masses by a tenth at most: round-off in the
  /// velocities then changes the impulse of the forces by less than the round-off of the momenta.
  bool is_mass_dominated() const;
  /// The round-off of the residual.
  double residual_tolerance() const;
  /// Of the residual, by the factors; NaN where the matrix is singular.
  void find_correction();

  // Solvers of the equations. They begin at x_ and leave the solution there, which differs from the last point
  // evaluated by round-off. The first two return false, with x_ unchanged, where they find none.
  bool iterate_with_masses(SnesSolver::Report& report);
  bool solve_linear(SnesSolver::Report& report);
  void solve_by_newton(SnesSolver::Report& report);
  void solve_by_petsc(SnesSolver::Report& report);
  bool search_line(double tolerance);

  void add_work();
  void add_coupling_work();
  /// Returns at which stage L is degenerate, if at any.
  std::optional<std::string> degenerate_stage();

  Problem& problem_;
  Forces forces_;
  const Lagrangian* lagrangian_;                 // of another form, if there is one
  std::optional<ContactStages> contact_stages_;  // where that depends on the action
  int n_, s_, size_;                             // coordinates, stages, and n s
  double h_;
  std::vector<double> a_, a_hat_, mean_;  // times h, row by row; mean_: of a and a_hat
  Eigen::VectorXd b_, nodes_;             // b_: times h
  std::vector<char> is_at_start_;         // by stage: whether its positions are those at the start of the step
  Eigen::VectorXd row_sums_;              // of h a_hat
  double max_row_sum_;                    // of |h a_hat|
  double field_;                          // magnetic, kg/s
  bool is_linear_;          // whether the matrix is the same in all steps with the same response of the environments
  WhiteNoise* noise_;       // gives a force that is constant during a step; nullptr where there is none
  Eigen::VectorXd random_;  // that force

  const StageForces* environment_forces_ = nullptr;  // of the step; nullptr where there are none
  std::vector<CouplingState> couplings_;             // of its nonlinear couplings
  Eigen::VectorXd x_, residual_, correction_, start_;
  Values masses_, inverse_masses_, q_, momentum_, force_, drag_, applied_, magnetic_;
  Eigen::VectorXd sum_, scratch_;
  bool has_start_force_ = false;  // whether `start_force_` is that of the potential at the start of the step
  Eigen::VectorXd start_force_, dl_dt_;

  std::vector<int> order_;  // of a coordinate at the first stage, the row of the matrix
  int step_;                // from there to the row of the next stage
  BandedLu lu_;
  std::vector<Entry> by_q_, by_v_;
  // The changes of forces and momenta, to first order, for a relative change of one in all positions and velocities.
  double force_change_ = 0.0, momentum_change_ = 0.0;
  Eigen::MatrixXd environment_damping_;  // to which the factors of linear equations belong
  bool has_factors_ = false, is_mass_dominated_ = false;
  double residual_norm_ = 0.0;
  std::unique_ptr<SnesSolver> petsc_;
  // Arguments and results of other classes.
  Eigen::VectorXd position_, velocity_, point_, gradient_;
  Eigen::MatrixXd lagrangian_hessian_;
  std::vector<double> head_;
};

}  // namespace bathline
