// Newton's method on the stage velocities, for one size of the unknowns at a time.
//
//   R_i = P_i - p - h sum_j a^_ij F_j
//   dR_i/dV_j = delta_ij M_i + h a_ij (dP/dq)_i - h a^_ij (dF/dv)_j - h^2 sum_k a^_ik a_kj (dF/dq)_k,  M = d2L/dv2
//
// and the dashpots of environments beside dF/dv. Masses and potential of a system are a part of its Lagrangian,
// v M v / 2 - V, and a Lagrangian of another form comes on top.
// Tested by tests/advance/lagrangian_test.cpp.
#include "advance/particle_stages.hpp"

#include <cmath>
#include <limits>

#include "solve/small_newton.hpp"

namespace bathline {

namespace {

using Eigen::Dynamic;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// N degrees of freedom and S stages; where both are Dynamic, at most MostN and MostS of them, or any number.
template <int N, int S, int MostN = N, int MostS = S>
class StagesOf final : public ParticleStages {
  static constexpr int size = N == Dynamic ? Dynamic : N * S, most = MostN == Dynamic ? Dynamic : MostN * MostS;
  static constexpr int point = N == Dynamic ? Dynamic : 2 * N + 1,
                       most_point = MostN == Dynamic ? Dynamic : 2 * MostN + 1;
  using Vector = Bounded<N, 1, MostN, 1>;
  using Square = Bounded<N, N, MostN, MostN>;
  using Values = Bounded<N, S, MostN, MostS>;    // a column for each stage
  using Slopes = Bounded<N, size, MostN, most>;  // a square for each stage
  using Point = Bounded<point, 1, most_point, 1>;
  using Newton = SmallNewton<size, most>;
  using Unknowns = typename Newton::Vector;
  using Jacobian = typename Newton::Matrix;

 public:
  StagesOf(const CollocationScheme& scheme, Problem& problem, double h);

  ParticleNewton::Report step(const StageForces& of_environments, VectorXd& velocities) override;

  // The equations, to Newton's method.
  void evaluate(const Unknowns& x, Unknowns& residual);
  void linearise(const Unknowns& x, Jacobian& jacobian);
  double roundoff() const;

 private:
  Index n() const { return N == Dynamic ? v_.rows() : N; }
  Index stages() const { return S == Dynamic ? v_.cols() : S; }
  double time(Index stage) const { return problem_.clock.at(nodes_[stage]); }

  void guess();
  void add_applied(Index stage);
  void add_lagrangian(Index stage);
  /// Leaves q, v and t of a stage in `point_`.
  void put_point(Index stage);
  ParticleNewton::Report solve_by_petsc();
  /// What is dissipated and the work that is done from outside.
  void add_work();
  /// Says at which stage L is degenerate, if at any.
  std::optional<std::string> degenerate_stage();

  Problem& problem_;
  const Potential& potential_;
  const Lagrangian* lagrangian_;  // of another form, if there is one
  double h_;
  Bounded<S, S, MostS, MostS> a_, a_hat_;
  Bounded<S, 1, MostS, 1> b_, rise_, nodes_;  // rise: sums of the rows of a_hat
  double longest_;                            // the largest of `rise`, by absolute values
  Vector mass_;
  Square damping_;
  bool is_quadratic_;
  Square stiffness_;     // of a quadratic potential
  bool keeps_matrix_;    // where it is the same in every step
  bool feels_velocity_;  // whether any force does

  const StageForces* of_environments_ = nullptr;
  Newton newton_;
  Unknowns x_;
  Values v_, q_, momentum_, force_, drag_, applied_;
  Slopes slopes_q_, slopes_v_;   // of forces
  Slopes momentum_q_, inertia_;  // slopes of momenta, where the Lagrangian has another form
  Square uncertainty_;           // absolute values of dF/dq
  Bounded<S, 1, MostS, 1> by_time_;
  // What potentials, forces and Lagrangians are handed, and what they give.
  VectorXd at_, velocity_, given_;
  MatrixXd by_q_, by_v_, curvatures_;
  Point point_, given_point_;
  std::unique_ptr<ParticleNewton> petsc_;
};

template <int N, int S, int MostN, int MostS>
StagesOf<N, S, MostN, MostS>::StagesOf(const CollocationScheme& scheme, Problem& problem, double h)
    : problem_(problem),
      potential_(*problem.system().potential),
      lagrangian_(problem.system().lagrangian.get()),
      h_(h),
      a_(scheme.a),
      a_hat_(scheme.a_hat),
      b_(scheme.b),
      rise_(scheme.a_hat.rowwise().sum()),
      nodes_(scheme.nodes()),
      longest_(h * scheme.a_hat.cwiseAbs().rowwise().sum().maxCoeff()),
      mass_(problem.system().mass),
      damping_(problem.damping()),
      is_quadratic_(potential_.is_quadratic()),
      stiffness_(damping_),
      keeps_matrix_(problem.system().has_linear_forces() && problem.environments().empty()),
      feels_velocity_(problem.feels_velocity()),
      newton_(mass_.size() * scheme.stages()),
      x_(Unknowns::Zero(mass_.size() * scheme.stages())),
      v_(Values::Zero(mass_.size(), scheme.stages())),
      q_(v_),
      momentum_(v_),
      force_(v_),
      drag_(v_),
      applied_(v_),
      slopes_q_(Slopes::Zero(mass_.size(), v_.size())),
      slopes_v_(slopes_q_),
      momentum_q_(slopes_q_),
      inertia_(slopes_q_),
      uncertainty_(damping_),
      by_time_(b_),
      curvatures_(2 * mass_.size(), 2 * mass_.size()),
      point_(Point::Zero(2 * mass_.size() + 1)),
      given_point_(point_) {
  if (is_quadratic_) {
    potential_.hessian(problem.q, by_q_);
    stiffness_ = by_q_;
  }
  if (!ParticleNewton::is_wanted()) return;
  petsc_ = std::make_unique<ParticleNewton>(
      static_cast<int>(x_.size()),
      [this](const VectorXd& x, VectorXd& residual) {
        Unknowns found = x_;
        evaluate(x, found);
        residual = found;
      },
      [this](const VectorXd& x, MatrixXd& jacobian) {
        Unknowns residual = x_;
        Jacobian found(x.size(), x.size());
        evaluate(x, residual);
        linearise(x, found);
        std::copy_n(found.data(), found.size(), jacobian.data());  // PETSc knows where its numbers lie
      });
}

template <int N, int S, int MostN, int MostS>
ParticleNewton::Report StagesOf<N, S, MostN, MostS>::step(const StageForces& of_environments, VectorXd& velocities) {
  of_environments_ = problem_.environments().empty() ? nullptr : &of_environments;
  guess();
  ParticleNewton::Report report = petsc_ ? solve_by_petsc() : newton_.solve(*this, x_, keeps_matrix_);
  const auto fail = [&](const std::string& why) {
    report.converged = false;
    report.is_of_iteration = false;
    report.reason = why;
    return report;
  };
  // Newton's method may or may not notice that it has come by a place where L is degenerate.
  if (lagrangian_ != nullptr) {
    if (const std::optional<std::string> why = degenerate_stage()) return fail(*why);
  }
  if (!report.converged) return report;
  add_work();
  if (of_environments_ != nullptr) velocities = x_;
  problem_.q += h_ * v_.lazyProduct(b_);
  problem_.p += h_ * force_.lazyProduct(b_);
  if (lagrangian_ == nullptr) return report;
  problem_.v = v_.col(stages() - 1);
  LegendreMap& legendre = *problem_.legendre();
  const double end = problem_.clock.at(1.0);
  if (const auto why = legendre.find_velocity(problem_.q, problem_.p, end, problem_.v)) return fail(*why);
  return report;
}

template <int N, int S, int MostN, int MostS>
void StagesOf<N, S, MostN, MostS>::guess() {
  const Vector start =
      lagrangian_ == nullptr ? Vector(problem_.p.cwiseQuotient(problem_.system().mass)) : Vector(problem_.v);
  v_.colwise() = start;
  Eigen::Map<const Unknowns> stacked(v_.data(), v_.size());
  if (!keeps_matrix_ && lagrangian_ == nullptr) {
    // What the forces at the start would do is right to the order of h; a linear system takes any guess.
    potential_.gradient(problem_.q, given_);
    force_.colwise() = Vector(-given_);
    velocity_ = start;
    if (problem_.is_damped()) {
      problem_.drag(problem_.q, velocity_, given_);
      force_.colwise() += Vector(given_);
    }
    if (problem_.system().is_driven()) {
      problem_.applied(problem_.q, velocity_, problem_.clock.at(0.0), given_);
      force_.colwise() += Vector(given_);
    }
    if (of_environments_ != nullptr) {
      Eigen::Map<Unknowns> force(force_.data(), force_.size());
      force += of_environments_->constant - of_environments_->response.lazyProduct(stacked);
    }
    for (Index i = 0; i < stages(); ++i) v_.col(i) += h_ * rise_[i] * force_.col(i).cwiseQuotient(mass_);
  }
  x_ = stacked;
}

template <int N, int S, int MostN, int MostS>
void StagesOf<N, S, MostN, MostS>::evaluate(const Unknowns& x, Unknowns& residual) {
  v_ = Eigen::Map<const Values>(x.data(), n(), stages());
  q_ = h_ * v_.lazyProduct(a_.transpose());
  for (Index i = 0; i < stages(); ++i) {
    q_.col(i) += problem_.q;
    if (is_quadratic_) {
      force_.col(i) = -stiffness_.lazyProduct(q_.col(i));
    } else {
      at_ = q_.col(i);
      potential_.gradient(at_, given_);
      force_.col(i) = -given_;
    }
    momentum_.col(i) = mass_.cwiseProduct(v_.col(i));
    if (lagrangian_ != nullptr) add_lagrangian(i);
    if (problem_.is_damped()) {
      drag_.col(i) = -damping_.lazyProduct(v_.col(i));
      if (problem_.system().force) {
        at_ = q_.col(i);
        velocity_ = v_.col(i);
        problem_.system().force->value(at_, velocity_, time(i), given_);
        drag_.col(i) += given_;
      }
      force_.col(i) += drag_.col(i);
    }
    if (problem_.system().is_driven()) add_applied(i);
  }
  if (of_environments_ != nullptr) {
    Eigen::Map<Unknowns> force(force_.data(), force_.size());
    force += of_environments_->constant - of_environments_->response.lazyProduct(x);
  }
  Eigen::Map<Values> rest(residual.data(), n(), stages());
  rest = momentum_ - h_ * force_.lazyProduct(a_hat_.transpose());
  rest.colwise() -= problem_.p;
}

template <int N, int S, int MostN, int MostS>
void StagesOf<N, S, MostN, MostS>::add_applied(Index stage) {
  at_ = q_.col(stage);
  velocity_ = v_.col(stage);
  problem_.applied(at_, velocity_, time(stage), given_);
  applied_.col(stage) = given_;
  force_.col(stage) += applied_.col(stage);
}

template <int N, int S, int MostN, int MostS>
void StagesOf<N, S, MostN, MostS>::put_point(Index stage) {
  point_.head(n()) = q_.col(stage);
  point_.segment(n(), n()) = v_.col(stage);
  point_[2 * n()] = time(stage);
}

template <int N, int S, int MostN, int MostS>
void StagesOf<N, S, MostN, MostS>::add_lagrangian(Index stage) {
  put_point(stage);
  lagrangian_->slopes(point_.data(), given_point_.data());
  force_.col(stage) += given_point_.head(n());
  momentum_.col(stage) += given_point_.segment(n(), n());
  by_time_[stage] = given_point_[2 * n()];
}

template <int N, int S, int MostN, int MostS>
void StagesOf<N, S, MostN, MostS>::linearise(const Unknowns&, Jacobian& jacobian) {
  const auto of_stage = [&](Slopes& slopes, Index stage) { return slopes.middleCols(stage * n(), n()); };
  for (Index k = 0; k < stages(); ++k) {
    at_ = q_.col(k);
    potential_.hessian(at_, by_q_);
    of_stage(slopes_q_, k) = -by_q_;
    if (feels_velocity_ || problem_.system().applied) {
      velocity_ = v_.col(k);
      problem_.slopes(at_, velocity_, time(k), by_q_, by_v_);
      of_stage(slopes_q_, k) += by_q_;
      of_stage(slopes_v_, k) = by_v_;
    }
    if (lagrangian_ == nullptr) continue;
    put_point(k);
    lagrangian_->curvatures(point_.data(), curvatures_.data());
    of_stage(slopes_q_, k) += curvatures_.topLeftCorner(n(), n());
    if (feels_velocity_) {
      of_stage(slopes_v_, k) += curvatures_.block(0, n(), n(), n());
    } else {
      of_stage(slopes_v_, k) = curvatures_.block(0, n(), n(), n());
    }
    of_stage(momentum_q_, k) = curvatures_.block(n(), 0, n(), n());
    of_stage(inertia_, k) = curvatures_.block(n(), n(), n(), n());
  }
  jacobian.setZero();
  const bool has_slopes_v = feels_velocity_ || lagrangian_ != nullptr;
  for (Index i = 0; i < stages(); ++i) {
    for (Index j = 0; j < stages(); ++j) {
      auto block = jacobian.template block<N, N>(i * n(), j * n(), n(), n());
      if (has_slopes_v) block -= h_ * a_hat_(i, j) * of_stage(slopes_v_, j);
      for (Index k = 0; k < stages(); ++k) {
        block -= (h_ * a_hat_(i, k)) * (h_ * a_(k, j)) * of_stage(slopes_q_, k);
      }
      if (i == j) block.diagonal() += mass_;
      if (lagrangian_ == nullptr) continue;
      block += h_ * a_(i, j) * of_stage(momentum_q_, i);
      if (i == j) block += of_stage(inertia_, i);
    }
    if (of_environments_ == nullptr) continue;
    for (Index k = 0; k < stages(); ++k) {
      jacobian.middleRows(i * n(), n()) += h_ * a_hat_(i, k) * of_environments_->response.middleRows(k * n(), n());
    }
  }
  uncertainty_ = of_stage(slopes_q_, 0).cwiseAbs();
}

template <int N, int S, int MostN, int MostS>
double StagesOf<N, S, MostN, MostS>::roundoff() const {
  // Round-off in the residual is a few units in the last place of its largest term. A force is known no better than
  // at positions that are wrong in the last place: near an equilibrium that is all that is left of it. So it is with
  // momenta that depend on positions.
  Vector terms = longest_ * uncertainty_.lazyProduct(problem_.q.cwiseAbs());
  double forces = force_.norm(), momenta = problem_.p.norm() + terms.norm();
  if (of_environments_ != nullptr) forces += of_environments_->constant.norm();
  if (lagrangian_ != nullptr) {
    terms = momentum_q_.leftCols(n()).cwiseAbs().lazyProduct(problem_.q.cwiseAbs());
    terms += inertia_.leftCols(n()).cwiseAbs().lazyProduct(v_.col(0).cwiseAbs());
    momenta += terms.norm();
  }
  const double scale = std::sqrt(static_cast<double>(stages())) * momenta + longest_ * forces;
  return 2.0 * std::numeric_limits<double>::epsilon() * scale;
}

template <int N, int S, int MostN, int MostS>
ParticleNewton::Report StagesOf<N, S, MostN, MostS>::solve_by_petsc() {
  Unknowns residual = x_;
  Jacobian jacobian(x_.size(), x_.size());
  evaluate(x_, residual);
  linearise(x_, jacobian);
  VectorXd x = x_;
  const ParticleNewton::Report report = petsc_->solve(x, roundoff());
  x_ = x;
  evaluate(x_, residual);
  return report;
}

template <int N, int S, int MostN, int MostS>
void StagesOf<N, S, MostN, MostS>::add_work() {
  for (Index i = 0; i < stages(); ++i) {
    if (problem_.is_damped()) problem_.dissipated -= h_ * b_[i] * v_.col(i).dot(drag_.col(i));
    if (problem_.system().is_driven()) problem_.work += h_ * b_[i] * v_.col(i).dot(applied_.col(i));
    if (lagrangian_ != nullptr) problem_.work -= h_ * b_[i] * by_time_[i];
  }
}

template <int N, int S, int MostN, int MostS>
std::optional<std::string> StagesOf<N, S, MostN, MostS>::degenerate_stage() {
  for (Index i = 0; i < stages(); ++i) {
    at_ = q_.col(i);
    velocity_ = v_.col(i);
    if (std::optional<std::string> why = problem_.legendre()->obstacle(at_, velocity_, time(i))) return why;
  }
  return std::nullopt;
}

}  // namespace

std::unique_ptr<ParticleStages> make_particle_stages(const CollocationScheme& scheme, Problem& problem, double h) {
  constexpr int few = 8, few_stages = 4;
  const Index n = problem.q.size();
  if (n == 1 && scheme.stages() == 1) return std::make_unique<StagesOf<1, 1>>(scheme, problem, h);
  if (n == 2 && scheme.stages() == 1) return std::make_unique<StagesOf<2, 1>>(scheme, problem, h);
  if (n == 2 && scheme.stages() == 2) return std::make_unique<StagesOf<2, 2>>(scheme, problem, h);
  if (n <= few && scheme.stages() <= few_stages) {
    return std::make_unique<StagesOf<Dynamic, Dynamic, few, few_stages>>(scheme, problem, h);
  }
  return std::make_unique<StagesOf<Dynamic, Dynamic>>(scheme, problem, h);
}

}  // namespace bathline
