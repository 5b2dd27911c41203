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

/// A matrix on the stack if its maximal size is known at compile time. Eigen requires row vectors to be row-major.
template <int Rows, int Columns, int MaxRows, int MaxColumns>
using BoundedMatrix =
    Eigen::Matrix<double, Rows, Columns, MaxRows == 1 && MaxColumns != 1 ? Eigen::RowMajor : Eigen::ColMajor, MaxRows,
                  MaxColumns>;

/// Of N degrees of freedom and S stages; where both are Dynamic, at most MaxN and MaxS of them, or any number.
template <int N, int S, int MaxN = N, int MaxS = S>
class ImplicitCoStepper final : public CoStepper {
  static constexpr int dynamic = Eigen::Dynamic;
  static constexpr int size = N == dynamic ? dynamic : N * S, max_size = MaxN == dynamic ? dynamic : MaxN * MaxS;
  using Vector = BoundedMatrix<N, 1, MaxN, 1>;
  using Square = BoundedMatrix<N, N, MaxN, MaxN>;
  using Stages = BoundedMatrix<N, S, MaxN, MaxS>;  // a column for each stage
  using Unknowns = BoundedMatrix<size, 1, max_size, 1>;
  using System = BoundedMatrix<size, size, max_size, max_size>;

 public:
  ImplicitCoStepper(const PartitionedRungeKutta& scheme, const FinishedRun& run, Problem& environments,
                    PathFunctional& functional)
      : b_(scheme.b),
        problem_(run.problem),
        h_(run.h),
        step_(run.steps),
        n_(run.problem.q.size()),
        stages_(scheme.stages()),
        mass_(run.problem.system().mass),
        functional_(functional),
        points_(run),
        forces_(run.problem),
        is_end_free_(run.is_end_free),
        factored_(System::Zero(n_ * stages_, n_ * stages_)) {
    const auto transposed = [&](const MatrixXd& matrix) {
      return MatrixXd(b_.cwiseInverse().asDiagonal() * matrix.transpose() * b_.asDiagonal());
    };
    a_ = transposed(scheme.a);
    a_hat_ = transposed(scheme.a_hat);
    mean_ = 0.5 * (a_ + a_hat_);
    slopes_.mass = slopes_.origin = VectorXd::Zero(n_);
    const double field = problem_.system().magnetic_field;
    if (field != 0.0) magnetic_ = magnetic_jacobian(field, n_).transpose();
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
    velocities_.resize(steppers_.size());
  }

  std::optional<Failure> pull_back(std::int64_t steps, Costate& costate) override {
    const bool is_root = problem_.communicator().is_root();
    for (; steps > 0 && block_ == 0; --steps) {
      if (auto failure = step_together(costate)) return failure;
    }
    while (steps > 0) {
      const int block = static_cast<int>(std::min<std::int64_t>(steps, block_));
      steps -= block;
      for (const auto& stepper : steppers_) stepper->begin_block({.steps = block});
      for (std::int64_t left = is_root ? block : 0; left > 0;) {
        const std::int64_t count = std::min(left, points_.steps_at_once());
        begin(count);
        for (std::int64_t step = count; step-- > 0;) {
          if (!steppers_.empty()) condense(costate);
          step_on_root(costate, step * stages_);
          for (std::size_t e = 0; e < steppers_.size(); ++e) steppers_[e]->back_substitute(velocities_[e]);
        }
        functional_.collect(*here_, by_force_);
        left -= count;
      }
      for (const auto& stepper : steppers_) stepper->end_block();
    }
    return std::nullopt;
  }

 private:
  /// A step that needs all ranks.
  std::optional<Failure> step_together(Costate& costate) {
    if (!condense(costate)) return Failure{step_, 0.0, failure_};
    if (problem_.communicator().is_root()) {
      begin(1);
      step_on_root(costate, 0);
      functional_.collect(*here_, by_force_);
    } else {
      --step_;
    }
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

  /// Evaluates the forces of the next steps.
  void begin(std::int64_t steps) {
    step_ -= steps;
    here_ = &points_.of_steps(step_, steps);
    forces_.begin(*here_);
    has_cost_ = functional_.slopes(*here_, cost_by_q_, cost_by_v_);
    by_force_.resize(n_, here_->q.cols());
  }

  /// A step whose first stage is this column of the points.
  void step_on_root(Costate& costate, Index first) {
    Eigen::Map<Vector> alpha(costate.alpha.data(), n_), beta(costate.beta.data(), n_);
    by_b_.resize(n_ * stages_, n_ * stages_);
    constant_.resize(n_, stages_);
    matrix_.setZero(n_ * stages_, n_ * stages_);
    right_.resize(n_ * stages_);
    for (Index i = 0; i < stages_; ++i) {
      forces_.go_to(first + i);
      const auto by_q = forces_.template by_q<Square>();
      const auto by_v = forces_.template by_v<Square>();
      auto right = right_.template segment<N>(i * n_, n_);
      right = alpha;
      right.noalias() += by_v.lazyProduct(beta);
      if (magnetic_.size() > 0) right += magnetic_ * beta;
      constant_.col(i).noalias() = by_q.lazyProduct(beta);
      if (has_cost_) {
        right += cost_by_v_.col(first + i);
        constant_.col(i) += cost_by_q_.col(first + i);
      }
      for (std::size_t e = 0; e < steppers_.size(); ++e) {
        constant_.col(i) += weights_[e] * responses_[e].constant.row(stages_ - 1 - i).transpose();
      }
      // A_i = constant_i + sum_k by_b(i, k) B_k
      for (Index k = 0; k < stages_; ++k) {
        auto force = block(by_b_, i, k);
        force = (h_ * a_hat_(i, k)) * by_q;
        for (std::size_t e = 0; e < steppers_.size(); ++e) {
          force -= responses_[e].damping(stages_ - 1 - i, stages_ - 1 - k) * outer_[e];
        }
        auto motion = block(matrix_, i, k);
        if (i == k) motion.diagonal() += mass_;
        motion -= (h_ * a_hat_(i, k)) * by_v;
        if (magnetic_.size() > 0) motion -= (h_ * mean_(i, k)) * magnetic_;
      }
    }
    for (Index i = 0; i < stages_; ++i) {
      for (Index j = 0; j < stages_; ++j) {
        if (a_(i, j) == 0.0) continue;
        right_.template segment<N>(i * n_, n_) += h_ * a_(i, j) * constant_.col(j);
        for (Index k = 0; k < stages_; ++k) block(matrix_, i, k) -= (h_ * a_(i, j)) * block(by_b_, j, k);
      }
    }
    if (matrix_ != factored_) {
      factored_ = matrix_;
      solver_.compute(matrix_);
    }
    solution_ = solver_.solve(right_);
    right_.noalias() = by_b_.lazyProduct(solution_);
    const Eigen::Map<const Stages> B(solution_.data(), n_, stages_);
    constant_ += Eigen::Map<const Stages>(right_.data(), n_, stages_);
    const Stages& A = constant_;
    Eigen::Map<Vector> mass_slopes(slopes_.mass.data(), n_);
    for (Index i = 0; i < stages_; ++i) {
      const auto v = here_->v.col(first + i);
      Eigen::Map<Vector> by_force(by_force_.data() + (first + i) * n_, n_);
      by_force = beta;
      for (Index k = 0; k < stages_; ++k) by_force += (h_ * a_hat_(i, k)) * B.col(k);
      mass_slopes -= (h_ * b_[i]) * B.col(i).cwiseProduct(v);
      if (is_end_free_) {
        const VectorXd La = alpha + h_ * (A * a_.row(i).transpose());
        slopes_.step += b_[i] * (La.dot(v) + by_force.dot(force_of_particles_.at(problem_, *here_, first + i)));
        if (magnetic_.size() > 0)
          slopes_.step += b_[i] * v.dot(magnetic_ * (beta + h_ * (B * mean_.row(i).transpose())));
      }
      by_force *= h_ * b_[i];
    }
    for (Index i = 0; i < stages_; ++i) {
      alpha += (h_ * b_[i]) * A.col(i);
      beta += (h_ * b_[i]) * B.col(i);
    }
    for (std::size_t e = 0; e < steppers_.size(); ++e) {
      velocities_[e] = (B.transpose() * weights_[e]).colwise().reverse();
      const MatrixXd forces = responses_[e].constant - responses_[e].damping * velocities_[e];
      slopes_.origin -= h_ * (weights_[e] * (forces.colwise().reverse().transpose() * b_));
    }
  }

  /// That of two stages.
  auto block(System& matrix, Index i, Index k) const { return matrix.template block<N, N>(i * n_, k * n_, n_, n_); }

  VectorXd b_;
  MatrixXd a_, a_hat_, mean_;  // b_k a_ki/b_i, b_k a^_ki/b_i and their mean
  const Problem& problem_;
  double h_;
  std::int64_t step_;
  Index n_, stages_;
  Vector mass_;
  PathFunctional& functional_;
  PathPoints points_;
  const ForcePoints* here_ = nullptr;  // those of the current steps
  TransposedForces forces_;
  ForceOfParticles force_of_particles_;
  MatrixXd magnetic_;  // (B J)^T, empty without a field
  std::vector<std::unique_ptr<ImplicitEnvironmentStepper>> steppers_;
  std::vector<StageResponse> responses_;
  std::vector<MatrixXd> weights_;     // of the coordinates in the axes of the head
  std::vector<MatrixXd> outer_;       // weights times their transposes
  std::vector<MatrixXd> velocities_;  // of the heads, stages x axes, the last stage first
  int block_ = 64;                    // as in ImplicitStepper
  std::string failure_;
  bool is_end_free_, has_cost_ = false;
  MatrixXd cost_by_q_, cost_by_v_, by_force_;  // a column for each of the points
  // Of a step: constant_ and by_b_ of A, which constant_ becomes.
  Stages constant_;
  System by_b_, matrix_, factored_;
  Unknowns right_, solution_;
  Eigen::PartialPivLU<System> solver_;
};

}  // namespace

std::unique_ptr<CoStepper> make_implicit_co_stepper(const PartitionedRungeKutta& scheme, const FinishedRun& run,
                                                    Problem& environments, PathFunctional& functional) {
  constexpr int max_dofs = 8, max_stages = 4;
  const Index n = run.problem.q.size();
  const int stages = scheme.stages();
  const auto make = [&]<int N, int S, int MaxN, int MaxS>() -> std::unique_ptr<CoStepper> {
    return std::make_unique<ImplicitCoStepper<N, S, MaxN, MaxS>>(scheme, run, environments, functional);
  };
  constexpr int any = Eigen::Dynamic;
  if (n == 1 && stages == 1) return make.template operator()<1, 1, 1, 1>();
  if (n == 1 && stages == 2) return make.template operator()<1, 2, 1, 2>();
  if (n <= max_dofs && stages <= max_stages) return make.template operator()<any, any, max_dofs, max_stages>();
  return make.template operator()<any, any, any, any>();
}

}  // namespace bathline
