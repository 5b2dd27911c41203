// Stages with a matrix of all their unknowns: for a handful of particles, or for those that all feel each other.
//
//   dR_i/dV_j = delta_ij M_i + h a_ij (dP/dq)_i - h a^_ij (dF/dv)_j - h^2 sum_k a^_ik a_kj (dF/dq)_k,  M = d2L/dv2
//
// - h (a_ij + a^_ij)/2 B J in a magnetic field, and the dashpots of environments beside dF/dv; contact systems add rows
// and columns of their own (steppers/contact_stages.hpp). Tested by tests/steppers/particle_stages_test.cpp and
// tests/steppers/lagrangian_test.cpp.
#include "steppers/particle_stages.hpp"

#include "steppers/sparse_stages.hpp"
#include "steppers/stage_equations.hpp"

namespace bathline {

namespace {

using Eigen::Dynamic;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

template <int N, int S, int MostN = N, int MostS = S>
class DenseStages final : public StageEquations<N, S, MostN, MostS> {
  using Base = StageEquations<N, S, MostN, MostS>;
  using Base::field_, Base::mean_, Base::a_, Base::a_hat_, Base::contact_stages_, Base::at_, Base::depends_on_velocity_,
      Base::given_, Base::h_, Base::is_quadratic_, Base::stiffness_, Base::is_linear_, Base::lagrangian_, Base::mass_,
      Base::n, Base::environment_forces_, Base::point_, Base::potential_, Base::problem_, Base::put_point, Base::q_,
      Base::stages, Base::time, Base::v_, Base::velocity_, Base::x_;
  using typename Base::Square, typename Base::Unknowns, typename Base::Vector;
  using Slopes = BoundedMatrix<N, Base::size, MostN, Base::most>;  // a square for each stage
  using Newton = NewtonSolver<DenseLu<Base::size, Base::most>>;
  using Jacobian = typename Newton::Matrix;

 public:
  DenseStages(const PartitionedRungeKutta& scheme, Problem& problem, double h);

  // More of the equations, to Newton's method.
  void linearise(const Unknowns& x, Jacobian& jacobian);
  bool is_mass_dominated(const Jacobian& jacobian) const;
  double residual_tolerance();

 private:
  SnesSolver::Report solve() override;
  SnesSolver::Report solve_by_petsc();
  void find_slopes(Index stage);

  /// Where several stages make matrices large beside forces, most steps do without.
  bool may_iterate_fixed_point_;
  Newton newton_;
  Slopes slopes_q_, slopes_v_;       // of forces
  Slopes momentum_q_, mass_matrix_;  // slopes of momenta, where the Lagrangian has another form
  MatrixXd by_q_, by_v_, curvatures_;
  MatrixXd response_;  // of the environments, which a matrix that is kept belongs to
  std::unique_ptr<SnesSolver> petsc_;
};

template <int N, int S, int MostN, int MostS>
DenseStages<N, S, MostN, MostS>::DenseStages(const PartitionedRungeKutta& scheme, Problem& problem, double h)
    : Base(scheme, problem, h),
      may_iterate_fixed_point_(lagrangian_ == nullptr && !is_linear_ && x_.size() > 2),
      newton_(x_.size()),
      slopes_q_(Slopes::Zero(mass_.size(), v_.size())),
      slopes_v_(slopes_q_),
      curvatures_(2 * mass_.size() + 1, 2 * mass_.size() + 1),
      response_(MatrixXd::Constant(v_.size(), v_.size(), std::numeric_limits<double>::quiet_NaN())) {
  if (lagrangian_ != nullptr) momentum_q_ = mass_matrix_ = slopes_q_;
  if (!SnesSolver::is_requested()) return;
  petsc_ = std::make_unique<SnesSolver>(
      static_cast<int>(x_.size()),
      [this](const VectorXd& x, VectorXd& residual) {
        Unknowns found = x_;
        this->evaluate(x, found);
        residual = found;
      },
      [this](const VectorXd& x, MatrixXd& jacobian) {
        Unknowns residual = x_;
        Jacobian found(x.size(), x.size());
        this->evaluate(x, residual);
        linearise(x, found);
        std::copy_n(found.data(), found.size(), jacobian.data());  // PETSc knows where its numbers lie
      });
}

template <int N, int S, int MostN, int MostS>
SnesSolver::Report DenseStages<N, S, MostN, MostS>::solve() {
  if (petsc_) return solve_by_petsc();
  if (is_linear_ && environment_forces_ != nullptr && environment_forces_->damping != response_) {
    response_ = environment_forces_->damping;
    newton_.invalidate_jacobian();
  }
  if (may_iterate_fixed_point_) {
    constexpr double max_contraction = 0.1;
    if (const auto report = newton_.iterate_fixed_point(*this, x_, max_contraction)) return *report;
  }
  return newton_.solve(*this, x_, is_linear_);
}

template <int N, int S, int MostN, int MostS>
void DenseStages<N, S, MostN, MostS>::find_slopes(Index stage) {
  const auto of_stage = [&](Slopes& slopes) { return slopes.middleCols(stage * n(), n()); };
  if (is_quadratic_) {
    of_stage(slopes_q_) = -stiffness_;
  } else {
    at_ = q_.col(stage);
    potential_.hessian(at_, by_q_);
    of_stage(slopes_q_) = -by_q_;
  }
  if (depends_on_velocity_ || problem_.system().applied) {
    at_ = q_.col(stage);
    velocity_ = v_.col(stage);
    problem_.jacobians(at_, velocity_, time(stage), by_q_, by_v_);
    of_stage(slopes_q_) += by_q_;
    of_stage(slopes_v_) = by_v_;
  }
  if (lagrangian_ == nullptr) return;
  put_point(stage);
  lagrangian_->hessian(point_.data(), curvatures_.data());
  of_stage(slopes_q_) += curvatures_.topLeftCorner(n(), n());
  if (depends_on_velocity_) {
    of_stage(slopes_v_) += curvatures_.block(0, n(), n(), n());
  } else {
    of_stage(slopes_v_) = curvatures_.block(0, n(), n(), n());
  }
  of_stage(momentum_q_) = curvatures_.block(n(), 0, n(), n());
  of_stage(mass_matrix_) = curvatures_.block(n(), n(), n(), n());
  if (!contact_stages_) return;
  contact_stages_->put_curvatures(stage, curvatures_);
  for (Slopes* slopes : {&slopes_q_, &slopes_v_, &momentum_q_, &mass_matrix_})
    of_stage(*slopes) *= contact_stages_->weight(stage);
}

template <int N, int S, int MostN, int MostS>
void DenseStages<N, S, MostN, MostS>::linearise(const Unknowns&, Jacobian& jacobian) {
  const auto of_stage = [&](Slopes& slopes, Index stage) { return slopes.middleCols(stage * n(), n()); };
  for (Index k = 0; k < stages(); ++k) find_slopes(k);
  jacobian.setZero();
  const bool has_slopes_v = depends_on_velocity_ || lagrangian_ != nullptr;
  for (Index i = 0; i < stages(); ++i) {
    for (Index j = 0; j < stages(); ++j) {
      auto block = jacobian.template block<N, N>(i * n(), j * n(), n(), n());
      if (has_slopes_v) block -= h_ * a_hat_(i, j) * of_stage(slopes_v_, j);
      for (Index k = 0; k < stages(); ++k) {
        block -= (h_ * a_hat_(i, k)) * (h_ * a_(k, j)) * of_stage(slopes_q_, k);
      }
      if (i == j) block.diagonal() += mass_;
      if (field_ != 0.0) block -= h_ * mean_(i, j) * magnetic_jacobian(field_, n());
      if (lagrangian_ == nullptr) continue;
      block += h_ * a_(i, j) * of_stage(momentum_q_, i);
      if (i == j) block += of_stage(mass_matrix_, i);
    }
    if (environment_forces_ == nullptr) continue;
    for (Index k = 0; k < stages(); ++k) {
      jacobian.middleRows(i * n(), n()) += h_ * a_hat_(i, k) * environment_forces_->damping.middleRows(k * n(), n());
    }
  }
  if constexpr (Base::may_have_actions) {
    if (contact_stages_) contact_stages_->linearise(jacobian);
  }
}

/// Whether the matrix is that of the masses but for a tenth: a change of the velocities in their last place then
/// changes the impulse of the forces by less than a last place of the momenta.
template <int N, int S, int MostN, int MostS>
bool DenseStages<N, S, MostN, MostS>::is_mass_dominated(const Jacobian& jacobian) const {
  for (Index j = 0; j < jacobian.cols(); ++j) {
    for (Index i = 0; i < jacobian.rows(); ++i) {
      const double of_masses = i == j ? mass_[i % n()] : 0.0;
      const double rest = jacobian(i, j) - of_masses;
      if (rest * rest > 0.01 * mass_[i % n()] * mass_[j % n()]) return false;
    }
  }
  return true;
}

template <int N, int S, int MostN, int MostS>
double DenseStages<N, S, MostN, MostS>::residual_tolerance() {
  const Vector places = problem_.q.cwiseAbs();
  const Vector of_forces = slopes_q_.leftCols(n()).cwiseAbs().lazyProduct(places);
  Vector of_momenta = Vector::Zero(n());
  if (lagrangian_ != nullptr) {
    of_momenta = momentum_q_.leftCols(n()).cwiseAbs().lazyProduct(places);
    of_momenta += mass_matrix_.leftCols(n()).cwiseAbs().lazyProduct(v_.col(0).cwiseAbs());
  }
  return Base::residual_tolerance(of_forces, of_momenta);
}

template <int N, int S, int MostN, int MostS>
SnesSolver::Report DenseStages<N, S, MostN, MostS>::solve_by_petsc() {
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

std::unique_ptr<ParticleStages> make_particle_stages(const PartitionedRungeKutta& scheme, Problem& problem, double h) {
  constexpr int few = 8, few_stages = 4;
  const Index n = problem.q.size();
  if (problem.system().contact) return std::make_unique<DenseStages<Dynamic, Dynamic>>(scheme, problem, h);
  if (n == 1 && scheme.stages() == 1) return std::make_unique<DenseStages<1, 1>>(scheme, problem, h);
  if (n == 1 && scheme.stages() == 2) return std::make_unique<DenseStages<1, 2>>(scheme, problem, h);
  if (n == 2 && scheme.stages() == 1) return std::make_unique<DenseStages<2, 1>>(scheme, problem, h);
  if (n == 2 && scheme.stages() == 2) return std::make_unique<DenseStages<2, 2>>(scheme, problem, h);
  if (n <= few && scheme.stages() <= few_stages) {
    return std::make_unique<DenseStages<Dynamic, Dynamic, few, few_stages>>(scheme, problem, h);
  }
  if (!SnesSolver::is_requested() && has_sparse_stages(problem)) return make_sparse_stages(scheme, problem, h);
  return std::make_unique<DenseStages<Dynamic, Dynamic>>(scheme, problem, h);
}

}  // namespace bathline
