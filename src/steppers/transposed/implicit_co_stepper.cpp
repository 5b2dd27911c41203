// Pairs of Runge-Kutta methods: one linear system for the stages of the costates in each step.
//
//   La_i = alpha+ + h sum_k (b_k a_ki/b_i) A_k,     A_i = f_q^T Lb_i + l_q + force of the environments
//   Lb_i = beta+ + h sum_k (b_k a^_ki/b_i) B_k,     M B_i = La_i + f_v^T Lb_i + l_v
//   alpha = alpha+ + h sum b A,  beta = beta+ + h sum b B
//
// with the B_i as unknowns: the environments, under the reversed pair, are eliminated as in any other step. A magnetic
// field, which is weighted with the mean of both matrices in the stages, adds its transpose to M B_i.
// Tested by tests/costates/costates_test.cpp.
#include <Eigen/LU>
#include <algorithm>

#include "model/gyration.hpp"
#include "steppers/transposed/co_stepper.hpp"

namespace bathline {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

class ImplicitCoStepper final : public CoStepper {
 public:
  ImplicitCoStepper(const PartitionedRungeKutta& scheme, const FinishedRun& run, Problem& environments,
                    PathFunctional& functional)
      : b_(scheme.b),
        nodes_(scheme.nodes()),
        problem_(run.problem),
        path_(run.path),
        h_(run.h),
        step_(run.steps),
        n_(run.problem.q.size()),
        stages_(scheme.stages()),
        environments_(environments),
        functional_(functional),
        is_end_free_(run.is_end_free) {
    const auto transposed = [&](const MatrixXd& matrix) {
      return MatrixXd(b_.cwiseInverse().asDiagonal() * matrix.transpose() * b_.asDiagonal());
    };
    a_ = transposed(scheme.a);
    a_hat_ = transposed(scheme.a_hat);
    mean_ = 0.5 * (a_ + a_hat_);
    slopes_.mass = slopes_.origin = VectorXd::Zero(n_);
    const double field = problem_.system().magnetic_field;
    if (field != 0.0) magnetic_ = magnetic_jacobian(field, n_).transpose();
    for (Index i = 0; i < stages_; ++i) forces_.emplace_back(problem_);
    for (Environment* environment : environments.stepped_environments()) {
      steppers_.push_back(environment->implicit_stepper(reversed(scheme), h_));
      block_ = std::min(block_, steppers_.back()->max_block_steps());
      responses_.emplace_back();
      const Attachment& attachment = environment->attachment();
      const MatrixXd none = MatrixXd::Zero(n_, attachment.axes());
      weights_.push_back(none);
      for (const Attachment::Term& term : attachment.terms())
        weights_.back()(term.coordinate, term.axis) += term.weight;
      outer_.push_back(weights_.back() * weights_.back().transpose());
    }
  }

  std::optional<Failure> pull_back(std::int64_t steps, Costate& costate) override {
    const bool is_root = problem_.communicator().is_root();
    for (; steps > 0 && block_ == 0; --steps) {
      --step_;
      if (auto failure = step_together(costate)) return failure;
    }
    while (steps > 0) {
      const int block = static_cast<int>(std::min<std::int64_t>(steps, block_));
      steps -= block;
      for (const auto& stepper : steppers_) stepper->begin_block({.steps = block});
      for (int step = 0; step < block && is_root; ++step) {
        --step_;
        condense(costate);
        step_on_root(costate);
        for (std::size_t e = 0; e < steppers_.size(); ++e) steppers_[e]->back_substitute(velocities_[e]);
      }
      for (const auto& stepper : steppers_) stepper->end_block();
    }
    return std::nullopt;
  }

 private:
  /// A step that needs all ranks.
  std::optional<Failure> step_together(Costate& costate) {
    if (!condense(costate)) return Failure{step_ + 1, 0.0, failure_};
    if (problem_.communicator().is_root()) step_on_root(costate);
    velocities_.resize(steppers_.size());
    for (std::size_t e = 0; e < steppers_.size(); ++e) {
      velocities_[e].resize(stages_, weights_[e].cols());
      problem_.communicator().broadcast(
          std::span<double>(velocities_[e].data(), static_cast<std::size_t>(velocities_[e].size())));
      steppers_[e]->back_substitute(velocities_[e]);
    }
    return std::nullopt;
  }

  bool condense(const Costate& costate) {
    for (std::size_t e = 0; e < steppers_.size(); ++e) {
      VectorXd head = VectorXd::Zero(weights_[e].cols());
      if (costate.beta.size() > 0) head = weights_[e].transpose() * costate.beta;
      if (steppers_[e]->condense({head.data(), static_cast<std::size_t>(head.size())}, responses_[e])) continue;
      failure_ = steppers_[e]->failure();
      return false;
    }
    return true;
  }

  void step_on_root(Costate& costate) {
    const VectorXd& mass = problem_.system().mass;
    const std::size_t first = static_cast<std::size_t>(step_ * stages_) + 1;
    positions_.resize(static_cast<std::size_t>(stages_));
    speeds_.resize(static_cast<std::size_t>(stages_));
    cost_by_v_.setZero(n_, stages_);
    by_b_.resize(n_ * stages_, n_ * stages_);
    constant_.resize(n_, stages_);
    for (Index i = 0; i < stages_; ++i) {
      const auto stage = static_cast<std::size_t>(i);
      positions_[stage] = path_.q(first + stage);
      speeds_[stage] = path_.v(first + stage);
      forces_[stage].evaluate(point(i));
      forces_[stage].by_q(by_q_);
      constant_.col(i).noalias() = by_q_.lazyProduct(costate.beta);
      if (functional_.slopes(point(i), cost_, by_v_)) {
        constant_.col(i) += cost_;
        cost_by_v_.col(i) = by_v_;
      }
      for (std::size_t e = 0; e < steppers_.size(); ++e) {
        constant_.col(i) += weights_[e] * responses_[e].constant.row(stages_ - 1 - i).transpose();
      }
      // A_i = constant_i + sum_k by_b(i, k) B_k
      for (Index k = 0; k < stages_; ++k) {
        auto block = by_b_.block(i * n_, k * n_, n_, n_);
        block = (h_ * a_hat_(i, k)) * by_q_;
        for (std::size_t e = 0; e < steppers_.size(); ++e) {
          block -= responses_[e].damping(stages_ - 1 - i, stages_ - 1 - k) * outer_[e];
        }
      }
    }
    matrix_.setZero(n_ * stages_, n_ * stages_);
    right_.resize(n_ * stages_);
    for (Index i = 0; i < stages_; ++i) {
      const auto velocity = forces_[static_cast<std::size_t>(i)].by_v().transpose();
      auto right = right_.segment(i * n_, n_);
      right = costate.alpha + cost_by_v_.col(i);
      right.noalias() += velocity.lazyProduct(costate.beta);
      if (magnetic_.size() > 0) right += magnetic_ * costate.beta;
      for (Index k = 0; k < stages_; ++k) {
        right += h_ * a_(i, k) * constant_.col(k);
        auto block = matrix_.block(i * n_, k * n_, n_, n_);
        if (i == k) block.diagonal() += mass;
        block -= (h_ * a_hat_(i, k)) * velocity;
        if (magnetic_.size() > 0) block -= (h_ * mean_(i, k)) * magnetic_;
        for (Index j = 0; j < stages_; ++j) {
          if (a_(i, j) != 0.0) block -= (h_ * a_(i, j)) * by_b_.block(j * n_, k * n_, n_, n_);
        }
      }
    }
    if (matrix_.rows() != factored_.rows() || matrix_ != factored_) {
      factored_ = matrix_;
      solver_.compute(matrix_);
    }
    solution_ = solver_.solve(right_);
    right_.noalias() = by_b_.lazyProduct(solution_);
    const Eigen::Map<const MatrixXd> B(solution_.data(), n_, stages_);
    constant_ += Eigen::Map<const MatrixXd>(right_.data(), n_, stages_);
    const MatrixXd& A = constant_;
    for (Index i = stages_; i-- > 0;) {
      const VectorXd& v = speeds_[static_cast<std::size_t>(i)];
      by_force_ = costate.beta;
      by_force_.noalias() += h_ * B.lazyProduct(a_hat_.row(i).transpose());
      slopes_.mass -= h_ * b_[i] * B.col(i).cwiseProduct(v);
      if (is_end_free_) {
        const VectorXd La = costate.alpha + h_ * (A * a_.row(i).transpose());
        slopes_.step += b_[i] * (La.dot(v) + by_force_.dot(forces_of_particles(problem_, point(i))));
        if (magnetic_.size() > 0)
          slopes_.step += b_[i] * v.dot(magnetic_ * (costate.beta + h_ * (B * mean_.row(i).transpose())));
      }
      by_force_ *= h_ * b_[i];
      functional_.collect(point(i), by_force_, h_ * b_[i]);
    }
    costate.alpha.noalias() += h_ * A.lazyProduct(b_);
    costate.beta.noalias() += h_ * B.lazyProduct(b_);
    velocities_.resize(steppers_.size());
    for (std::size_t e = 0; e < steppers_.size(); ++e) {
      velocities_[e] = (B.transpose() * weights_[e]).colwise().reverse();
      const MatrixXd forces = responses_[e].constant - responses_[e].damping * velocities_[e];
      slopes_.origin -= h_ * (weights_[e] * (forces.colwise().reverse().transpose() * b_));
    }
  }

  ForcePoint point(Index stage) const {
    const auto index = static_cast<std::size_t>(stage);
    return {(static_cast<double>(step_) + nodes_[stage]) * h_, positions_[index], speeds_[index]};
  }

  VectorXd b_, nodes_;
  MatrixXd a_, a_hat_, mean_;  // b_k a_ki/b_i, b_k a^_ki/b_i and their mean
  const Problem& problem_;
  const RecordedPath& path_;
  double h_;
  std::int64_t step_;
  Index n_, stages_;
  Problem& environments_;
  PathFunctional& functional_;
  std::vector<TransposedForces> forces_;  // by stage
  MatrixXd magnetic_;                     // (B J)^T, empty without a field
  std::vector<std::unique_ptr<ImplicitEnvironmentStepper>> steppers_;
  std::vector<StageResponse> responses_;
  std::vector<MatrixXd> weights_;     // of the coordinates in the axes of the head
  std::vector<MatrixXd> velocities_;  // of the heads, stages x axes, the last stage first
  int block_ = 64;                    // as in ImplicitStepper
  std::string failure_;
  std::vector<MatrixXd> outer_;               // weights times their transposes
  std::vector<VectorXd> positions_, speeds_;  // of the stages of a step
  bool is_end_free_;
  // Of a step: constant_ and by_b_ of A, which constant_ becomes.
  MatrixXd by_q_, by_b_, constant_, cost_by_v_, matrix_, factored_;
  VectorXd cost_, by_v_, right_, solution_, by_force_;
  Eigen::PartialPivLU<MatrixXd> solver_;
};

}  // namespace

std::unique_ptr<CoStepper> make_implicit_co_stepper(const PartitionedRungeKutta& scheme, const FinishedRun& run,
                                                    Problem& environments, PathFunctional& functional) {
  return std::make_unique<ImplicitCoStepper>(scheme, run, environments, functional);
}

}  // namespace bathline
