// Implicit schemes: Newton on the stage momenta of the particles, the environments eliminated.
//
//   P_i = p + h sum_j a^_ij F_j,  F_j = -grad V(Q_j) + drag(Q_j, V_j) + applied(Q_j, V_j, t_j)
//                                       + sum_e c_e (F_ej - sum_k S_ejk c_e.V_k),  t_j = t + h sum_k a_jk
//   V = M^-1 P,  Q_j = q + h sum_k a_jk V_k,  q+ = q + h sum_i b_i V_i,  p+ = p + h sum_i b_i F_i
//
// To the particles an environment is a constant force F_ej at every stage and an s x s matrix of dashpots S_e between
// the stages. Where all environments allow it rank 0 goes through blocks of steps on its own, and no message is sent
// but between blocks; elsewhere every step needs all ranks.
// Source: hairer2006, section II.2; martin2018, section 7 for forces; farshi2018, eqs. (45) and (52) with one stage.
#include <algorithm>
#include <cmath>
#include <limits>

#include "advance/newton_failure.hpp"
#include "advance/stepper.hpp"
#include "solve/particle_newton.hpp"

namespace bathline {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

class ImplicitStepper final : public Stepper {
 public:
  ImplicitStepper(const CollocationScheme& scheme, Problem& problem, double h);

  std::optional<Failure> advance(std::int64_t steps, const Foresight& ahead) override;
  std::int64_t portion() const override { return problem_.environments().empty() ? 1 : std::max(block_, 1); }
  std::vector<double> memory() const override { return memory_of(marches_); }
  void remember(std::span<const double> memory) override { hand_out_memory(memory, marches_); }

 private:
  std::optional<Failure> step();
  std::optional<Failure> advance_block(const BlockPlan& plan);
  /// Takes what the environments are to the particles in this step. Says why where a linear solver failed.
  /// @note Collective outside of blocks.
  std::optional<std::string> eliminate_environments();
  /// The particles' step, on rank 0; leaves in `velocities_` what the environments need to know of it.
  ParticleNewton::Report advance_particles();
  /// Ends the environments' step with `velocities_`, the same on every rank. @note Collective outside of blocks.
  void complete_environments();
  /// sum_j weights_j values_j of stage values one after the other.
  template <class Weights>
  VectorXd combined(const Weights& weights, const VectorXd& values) const;
  /// Velocities, positions and forces of all stages, by the momenta.
  void evaluate(const VectorXd& momenta);
  /// Derivative of the residual P - p - h a^ F.
  void linearise(const VectorXd& momenta, MatrixXd& jacobian);

  CollocationScheme scheme_;
  Problem& problem_;
  double h_;
  Index n_;    // degrees of freedom of the particles
  Index all_;  // n_ times the stages
  VectorXd nodes_;
  std::vector<std::unique_ptr<ImplicitMarch>> marches_;
  std::unique_ptr<ParticleNewton> newton_;  // on rank 0
  int block_ = 64;                          // steps of a block, 0 where every step needs all ranks
  std::vector<VectorXd> stage_q_;
  VectorXd momenta_, velocities_, message_, velocity_, gradient_, drag_, force_, constant_;
  MatrixXd response_, hessian_, by_q_, by_v_, heads_;
  StageResponse of_environment_;
  std::vector<double> head_;
};

ImplicitStepper::ImplicitStepper(const CollocationScheme& scheme, Problem& problem, double h)
    : scheme_(scheme),
      problem_(problem),
      h_(h),
      n_(problem.q.size()),
      all_(n_ * scheme.stages()),
      nodes_(scheme.nodes()),
      stage_q_(static_cast<std::size_t>(scheme.stages()), problem.q),
      momenta_(all_),
      velocities_(all_),
      velocity_(problem.q),
      gradient_(problem.q),
      drag_(problem.q),
      force_(all_),
      head_(static_cast<std::size_t>(problem.system().axes)) {
  problem.clock.h = h;
  for (const auto& environment : problem.environments()) {
    marches_.push_back(environment->implicit_march(scheme, h));
    block_ = std::min(block_, marches_.back()->limit());
  }
  if (!problem.communicator().is_root()) return;
  newton_ = std::make_unique<ParticleNewton>(
      static_cast<int>(all_),
      [this](const VectorXd& momenta, VectorXd& residual) {
        evaluate(momenta);
        for (int i = 0; i < scheme_.stages(); ++i) {
          residual.segment(i * n_, n_) =
              momenta.segment(i * n_, n_) - problem_.p - h_ * combined(scheme_.a_hat.row(i), force_);
        }
      },
      [this](const VectorXd& momenta, MatrixXd& jacobian) { linearise(momenta, jacobian); });
}

std::optional<Failure> ImplicitStepper::advance(std::int64_t steps, const Foresight& ahead) {
  while (steps > 0) {
    const auto block = static_cast<int>(std::min<std::int64_t>(steps, std::max(block_, 1)));
    steps -= block;
    if (std::optional<Failure> failure = block_ > 0 ? advance_block(ahead.plan(block, steps)) : step()) return failure;
  }
  return std::nullopt;
}

std::optional<Failure> ImplicitStepper::step() {
  if (std::optional<std::string> reason = eliminate_environments())
    return Failure{problem_.clock.steps + 1, 0.0, *reason};
  ParticleNewton::Report report;
  if (problem_.communicator().is_root()) report = advance_particles();
  // One message says whether it went well and how the heads move.
  message_.resize(all_ + 1);
  message_ << velocities_, report.converged ? 1.0 : 0.0;
  problem_.communicator().broadcast(std::span<double>(message_.data(), static_cast<std::size_t>(message_.size())));
  velocities_ = message_.head(all_);
  if (message_[all_] == 0.0) return newton_failure(problem_.communicator(), problem_.clock.steps + 1, report);
  complete_environments();
  ++problem_.clock.steps;
  return std::nullopt;
}

std::optional<Failure> ImplicitStepper::advance_block(const BlockPlan& plan) {
  for (const auto& march : marches_) march->open(plan);
  ParticleNewton::Report report;
  report.converged = true;
  const bool is_root = problem_.communicator().is_root();
  for (int step = 0; step < plan.steps && is_root; ++step) {
    eliminate_environments();
    report = advance_particles();
    if (!report.converged) break;
    complete_environments();
    ++problem_.clock.steps;
  }
  if (!problem_.communicator().broadcast(report.converged)) {
    return newton_failure(problem_.communicator(), problem_.clock.steps + 1, report);
  }
  if (!is_root) problem_.clock.steps += plan.steps;
  for (const auto& march : marches_) march->close();
  return std::nullopt;
}

std::optional<std::string> ImplicitStepper::eliminate_environments() {
  const int stages = scheme_.stages(), axes = problem_.system().axes;
  constant_.setZero(all_);
  response_.setZero(all_, all_);
  for (std::size_t e = 0; e < marches_.size(); ++e) {
    const Environment& environment = *problem_.environments()[e];
    problem_.head(environment, problem_.q, head_);
    if (!marches_[e]->respond(head_, of_environment_)) return marches_[e]->failure();
    if (!problem_.communicator().is_root()) continue;
    for (int i = 0; i < stages; ++i) {
      for (int axis = 0; axis < axes; ++axis) head_[static_cast<std::size_t>(axis)] = of_environment_.constant(i, axis);
      environment.attachment().spread(head_, constant_.segment(i * n_, n_));
      for (int j = 0; j < stages; ++j) {
        environment.attachment().add_outer(of_environment_.damping(i, j), response_.block(i * n_, j * n_, n_, n_));
      }
    }
  }
  return std::nullopt;
}

template <class Weights>
VectorXd ImplicitStepper::combined(const Weights& weights, const VectorXd& values) const {
  VectorXd sum = VectorXd::Zero(n_);
  for (int j = 0; j < scheme_.stages(); ++j) sum += weights[j] * values.segment(j * n_, n_);
  return sum;
}

void ImplicitStepper::evaluate(const VectorXd& momenta) {
  const int stages = scheme_.stages();
  for (int i = 0; i < stages; ++i) {
    velocities_.segment(i * n_, n_) = momenta.segment(i * n_, n_).cwiseQuotient(problem_.system().mass);
  }
  force_ = constant_;
  force_.noalias() -= response_ * velocities_;
  for (int i = 0; i < stages; ++i) {
    VectorXd& q = stage_q_[static_cast<std::size_t>(i)];
    q = problem_.q + h_ * combined(scheme_.a.row(i), velocities_);
    problem_.system().potential->gradient(q, gradient_);
    force_.segment(i * n_, n_) -= gradient_;
    velocity_ = velocities_.segment(i * n_, n_);
    if (problem_.is_damped()) {
      problem_.drag(q, velocity_, drag_);
      force_.segment(i * n_, n_) += drag_;
    }
    if (problem_.system().is_driven()) {
      problem_.applied(q, velocity_, problem_.clock.at(nodes_[i]), drag_);
      force_.segment(i * n_, n_) += drag_;
    }
  }
}

/// 1 - h a^ dF/dV M^-1, dF_k/dV_j = h a_kj dF/dq + delta_kj dF/dv - S_kj.
void ImplicitStepper::linearise(const VectorXd& momenta, MatrixXd& jacobian) {
  evaluate(momenta);
  const int stages = scheme_.stages();
  MatrixXd slopes = -response_;
  for (int k = 0; k < stages; ++k) {
    const VectorXd& q = stage_q_[static_cast<std::size_t>(k)];
    problem_.system().potential->hessian(q, hessian_);
    by_q_ = -hessian_;
    if (problem_.is_damped() || problem_.system().applied) {
      velocity_ = velocities_.segment(k * n_, n_);
      problem_.slopes(q, velocity_, problem_.clock.at(nodes_[k]), hessian_, by_v_);
      by_q_ += hessian_;
      slopes.block(k * n_, k * n_, n_, n_) += by_v_;
    }
    for (int j = 0; j < stages; ++j) slopes.block(k * n_, j * n_, n_, n_) += h_ * scheme_.a(k, j) * by_q_;
  }
  const VectorXd inverse_mass = problem_.system().mass.cwiseInverse();
  for (int i = 0; i < stages; ++i) {
    auto rows = jacobian.middleRows(i * n_, n_);
    rows.setZero();
    for (int k = 0; k < stages; ++k) rows -= h_ * scheme_.a_hat(i, k) * slopes.middleRows(k * n_, n_);
    for (int j = 0; j < stages; ++j) rows.middleCols(j * n_, n_) *= inverse_mass.asDiagonal();
  }
  jacobian.diagonal().array() += 1.0;
}

ParticleNewton::Report ImplicitStepper::advance_particles() {
  const int stages = scheme_.stages();
  for (int i = 0; i < stages; ++i) momenta_.segment(i * n_, n_) = problem_.p;
  // Round-off in the residual is a few units in the last place of its largest term. A force is known no better than
  // at positions that are wrong in the last place: near an equilibrium that is all that is left of it.
  evaluate(momenta_);
  problem_.system().potential->hessian(problem_.q, hessian_);
  const double uncertain = hessian_.cwiseAbs().lazyProduct(problem_.q.cwiseAbs()).norm();
  const double longest = h_ * scheme_.a_hat.cwiseAbs().rowwise().sum().maxCoeff();
  const double scale =
      std::sqrt(stages) * (problem_.p.norm() + longest * uncertain) + longest * (force_.norm() + constant_.norm());
  const ParticleNewton::Report report = newton_->solve(momenta_, 2.0 * std::numeric_limits<double>::epsilon() * scale);
  if (!report.converged) return report;
  evaluate(momenta_);
  for (int i = 0; i < stages; ++i) {
    const VectorXd& q = stage_q_[static_cast<std::size_t>(i)];
    velocity_ = velocities_.segment(i * n_, n_);
    if (problem_.is_damped()) {
      problem_.drag(q, velocity_, drag_);
      problem_.dissipated -= h_ * scheme_.b[i] * velocity_.dot(drag_);
    }
    if (problem_.system().is_driven()) {
      problem_.applied(q, velocity_, problem_.clock.at(nodes_[i]), drag_);
      problem_.work += h_ * scheme_.b[i] * velocity_.dot(drag_);
    }
  }
  problem_.q += h_ * combined(scheme_.b, velocities_);
  problem_.p += h_ * combined(scheme_.b, force_);
  return report;
}

void ImplicitStepper::complete_environments() {
  const int stages = scheme_.stages(), axes = problem_.system().axes;
  heads_.resize(stages, axes);
  for (std::size_t e = 0; e < marches_.size(); ++e) {
    for (int i = 0; i < stages; ++i) {
      velocity_ = velocities_.segment(i * n_, n_);
      problem_.environments()[e]->attachment().gather(velocity_, head_);
      for (int axis = 0; axis < axes; ++axis) heads_(i, axis) = head_[static_cast<std::size_t>(axis)];
    }
    marches_[e]->complete(heads_);
  }
}

}  // namespace

std::unique_ptr<Stepper> make_implicit_stepper(const CollocationScheme& scheme, Problem& problem, double h) {
  return std::make_unique<ImplicitStepper>(scheme, problem, h);
}

}  // namespace bathline
