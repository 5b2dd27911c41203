// Implicit one-stage schemes: Newton on the stage momenta of the particles, the environments eliminated.
//
//   P = p + a h f,  Q = q + b h P/m,  f = -grad V(Q) - C P/m + f(Q, P/m) + sum_e c_e (F_e - S_e c_e.P/m)
//
// To the particles an environment is a constant force F_e and a dashpot S_e for the length of a step. Where all
// environments allow it rank 0 goes through blocks of steps on its own, and no message is sent but between blocks.
// Source: farshi2018, eqs. (45) and (52), with the sites of the environment eliminated.
#include <algorithm>
#include <limits>

#include "advance/newton_failure.hpp"
#include "advance/stepper.hpp"
#include "solve/particle_newton.hpp"

namespace bathline {

namespace {

class OneStageStepper final : public Stepper {
 public:
  OneStageStepper(const OneStageScheme& scheme, Problem& problem, double h)
      : scheme_(scheme),
        problem_(problem),
        h_(h),
        stage_p_(problem.p),
        stage_q_(problem.q),
        force_(problem.q.size()),
        velocity_(problem.q.size()),
        drag_(problem.q.size()),
        message_(problem.q.size() + 1) {
    for (const auto& environment : problem.environments()) {
      environment->set_up_implicit(scheme, h);
      block_ = std::min(block_, environment->implicit_block_limit());
    }
    head_.resize(static_cast<std::size_t>(problem.system().axes));
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
            problem_.system().force->slopes(stage_q_, velocity_, by_q_, by_v_);
            hessian_ -= by_q_;
            slopes_ -= by_v_;
          }
          jacobian = (scheme_.a * h_) * (scheme_.b * h_ * hessian_ + slopes_) *
                     problem_.system().mass.cwiseInverse().asDiagonal();
          jacobian.diagonal().array() += 1.0;
        });
  }

  std::optional<Failure> advance(std::int64_t steps) override {
    while (steps > 0) {
      const auto block = static_cast<int>(std::min<std::int64_t>(steps, std::max(block_, 1)));
      if (std::optional<Failure> failure = block_ > 0 ? advance_block(block) : step()) return failure;
      done_ += block;
      steps -= block;
    }
    return std::nullopt;
  }

  std::int64_t portion() const override { return problem_.environments().empty() ? 1 : std::max(block_, 1); }

 private:
  /// Force at the stage with momenta `stage_p`, for the responses of this step.
  void evaluate(const Eigen::VectorXd& stage_p) {
    velocity_ = stage_p.cwiseQuotient(problem_.system().mass);
    stage_q_ = problem_.q + (scheme_.b * h_) * velocity_;
    problem_.system().potential->gradient(stage_q_, force_);
    force_ = constant_ - force_;
    force_.noalias() -= damping_ * velocity_;
    if (!problem_.system().force) return;
    problem_.system().force->value(stage_q_, velocity_, drag_);
    force_ += drag_;
  }

  /// Takes what the environments are to the particles in this step. Says why where a linear solver failed.
  std::optional<std::string> eliminate_environments() {
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

  /// The particles' step, on rank 0.
  ParticleNewton::Report advance_particles() {
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
    problem_.q = stage_q_ + (scheme_.b_end * h_) * velocity_;
    if (problem_.is_damped()) {
      problem_.drag(stage_q_, velocity_, drag_);
      problem_.dissipated -= h_ * velocity_.dot(drag_);
    }
    return report;
  }

  void complete_environments() {
    for (const auto& environment : problem_.environments()) {
      environment->attachment().gather(velocity_, head_);
      environment->complete(head_);
    }
  }

  std::optional<Failure> step() {
    if (std::optional<std::string> reason = eliminate_environments()) return Failure{done_ + 1, 0.0, *reason};
    ParticleNewton::Report report;
    if (problem_.communicator().is_root()) report = advance_particles();
    // One message says whether it went well and how the heads move.
    message_ << velocity_, report.converged ? 1.0 : 0.0;
    problem_.communicator().broadcast(std::span<double>(message_.data(), static_cast<std::size_t>(message_.size())));
    velocity_ = message_.head(velocity_.size());
    if (message_[velocity_.size()] == 0.0) return newton_failure(problem_.communicator(), done_ + 1, report);
    complete_environments();
    return std::nullopt;
  }

  std::optional<Failure> advance_block(int steps) {
    for (const auto& environment : problem_.environments()) environment->open_implicit_block(steps);
    ParticleNewton::Report report;
    report.converged = true;
    int done = 0;
    if (problem_.communicator().is_root()) {
      for (; done < steps; ++done) {
        eliminate_environments();
        report = advance_particles();
        if (!report.converged) break;
        complete_environments();
      }
    }
    if (!problem_.communicator().broadcast(report.converged)) {
      return newton_failure(problem_.communicator(), done_ + done + 1, report);
    }
    for (const auto& environment : problem_.environments()) environment->close_implicit_block();
    return std::nullopt;
  }

  OneStageScheme scheme_;
  Problem& problem_;
  double h_;
  std::int64_t done_ = 0;
  int block_ = 64;                          // steps of a block, 0 where every step needs all ranks
  std::unique_ptr<ParticleNewton> newton_;  // on rank 0
  Eigen::VectorXd stage_p_, stage_q_, force_, velocity_, drag_, constant_, message_;
  Eigen::MatrixXd damping_, slopes_, hessian_, by_q_, by_v_;
  std::vector<double> head_;
};

}  // namespace

std::unique_ptr<Stepper> make_one_stage_stepper(const OneStageScheme& scheme, Problem& problem, double h) {
  return std::make_unique<OneStageStepper>(scheme, problem, h);
}

}  // namespace bathline
