// Implicit one-stage schemes: Newton on the stage momenta of the particles, the environments eliminated.
//
//   P = p + a h f,  Q = q + b h P/m,  f = -grad V(Q) - C P/m + f(Q, P/m) + sum_e c_e (F_e - S_e c_e.P/m)
//
// To the particles an environment is a constant force F_e and a dashpot S_e for the length of a step.
// Source: farshi2018, eqs. (45) and (52), with the sites of the environment eliminated.
#include <limits>

#include "advance/implicit_stepper.hpp"

namespace bathline {

namespace {

class OneStageStepper final : public ImplicitStepper {
 public:
  OneStageStepper(const OneStageScheme& scheme, Problem& problem, double h)
      : ImplicitStepper(problem, h),
        scheme_(scheme),
        stage_p_(problem.p),
        stage_q_(problem.q),
        force_(problem.q.size()),
        drag_(problem.q.size()) {
    solution_.resize(problem.q.size());
    for (const auto& environment : problem.environments()) environment->set_up_implicit(scheme, h);
    lay_blocks();
    if (!problem.communicator().is_root()) return;
    newton_ = std::make_unique<ParticleNewton>(
        static_cast<int>(problem.q.size()),
        [this](const Eigen::VectorXd& stage_p, Eigen::VectorXd& residual) {
          evaluate(stage_p);
          residual = stage_p - problem_.p - (scheme_.a * h_) * force_;
        },
        [this](const Eigen::VectorXd& stage_p, Eigen::MatrixXd& jacobian) {
          evaluate(stage_p);
          problem_.system().potential->hessian(stage_q_, hessian_);
          slopes_ = damping_;
          if (problem_.system().force) {
            problem_.system().force->slopes(stage_q_, solution_, by_q_, by_v_);
            hessian_ -= by_q_;
            slopes_ -= by_v_;
          }
          jacobian = (scheme_.a * h_) * (scheme_.b * h_ * hessian_ + slopes_) *
                     problem_.system().mass.cwiseInverse().asDiagonal();
          jacobian.diagonal().array() += 1.0;
        });
  }

 private:
  /// Force at the stage with momenta `stage_p`, for the responses of this step.
  void evaluate(const Eigen::VectorXd& stage_p) {
    solution_ = stage_p.cwiseQuotient(problem_.system().mass);
    stage_q_ = problem_.q + (scheme_.b * h_) * solution_;
    problem_.system().potential->gradient(stage_q_, force_);
    force_ = constant_ - force_;
    force_.noalias() -= damping_ * solution_;
    if (!problem_.system().force) return;
    problem_.system().force->value(stage_q_, solution_, drag_);
    force_ += drag_;
  }

  std::optional<std::string> eliminate_environments() override {
    constant_.setZero(problem_.q.size());
    damping_ = problem_.damping();
    for (const auto& environment : problem_.environments()) {
      problem_.head(*environment, problem_.q, head_);
      const std::optional<HeadResponse> response = environment->eliminate(head_);
      if (!response) return environment->failure();
      if (!problem_.communicator().is_root()) continue;
      environment->attachment().spread(response->constant, constant_);
      environment->attachment().add_outer(response->damping, damping_);
    }
    return std::nullopt;
  }

  ParticleNewton::Report advance_particles() override {
    // Round-off in the residual is a few units in the last place of its largest term. A force is known no better than
    // at positions that are wrong in the last place: near an equilibrium that is all that is left of it.
    evaluate(problem_.p);
    stage_p_ = problem_.p;
    problem_.system().potential->hessian(stage_q_, hessian_);
    const double uncertain = hessian_.cwiseAbs().lazyProduct(stage_q_.cwiseAbs()).norm();
    const double scale = problem_.p.norm() + scheme_.a * h_ * (force_.norm() + constant_.norm() + uncertain);
    const ParticleNewton::Report report =
        newton_->solve(stage_p_, 2.0 * std::numeric_limits<double>::epsilon() * scale);
    if (!report.converged) return report;
    evaluate(stage_p_);
    problem_.p = stage_p_ + (scheme_.a_end * h_) * force_;
    problem_.q = stage_q_ + (scheme_.b_end * h_) * solution_;
    if (problem_.is_damped()) {
      problem_.drag(stage_q_, solution_, drag_);
      problem_.dissipated -= h_ * solution_.dot(drag_);
    }
    return report;
  }

  void complete_environments() override {
    for (const auto& environment : problem_.environments()) {
      environment->attachment().gather(solution_, head_);
      environment->complete(head_);
    }
  }

  OneStageScheme scheme_;
  std::unique_ptr<ParticleNewton> newton_;  // on rank 0
  Eigen::VectorXd stage_p_, stage_q_, force_, drag_, constant_;
  Eigen::MatrixXd damping_, slopes_, hessian_, by_q_, by_v_;
};

}  // namespace

std::unique_ptr<Stepper> make_one_stage_stepper(const OneStageScheme& scheme, Problem& problem, double h) {
  return std::make_unique<OneStageStepper>(scheme, problem, h);
}

}  // namespace bathline
