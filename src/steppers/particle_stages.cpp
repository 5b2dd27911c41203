// Stages with a dense matrix: for few particles, or for particles that all interact.
//
//   dR_i/dV_j = delta_ij M_i + h a_ij (dP/dq)_i - h a^_ij (dF/dv)_j - h^2 sum_k a^_ik a_kj (dF/dq)_k,  M = d2L/dv2
//
// - h (a_ij + a^_ij)/2 B J in a magnetic field, and the dashpots of environments beside dF/dv; contact systems add rows
// and columns of their own (steppers/contact_stages.hpp). Tested by tests/steppers/particle_stages_test.cpp and
// tests/steppers/lagrangian_test.cpp.
#include "steppers/particle_stages.hpp"

#include <utility>

#include "steppers/sparse_stages.hpp"
#include "steppers/stage_equations.hpp"

namespace bathline {

namespace {

using Eigen::Dynamic;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

template <int N, int S, int MaxN = N, int MaxS = S>
class DenseStages final : public StageEquations<N, S, MaxN, MaxS> {
  using Base = StageEquations<N, S, MaxN, MaxS>;
  using Base::field_, Base::parts_, Base::mean_, Base::a_, Base::a_hat_, Base::contact_stages_, Base::position_,
      Base::depends_on_velocity_, Base::result_, Base::h_, Base::is_quadratic_, Base::stiffness_, Base::is_linear_,
      Base::lagrangian_, Base::mass_, Base::n, Base::environment_forces_, Base::point_, Base::potential_,
      Base::problem_, Base::set_point, Base::q_, Base::stages, Base::time, Base::v_, Base::velocity_, Base::x_;
  using typename Base::Square, typename Base::Unknowns, typename Base::Vector;
  using Jacobians = BoundedMatrix<N, Base::size, MaxN, Base::max_size>;  // a square block for each stage
  using Newton = NewtonSolver<DenseLu<Base::size, Base::max_size>>;
  using Jacobian = typename Newton::Matrix;

 public:
  DenseStages(const PartitionedRungeKutta& scheme, Problem& problem, double h);

  // The further equations that Newton's method needs.
  void linearise(const Unknowns& x, Jacobian& jacobian);
  bool is_mass_dominated(const Jacobian& jacobian) const;
  double residual_tolerance();

 private:
  SnesSolver::Report solve_equations() override;
  SnesSolver::Report solve_by_petsc();
  void evaluate_jacobians(Index stage);
  /// Sets `coupling_damping_`, minus the derivative of the forces of nonlinear couplings by the stage velocities.
  [[gnu::noinline]] void linearise_couplings();

  /// Whether the fixed-point iteration is tried first, where a matrix costs much more than the forces.
  bool may_iterate_fixed_point_;
  Newton newton_;
  Jacobians force_by_q_, force_by_v_;      // of the forces
  Jacobians momentum_by_q_, mass_matrix_;  // of the momenta, where the Lagrangian has another form
  MatrixXd df_dq_, df_dv_, lagrangian_hessian_;
  MatrixXd coupling_by_q_, coupling_damping_;
  MatrixXd environment_damping_;  // of the environments, to which the stored factors belong
  std::unique_ptr<SnesSolver> petsc_;
};

template <int N, int S, int MaxN, int MaxS>
DenseStages<N, S, MaxN, MaxS>::DenseStages(const PartitionedRungeKutta& scheme, Problem& problem, double h)
    : Base(scheme, problem, h),
      may_iterate_fixed_point_(lagrangian_ == nullptr && !is_linear_ && x_.size() > 2),
      newton_(x_.size()),
      force_by_q_(Jacobians::Zero(mass_.size(), v_.size())),
      force_by_v_(force_by_q_),
      lagrangian_hessian_(2 * mass_.size() + 1, 2 * mass_.size() + 1),
      environment_damping_(MatrixXd::Constant(v_.size(), v_.size(), std::numeric_limits<double>::quiet_NaN())) {
  if (lagrangian_ != nullptr) momentum_by_q_ = mass_matrix_ = force_by_q_;
  if (!SnesSolver::is_requested()) return;
  petsc_ = std::make_unique<SnesSolver>(
      static_cast<int>(x_.size()),
      [this](const VectorXd& x, VectorXd& residual) {
        Unknowns result = x_;
        this->evaluate(x, result);
        residual = result;
      },
      [this](const VectorXd& x, MatrixXd& jacobian) {
        Unknowns residual = x_;
        Jacobian result(x.size(), x.size());
        this->evaluate(x, residual);
        linearise(x, result);
        std::copy_n(result.data(), result.size(), jacobian.data());  // PETSc refers to the data of `jacobian`
      });
}

template <int N, int S, int MaxN, int MaxS>
SnesSolver::Report DenseStages<N, S, MaxN, MaxS>::solve_equations() {
  if (petsc_) return solve_by_petsc();
  if (is_linear_ && environment_forces_ != nullptr && environment_forces_->damping != environment_damping_) {
    environment_damping_ = environment_forces_->damping;
    newton_.invalidate_jacobian();
  }
  if (may_iterate_fixed_point_) {
    constexpr double max_contraction = 0.1;
    if (auto report = newton_.iterate_fixed_point(*this, x_, max_contraction)) return *std::move(report);
  }
  return newton_.solve(*this, x_, is_linear_);
}

template <int N, int S, int MaxN, int MaxS>
void DenseStages<N, S, MaxN, MaxS>::evaluate_jacobians(Index stage) {
  const auto of_stage = [&](Jacobians& jacobians) { return jacobians.middleCols(stage * n(), n()); };
  if (is_quadratic_) {
    of_stage(force_by_q_) = -stiffness_;
  } else {
    position_ = q_.col(stage);
    potential_.hessian(position_, df_dq_);
    of_stage(force_by_q_) = -df_dq_;
  }
  if (depends_on_velocity_ || problem_.system().applied) {
    position_ = q_.col(stage);
    velocity_ = v_.col(stage);
    problem_.jacobians(position_, velocity_, time(stage), df_dq_, df_dv_, parts_);
    of_stage(force_by_q_) += df_dq_;
    of_stage(force_by_v_) = df_dv_;
  }
  if (lagrangian_ == nullptr) return;
  set_point(stage);
  lagrangian_->hessian(point_.data(), lagrangian_hessian_.data());
  of_stage(force_by_q_) += lagrangian_hessian_.topLeftCorner(n(), n());
  if (depends_on_velocity_) {
    of_stage(force_by_v_) += lagrangian_hessian_.block(0, n(), n(), n());
  } else {
    of_stage(force_by_v_) = lagrangian_hessian_.block(0, n(), n(), n());
  }
  of_stage(momentum_by_q_) = lagrangian_hessian_.block(n(), 0, n(), n());
  of_stage(mass_matrix_) = lagrangian_hessian_.block(n(), n(), n(), n());
  if (!contact_stages_) return;
  contact_stages_->set_hessian(stage, lagrangian_hessian_);
  for (Jacobians* jacobians : {&force_by_q_, &force_by_v_, &momentum_by_q_, &mass_matrix_})
    of_stage(*jacobians) *= contact_stages_->factor(stage);
}

// d force_i/d Q_j = delta_ij sum_a F_ia d2 s_a/dq2 - (ds/dq)_i K_ij (ds/dq)_j^T,  dQ_i = h sum_j a_ij dV_j
template <int N, int S, int MaxN, int MaxS>
void DenseStages<N, S, MaxN, MaxS>::linearise_couplings() {
  coupling_by_q_.setZero(v_.size(), v_.size());
  for (std::size_t c = 0; c < this->couplings_.size(); ++c) {
    const CoupledStages& coupled = environment_forces_->coupled[c];
    const auto& state = this->couplings_[c];
    const Index axes = state.x.cols();
    for (Index i = 0; i < stages(); ++i) {
      position_ = q_.col(i);
      this->head_.resize(static_cast<std::size_t>(axes));
      for (Index axis = 0; axis < axes; ++axis) this->head_[static_cast<std::size_t>(axis)] = state.forces(i, axis);
      coupled.attachment->nonlinear()->add_hessian(position_.data(), time(i), this->head_,
                                                   coupling_by_q_.block(i * n(), i * n(), n(), n()));
      for (Index j = 0; j < stages(); ++j) {
        for (Index axis = 0; axis < axes; ++axis) {
          coupling_by_q_.block(i * n(), j * n(), n(), n()).noalias() -=
              coupled.stiffness(i, j) *
              state.gradient.col(i * axes + axis).lazyProduct(state.gradient.col(j * axes + axis).transpose());
        }
      }
    }
  }
  coupling_damping_.setZero(v_.size(), v_.size());
  for (Index j = 0; j < stages(); ++j) {
    for (Index k = 0; k < stages(); ++k) {
      coupling_damping_.middleCols(j * n(), n()) -= (h_ * a_(k, j)) * coupling_by_q_.middleCols(k * n(), n());
    }
  }
}

template <int N, int S, int MaxN, int MaxS>
void DenseStages<N, S, MaxN, MaxS>::linearise(const Unknowns&, Jacobian& jacobian) {
  const auto of_stage = [&](Jacobians& jacobians, Index stage) { return jacobians.middleCols(stage * n(), n()); };
  for (Index k = 0; k < stages(); ++k) evaluate_jacobians(k);
  jacobian.setZero();
  const bool has_force_by_v = depends_on_velocity_ || lagrangian_ != nullptr;
  for (Index i = 0; i < stages(); ++i) {
    for (Index j = 0; j < stages(); ++j) {
      auto block = jacobian.template block<N, N>(i * n(), j * n(), n(), n());
      if (has_force_by_v) block -= h_ * a_hat_(i, j) * of_stage(force_by_v_, j);
      for (Index k = 0; k < stages(); ++k) {
        block -= (h_ * a_hat_(i, k)) * (h_ * a_(k, j)) * of_stage(force_by_q_, k);
      }
      if (i == j) block.diagonal() += mass_;
      if (field_ != 0.0) block -= h_ * mean_(i, j) * magnetic_jacobian(field_, n());
      if (lagrangian_ == nullptr) continue;
      block += h_ * a_(i, j) * of_stage(momentum_by_q_, i);
      if (i == j) block += of_stage(mass_matrix_, i);
    }
    if (environment_forces_ == nullptr) continue;
    for (Index k = 0; k < stages(); ++k) {
      jacobian.middleRows(i * n(), n()) += h_ * a_hat_(i, k) * environment_forces_->damping.middleRows(k * n(), n());
    }
    if (environment_forces_->coupled.empty()) continue;
    if (i == 0) linearise_couplings();
    for (Index k = 0; k < stages(); ++k) {
      jacobian.middleRows(i * n(), n()) += h_ * a_hat_(i, k) * coupling_damping_.middleRows(k * n(), n());
    }
  }
  if constexpr (Base::may_have_actions) {
    if (contact_stages_) contact_stages_->linearise(jacobian);
  }
}

/// Whether the matrix differs from that of the masses by a tenth at most: round-off in the velocities then changes the
/// impulse of the forces by less than the round-off of the momenta.
template <int N, int S, int MaxN, int MaxS>
bool DenseStages<N, S, MaxN, MaxS>::is_mass_dominated(const Jacobian& jacobian) const {
  for (Index j = 0; j < jacobian.cols(); ++j) {
    for (Index i = 0; i < jacobian.rows(); ++i) {
      const double mass = i == j ? mass_[i % n()] : 0.0;
      const double rest = jacobian(i, j) - mass;
      if (rest * rest > 0.01 * mass_[i % n()] * mass_[j % n()]) return false;
    }
  }
  return true;
}

template <int N, int S, int MaxN, int MaxS>
double DenseStages<N, S, MaxN, MaxS>::residual_tolerance() {
  const Vector distances = problem_.q.cwiseAbs();
  const Vector force_change = force_by_q_.leftCols(n()).cwiseAbs().lazyProduct(distances);
  Vector momentum_change = Vector::Zero(n());
  if (lagrangian_ != nullptr) {
    momentum_change = momentum_by_q_.leftCols(n()).cwiseAbs().lazyProduct(distances);
    momentum_change += mass_matrix_.leftCols(n()).cwiseAbs().lazyProduct(v_.col(0).cwiseAbs());
  }
  return Base::residual_tolerance(force_change, momentum_change);
}

template <int N, int S, int MaxN, int MaxS>
SnesSolver::Report DenseStages<N, S, MaxN, MaxS>::solve_by_petsc() {
  Unknowns residual = x_;
  Jacobian jacobian(x_.size(), x_.size());
  this->evaluate(x_, residual);
  linearise(x_, jacobian);
  VectorXd x = x_;
  const SnesSolver::Report report = petsc_->solve(x, residual_tolerance());
  x_ = x;
  this->evaluate(x_, residual);
  return report;
}

}  // namespace

FrictionParts friction_in_stages(const PartitionedRungeKutta& scheme) {
  const bool is_line = scheme.stages() == 1 && scheme.a(0, 0) > 0.5 && scheme.a(0, 0) < 1.0 &&
                       std::abs(scheme.a(0, 0) + scheme.a_hat(0, 0) - 1.0) < 1e-12;
  return {.matrix = !scheme.ou_outside, .couplings = !scheme.ou_outside && !is_line};
}

std::unique_ptr<ParticleStages> make_particle_stages(const PartitionedRungeKutta& scheme, Problem& problem, double h) {
  constexpr int max_dofs = 8, max_stages = 4;
  const Index n = problem.q.size();
  if (problem.system().contact) return std::make_unique<DenseStages<Dynamic, Dynamic>>(scheme, problem, h);
  if (n == 1 && scheme.stages() == 1) return std::make_unique<DenseStages<1, 1>>(scheme, problem, h);
  if (n == 1 && scheme.stages() == 2) return std::make_unique<DenseStages<1, 2>>(scheme, problem, h);
  if (n == 2 && scheme.stages() == 1) return std::make_unique<DenseStages<2, 1>>(scheme, problem, h);
  if (n == 2 && scheme.stages() == 2) return std::make_unique<DenseStages<2, 2>>(scheme, problem, h);
  if (n <= max_dofs && scheme.stages() <= max_stages) {
    return std::make_unique<DenseStages<Dynamic, Dynamic, max_dofs, max_stages>>(scheme, problem, h);
  }
  if (!SnesSolver::is_requested() && has_sparse_stages(problem)) return make_sparse_stages(scheme, problem, h);
  return std::make_unique<DenseStages<Dynamic, Dynamic>>(scheme, problem, h);
}

}  // namespace bathline
