// Implicit schemes with several stages: Newton on the stage velocities of the particles, the environments eliminated.
//
//   M V_i = p + h sum_j a^_ij F_j,  F_j = -grad V(Q_j) + drag(Q_j, V_j) + sum_e c_e (F_ej - sum_k S_ejk c_e.V_k)
//   Q_j = q + h sum_k a_jk V_k,  q+ = q + h sum_i b_i V_i,  p+ = p + h sum_i b_i F_i
//
// To the particles an environment is a constant force F_ej at every stage and an s x s matrix of dashpots S_e between
// the stages. Source: hairer2006, section II.2; martin2018, section 7 for forces.
#include <cmath>
#include <limits>

#include "advance/implicit_stepper.hpp"

namespace bathline {

namespace {

class CollocationStepper final : public ImplicitStepper {
 public:
  CollocationStepper(const CollocationScheme& scheme, Problem& problem, double h)
      : ImplicitStepper(problem, h),
        scheme_(scheme),
        n_(problem.q.size()),
        all_(n_ * scheme.stages()),
        stage_q_(static_cast<std::size_t>(scheme.stages()), problem.q),
        velocity_(problem.q),
        gradient_(problem.q),
        drag_(problem.q),
        force_(all_) {
    solution_.resize(all_);
    for (const auto& environment : problem.environments()) environment->set_up_stages(scheme, h);
    lay_blocks();
    if (!problem.communicator().is_root()) return;
    newton_ = std::make_unique<ParticleNewton>(
        static_cast<int>(all_),
        [this](const Eigen::VectorXd& velocities, Eigen::VectorXd& residual) {
          evaluate(velocities);
          for (int i = 0; i < scheme_.stages(); ++i) {
            residual.segment(i * n_, n_) = problem_.system().mass.cwiseProduct(velocities.segment(i * n_, n_)) -
                                           problem_.p - h_ * combined(scheme_.a_hat.row(i), force_);
          }
        },
        [this](const Eigen::VectorXd& velocities, Eigen::MatrixXd& jacobian) { linearise(velocities, jacobian); });
  }

 private:
  /// sum_j weights_j values_j of stage values one after the other.
  template <class Weights>
  Eigen::VectorXd combined(const Weights& weights, const Eigen::VectorXd& values) const {
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(n_);
    for (int j = 0; j < scheme_.stages(); ++j) sum += weights[j] * values.segment(j * n_, n_);
    return sum;
  }

  /// Positions and forces of all stages.
  void evaluate(const Eigen::VectorXd& velocities) {
    force_ = constant_;
    force_.noalias() -= response_ * velocities;
    for (int i = 0; i < scheme_.stages(); ++i) {
      Eigen::VectorXd& q = stage_q_[static_cast<std::size_t>(i)];
      q = problem_.q + h_ * combined(scheme_.a.row(i), velocities);
      problem_.system().potential->gradient(q, gradient_);
      force_.segment(i * n_, n_) -= gradient_;
      if (!problem_.is_damped()) continue;
      velocity_ = velocities.segment(i * n_, n_);
      problem_.drag(q, velocity_, drag_);
      force_.segment(i * n_, n_) += drag_;
    }
  }

  /// Derivative of the residual: M - h a^ dF/dV, dF_k/dV_j = h a_kj dF/dq + delta_kj dF/dv - S_kj.
  void linearise(const Eigen::VectorXd& velocities, Eigen::MatrixXd& jacobian) {
    evaluate(velocities);
    Eigen::MatrixXd slopes = -response_;
    for (int k = 0; k < scheme_.stages(); ++k) {
      const Eigen::VectorXd& q = stage_q_[static_cast<std::size_t>(k)];
      problem_.system().potential->hessian(q, hessian_);
      by_q_ = -hessian_;
      if (problem_.is_damped()) {
        velocity_ = velocities.segment(k * n_, n_);
        problem_.drag_slopes(q, velocity_, hessian_, by_v_);
        by_q_ += hessian_;
        slopes.block(k * n_, k * n_, n_, n_) += by_v_;
      }
      for (int j = 0; j < scheme_.stages(); ++j) slopes.block(k * n_, j * n_, n_, n_) += h_ * scheme_.a(k, j) * by_q_;
    }
    for (int i = 0; i < scheme_.stages(); ++i) {
      auto rows = jacobian.middleRows(i * n_, n_);
      rows.setZero();
      rows.middleCols(i * n_, n_).diagonal() = problem_.system().mass;
      for (int k = 0; k < scheme_.stages(); ++k) rows -= h_ * scheme_.a_hat(i, k) * slopes.middleRows(k * n_, n_);
    }
  }

  /// Constant forces and dashpots of all environments.
  std::optional<std::string> eliminate_environments() override {
    const int stages = scheme_.stages(), axes = problem_.system().axes;
    constant_ = Eigen::VectorXd::Zero(all_);
    response_ = Eigen::MatrixXd::Zero(all_, all_);
    Eigen::VectorXd forces(n_);
    Eigen::MatrixXd block(n_, n_);
    for (const auto& environment : problem_.environments()) {
      problem_.head(*environment, problem_.q, head_);
      const std::optional<StageResponse> response = environment->eliminate_stages(head_);
      if (!response) return environment->failure();
      if (!problem_.communicator().is_root()) continue;
      for (int i = 0; i < stages; ++i) {
        forces.setZero();
        for (int axis = 0; axis < axes; ++axis) head_[static_cast<std::size_t>(axis)] = response->constant(i, axis);
        environment->attachment().spread(head_, forces);
        constant_.segment(i * n_, n_) += forces;
        for (int j = 0; j < stages; ++j) {
          block.setZero();
          environment->attachment().add_outer(response->damping(i, j), block);
          response_.block(i * n_, j * n_, n_, n_) += block;
        }
      }
    }
    return std::nullopt;
  }

  ParticleNewton::Report advance_particles() override {
    const int stages = scheme_.stages();
    for (int i = 0; i < stages; ++i) {
      solution_.segment(i * n_, n_) = problem_.p.cwiseQuotient(problem_.system().mass);
    }
    // Round-off in the residual is a few units in the last place of its largest term. A force is known no better than
    // at positions that are wrong in the last place: near an equilibrium that is all that is left of it.
    evaluate(solution_);
    problem_.system().potential->hessian(problem_.q, hessian_);
    const double uncertain = hessian_.cwiseAbs().lazyProduct(problem_.q.cwiseAbs()).norm();
    const double scale =
        std::sqrt(stages) * (problem_.p.norm() + h_ * uncertain) + h_ * (force_.norm() + constant_.norm());
    const ParticleNewton::Report report =
        newton_->solve(solution_, 2.0 * std::numeric_limits<double>::epsilon() * scale);
    if (!report.converged) return report;
    evaluate(solution_);
    for (int i = 0; i < stages && problem_.is_damped(); ++i) {
      velocity_ = solution_.segment(i * n_, n_);
      problem_.drag(stage_q_[static_cast<std::size_t>(i)], velocity_, drag_);
      problem_.dissipated -= h_ * scheme_.b[i] * velocity_.dot(drag_);
    }
    problem_.q += h_ * combined(scheme_.b, solution_);
    problem_.p += h_ * combined(scheme_.b, force_);
    return report;
  }

  void complete_environments() override {
    const int stages = scheme_.stages(), axes = problem_.system().axes;
    for (const auto& environment : problem_.environments()) {
      Eigen::MatrixXd heads(stages, axes);
      for (int i = 0; i < stages; ++i) {
        velocity_ = solution_.segment(i * n_, n_);
        environment->attachment().gather(velocity_, head_);
        for (int axis = 0; axis < axes; ++axis) heads(i, axis) = head_[static_cast<std::size_t>(axis)];
      }
      environment->complete_stages(heads);
    }
  }

  CollocationScheme scheme_;
  Eigen::Index n_;                          // degrees of freedom of the particles
  Eigen::Index all_;                        // n_ times the stages
  std::unique_ptr<ParticleNewton> newton_;  // on rank 0
  std::vector<Eigen::VectorXd> stage_q_;
  Eigen::VectorXd velocity_, gradient_, drag_, force_, constant_;
  Eigen::MatrixXd response_, hessian_, by_q_, by_v_;
};

}  // namespace

std::unique_ptr<Stepper> make_collocation_stepper(const CollocationScheme& scheme, Problem& problem, double h) {
  return std::make_unique<CollocationStepper>(scheme, problem, h);
}

}  // namespace bathline
