// The equations of the particles' stages (particle_stages.hpp), and the step that follows from their solution.
//
//   R_i = P_i - p - h sum_j a^_ij F_j - h sum_j (a_ij + a^_ij)/2 B J V_j
//
// The last term is that of a magnetic field: with the momentum P - B J Q/2 of its Lagrangian (model/gyration.hpp) the
// force B J V/2 is summed with a^, and the part of the momentum besides M V with a.
// Tested by tests/steppers/particle_stages_test.cpp.
#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <type_traits>

#include <Eigen/SparseCore>

#include "steppers/particle_stages.hpp"
#include "steppers/contact_stages.hpp"
#include "model/gyration.hpp"
#include "solve/newton_solver.hpp"

namespace bathline {

/// N degrees of freedom and S stages; where both are Dynamic, at most MaxN and MaxS of them, or any number. Masses and
/// potential of a system are a part of its Lagrangian, v M v / 2 - V, to which a Lagrangian of another form is added.
/// Where that depends on the action there are no masses beside it, and the stages have actions and factors as well.
/// Derived classes solve the equations.
template <int N, int S, int MaxN = N, int MaxS = S>
class StageEquations : public ParticleStages {
 protected:
  static constexpr int dynamic = Eigen::Dynamic;
  static constexpr int size = N == dynamic ? dynamic : N * S, max_size = MaxN == dynamic ? dynamic : MaxN * MaxS;
  /// Contact systems are supported by the equations of dynamic size only, as their runs are short.
  static constexpr bool may_have_actions = max_size == dynamic;
  using Vector = BoundedMatrix<N, 1, MaxN, 1>;
  using Square = BoundedMatrix<N, N, MaxN, MaxN>;
  /// Sparse for many degrees of freedom, of which each is coupled to few others.
  using Damping = std::conditional_t<MaxN == dynamic, Eigen::SparseMatrix<double>, Square>;
  using Values = BoundedMatrix<N, S, MaxN, MaxS>;  // a column for each stage
  using Unknowns = BoundedMatrix<size, 1, max_size, 1>;

 public:
  SnesSolver::Report solve(const StageForces& environment_forces, Eigen::VectorXd& velocities) final;
  void finish(SnesSolver::Report& report) final;

  // The equations, for the solvers of derived classes.
  void evaluate(const Unknowns& x, Unknowns& residual);
  /// The correction of x with the masses in place of Newton's matrix.
  void solve_with_masses(const Unknowns& residual, Unknowns& correction) const;

 protected:
  StageEquations(const PartitionedRungeKutta& scheme, Problem& problem, double h);

  /// Solves the equations from x_ and leaves the solution there; it differs from the last argument of `evaluate` by
  /// round-off.
  virtual SnesSolver::Report solve_equations() = 0;
  /// The round-off of the residual. `force_change` and `momentum_change` are the first-order changes of forces and
  /// momenta for a relative change of one in all positions and velocities.
  double residual_tolerance(const Vector& force_change, const Vector& momentum_change) const;

  /// A nonlinear coupling at the positions `q_` of the stages.
  struct CouplingState {
    Eigen::MatrixXd x;         // of the head from the start of the step, stages x axes
    Eigen::MatrixXd gradient;  // ds/dq, a column for each axis of each stage
    Eigen::MatrixXd forces;    // on the head, stages x axes
  };
  // Out of line: most systems have none, and their steps become slower where these are inlined.
  [[gnu::noinline]] void add_couplings();
  [[gnu::noinline]] void add_coupling_work();
  Eigen::Index n() const { return N == dynamic ? v_.rows() : N; }
  Eigen::Index stages() const { return S == dynamic ? v_.cols() : S; }
  double time(Eigen::Index stage) const { return problem_.clock.at(nodes_[stage]); }
  /// Sets `point_` to q, v, t and z of a stage.
  void set_point(Eigen::Index stage);

  Problem& problem_;
  FrictionParts parts_;
  const Potential& potential_;
  const Lagrangian* lagrangian_;                 // of another form, if there is one
  std::optional<ContactStages> contact_stages_;  // where that depends on the action
  double h_;
  BoundedMatrix<S, S, MaxS, MaxS> a_, a_hat_;
  BoundedMatrix<S, 1, MaxS, 1> b_, row_sums_, nodes_;  // row_sums_: of a_hat
  double max_row_sum_;                                 // h times the largest row sum of |a_hat|
  double field_;                                       // magnetic, kg/s
  BoundedMatrix<S, S, MaxS, MaxS> mean_;               // of a and a_hat
  Vector mass_;
  Damping damping_;
  bool is_quadratic_;  // whether V is quadratic and its matrix small
  Square stiffness_;
  bool is_linear_;  // whether Newton's matrix is the same in all steps with the same response of the environments
  bool depends_on_velocity_;  // whether any force does
  WhiteNoise* noise_;         // gives a force that is constant during a step; nullptr where there is none
  Vector random_;             // that force

  const StageForces* environment_forces_ = nullptr;
  std::vector<CouplingState> couplings_;  // of its nonlinear couplings
  std::vector<double> head_;
  Unknowns x_;
  Values v_, q_, momentum_, force_, drag_, applied_, magnetic_;
  // Arguments and results of potentials, forces and Lagrangians.
  Eigen::VectorXd position_, velocity_, result_, point_;

 private:
  void guess();
  /// C v.
  template <class Velocity>
  Vector damped(const Velocity& v) const {
    if constexpr (MaxN == dynamic) {
      return damping_ * v;
    } else {
      return damping_.lazyProduct(v);
    }
  }
  /// to_i += factor sum_j weights_ij from_j, of vectors ordered by stage.
  void add_sums(double factor, const BoundedMatrix<S, S, MaxS, MaxS>& weights, const double* from, double* to) const {
    for (Eigen::Index i = 0; i < stages(); ++i) {
      double* __restrict const sum = to + i * n();
      for (Eigen::Index j = 0; j < stages(); ++j) {
        const double weight = factor * weights(i, j);
        if (S == dynamic && weight == 0.0) continue;  // half of the entries of Lobatto tableaus
        const double* __restrict const x = from + j * n();
        for (Eigen::Index k = 0; k < n(); ++k) sum[k] += weight * x[k];
      }
    }
  }
  /// sum_i b_i from_i, of vectors ordered by stage. A loop, as Eigen's products are slow to compile.
  Vector weighted(const double* from) const {
    Vector sum(n());
    for (Eigen::Index k = 0; k < n(); ++k) {
      double component = from[k] * b_[0];
      for (Eigen::Index i = 1; i < stages(); ++i) component += from[i * n() + k] * b_[i];
      sum[k] = component;
    }
    return sum;
  }
  void find_gradient(Eigen::Index stage);
  void add_applied(Eigen::Index stage);
  void add_lagrangian(Eigen::Index stage);
  /// Adds the dissipated energy and the work of external forces.
  void add_work();
  /// Returns at which stage L is degenerate, if at any.
  std::optional<std::string> degenerate_stage();
  static Eigen::Index unknowns_of(const PartitionedRungeKutta& scheme, const Problem& problem) {
    return (problem.q.size() + (problem.system().contact ? 2 : 0)) * scheme.stages();
  }
  double action(Eigen::Index stage) const { return contact_stages_ ? contact_stages_->z(stage) : 0.0; }

  std::vector<bool> is_at_start_;    // by stage: whether its positions are those at the start of the step
  bool has_start_gradient_ = false;  // whether `start_gradient_` is of this step
  Vector start_gradient_;
  BoundedMatrix<S, 1, MaxS, 1> dl_dt_;
  Eigen::VectorXd gradient_;
};

template <int N, int S, int MaxN, int MaxS>
StageEquations<N, S, MaxN, MaxS>::StageEquations(const PartitionedRungeKutta& scheme, Problem& problem, double h)
    : problem_(problem),
      parts_(friction_in_stages(scheme)),
      potential_(*problem.system().potential),
      lagrangian_(problem.system().lagrangian.get()),
      h_(h),
      a_(scheme.a),
      a_hat_(scheme.a_hat),
      b_(scheme.b),
      row_sums_(scheme.a_hat.rowwise().sum()),
      nodes_(scheme.nodes()),
      max_row_sum_(h * scheme.a_hat.cwiseAbs().rowwise().sum().maxCoeff()),
      field_(problem.system().magnetic_field),
      mean_(0.5 * (scheme.a + scheme.a_hat)),
      mass_(problem.system().mass),
      is_quadratic_(MaxN != dynamic && potential_.is_quadratic()),
      is_linear_(problem.system().has_linear_forces() && problem.has_linear_environments()),
      depends_on_velocity_(problem.depends_on_velocity(parts_)),
      noise_(scheme.ou_outside ? nullptr : problem.noise()),
      random_(mass_),
      x_(Unknowns::Zero(unknowns_of(scheme, problem))),
      v_(Values::Zero(mass_.size(), scheme.stages())),
      q_(v_),
      momentum_(v_),
      force_(v_),
      drag_(v_),
      applied_(v_),
      magnetic_(v_),
      result_(mass_.size()),
      point_(2 * mass_.size() + 2),
      start_gradient_(mass_),
      dl_dt_(b_),
      gradient_(point_) {
  for (Eigen::Index i = 0; i < scheme.stages(); ++i) is_at_start_.push_back(scheme.a.row(i).isZero(0.0));
  const Eigen::MatrixXd damping = (parts_.matrix ? 1.0 : 0.0) * problem.damping();
  if constexpr (MaxN == dynamic) {
    damping_ = damping.sparseView(1.0, 0.0);
  } else {
    damping_ = damping;
  }
  if (problem.system().contact) {
    if (!may_have_actions || lagrangian_ == nullptr || !problem.stepped_environments().empty()) {
      throw std::logic_error("the stages of a contact system support no environments and need its Lagrangian");
    }
    contact_stages_.emplace(scheme, mass_.size(), h);
  }
  if (!is_quadratic_) return;
  Eigen::MatrixXd stiffness;
  potential_.hessian(problem.q, stiffness);
  stiffness_ = stiffness;
}

template <int N, int S, int MaxN, int MaxS>
SnesSolver::Report StageEquations<N, S, MaxN, MaxS>::solve(const StageForces& environment_forces,
                                                           Eigen::VectorXd& velocities) {
  environment_forces_ = environment_forces.constant.size() == 0 ? nullptr : &environment_forces;
  if (noise_ != nullptr) random_ = noise_->impulse(problem_.clock.steps, h_) / h_;
  guess();
  SnesSolver::Report report = solve_equations();
  if (environment_forces_ != nullptr) velocities = x_;
  return report;
}

template <int N, int S, int MaxN, int MaxS>
void StageEquations<N, S, MaxN, MaxS>::finish(SnesSolver::Report& report) {
  const auto fail = [&](const std::string& reason) {
    report.converged = false;
    report.is_iteration_failure = false;
    report.reason = reason;
  };
  // Newton's method may converge although L is degenerate at a stage.
  if (lagrangian_ != nullptr) {
    if (const std::optional<std::string> reason = degenerate_stage()) return fail(*reason);
  }
  if (!report.converged) return;
  if (contact_stages_ && !contact_stages_->has_positive_factors()) {
    return fail("the step is too large for dL/dz: the factor of the contact form would change its sign");
  }
  add_work();
  problem_.q += h_ * weighted(x_.data());
  problem_.p += h_ * weighted(force_.data());
  if (field_ != 0.0) problem_.p += h_ * weighted(magnetic_.data());
  if (contact_stages_) {
    problem_.p /= contact_stages_->final_factor();
    problem_.z += contact_stages_->action_increment();
  }
  if (lagrangian_ == nullptr) return;
  problem_.v = v_.col(stages() - 1);
  LegendreTransform& legendre = *problem_.legendre();
  const double end = problem_.clock.at(1.0);
  if (const auto reason = legendre.find_velocity(problem_.q, problem_.p, end, problem_.z, problem_.v)) {
    return fail(*reason);
  }
}

template <int N, int S, int MaxN, int MaxS>
void StageEquations<N, S, MaxN, MaxS>::guess() {
  const Vector start =
      lagrangian_ == nullptr ? Vector(problem_.p.cwiseQuotient(problem_.system().mass)) : Vector(problem_.v);
  v_.colwise() = start;
  has_start_gradient_ = false;
  if constexpr (may_have_actions) {
    if (contact_stages_) {
      x_.head(v_.size()) = v_.reshaped();
      contact_stages_->guess(problem_.z, x_.tail(contact_stages_->unknowns()));
      return;
    }
  }
  Eigen::Map<const Unknowns> stacked(v_.data(), v_.size());
  if (!is_linear_ && lagrangian_ == nullptr) {
    // The guess by the forces at the start is right to order h; linear systems need no guess.
    potential_.gradient(problem_.q, result_);
    start_gradient_ = result_;
    has_start_gradient_ = true;
    force_.colwise() = Vector(-result_);
    velocity_ = start;
    if (problem_.is_damped(parts_)) {
      force_.colwise() -= damped(start);
      if (const Force* drag_force = problem_.drag_force(parts_)) {
        drag_force->value(problem_.q, velocity_, 0.0, result_);
        force_.colwise() += Vector(result_);
      }
    }
    if (problem_.system().is_driven()) {
      problem_.applied(problem_.q, velocity_, problem_.clock.at(0.0), result_);
      force_.colwise() += Vector(result_);
    }
    if (noise_ != nullptr) force_.colwise() += random_;
    if (field_ != 0.0) force_.colwise() += Vector(magnetic_force(field_, start));
    if (environment_forces_ != nullptr) {
      Eigen::Map<Unknowns> force(force_.data(), force_.size());
      force += environment_forces_->constant - environment_forces_->damping.lazyProduct(stacked);
      for (const CoupledStages& coupled : environment_forces_->coupled) {
        const auto gradient = coupled.attachment->gradient_at(problem_.q, problem_.clock.at(0.0));
        force_ += gradient * coupled.constant.transpose();
      }
    }
    for (Eigen::Index i = 0; i < stages(); ++i) v_.col(i) += h_ * row_sums_[i] * force_.col(i).cwiseQuotient(mass_);
  }
  x_ = stacked;
}

template <int N, int S, int MaxN, int MaxS>
void StageEquations<N, S, MaxN, MaxS>::evaluate(const Unknowns& x, Unknowns& residual) {
  v_ = Eigen::Map<const Values>(x.data(), n(), stages());
  if constexpr (may_have_actions) {
    if (contact_stages_) contact_stages_->set_unknowns(x.tail(contact_stages_->unknowns()));
  }
  q_.colwise() = problem_.q;
  add_sums(h_, a_, x.data(), q_.data());
  for (Eigen::Index i = 0; i < stages(); ++i) {
    find_gradient(i);
    momentum_.col(i) = mass_.cwiseProduct(v_.col(i));
    if (lagrangian_ != nullptr) add_lagrangian(i);
    if (problem_.is_damped(parts_)) {
      drag_.col(i) = -damped(v_.col(i));
      if (const Force* drag_force = problem_.drag_force(parts_)) {
        position_ = q_.col(i);
        velocity_ = v_.col(i);
        drag_force->value(position_, velocity_, time(i), result_);
        drag_.col(i) += result_;
      }
      force_.col(i) += drag_.col(i);
    }
    if (problem_.system().is_driven()) add_applied(i);
    if (noise_ != nullptr) force_.col(i) += random_;
  }
  if (environment_forces_ != nullptr) {
    Eigen::Map<Unknowns> force(force_.data(), force_.size());
    force += environment_forces_->constant - environment_forces_->damping.lazyProduct(x);
    if (!environment_forces_->coupled.empty()) add_couplings();
  }
  if constexpr (may_have_actions) {
    if (contact_stages_) {
      contact_stages_->scale_by_factors(momentum_, force_);
      contact_stages_->residual(problem_.z, residual.tail(contact_stages_->unknowns()));
    }
  }
  Eigen::Map<Values> momentum_residual(residual.data(), n(), stages());
  momentum_residual = momentum_.colwise() - problem_.p;
  add_sums(-h_, a_hat_, force_.data(), residual.data());
  if (field_ == 0.0) return;
  for (Eigen::Index i = 0; i < stages(); ++i) magnetic_.col(i) = magnetic_force(field_, v_.col(i));
  add_sums(-h_, mean_, magnetic_.data(), residual.data());
}

template <int N, int S, int MaxN, int MaxS>
void StageEquations<N, S, MaxN, MaxS>::add_couplings() {
  couplings_.resize(environment_forces_->coupled.size());
  for (std::size_t c = 0; c < couplings_.size(); ++c) {
    const CoupledStages& coupled = environment_forces_->coupled[c];
    CouplingState& state = couplings_[c];
    const Eigen::Index axes = coupled.constant.cols();
    state.x.resize(stages(), axes);
    state.gradient.resize(n(), stages() * axes);
    for (Eigen::Index i = 0; i < stages(); ++i) {
      position_ = q_.col(i);
      coupled.attachment->position_and_gradient(position_, time(i), head_, state.gradient.middleCols(i * axes, axes));
      for (Eigen::Index axis = 0; axis < axes; ++axis) {
        state.x(i, axis) = head_[static_cast<std::size_t>(axis)] - coupled.start[static_cast<std::size_t>(axis)];
      }
    }
    state.forces = coupled.constant;
    state.forces.noalias() -= coupled.stiffness.lazyProduct(state.x);
    for (Eigen::Index i = 0; i < stages(); ++i) {
      for (Eigen::Index axis = 0; axis < axes; ++axis) {
        force_.col(i) += state.forces(i, axis) * state.gradient.col(i * axes + axis);
      }
    }
  }
}

template <int N, int S, int MaxN, int MaxS>
void StageEquations<N, S, MaxN, MaxS>::find_gradient(Eigen::Index stage) {
  if (is_quadratic_) {
    force_.col(stage) = -stiffness_.lazyProduct(q_.col(stage));
    return;
  }
  if (has_start_gradient_ && is_at_start_[static_cast<std::size_t>(stage)]) {
    force_.col(stage) = -start_gradient_;
    return;
  }
  position_ = q_.col(stage);
  potential_.gradient(position_, result_);
  force_.col(stage) = -result_;
}

template <int N, int S, int MaxN, int MaxS>
void StageEquations<N, S, MaxN, MaxS>::solve_with_masses(const Unknowns& residual, Unknowns& correction) const {
  for (Eigen::Index i = 0; i < stages(); ++i) {
    correction.segment(i * n(), n()) = residual.segment(i * n(), n()).cwiseQuotient(mass_);
  }
}

template <int N, int S, int MaxN, int MaxS>
void StageEquations<N, S, MaxN, MaxS>::add_applied(Eigen::Index stage) {
  position_ = q_.col(stage);
  velocity_ = v_.col(stage);
  problem_.applied(position_, velocity_, time(stage), result_);
  applied_.col(stage) = result_;
  force_.col(stage) += applied_.col(stage);
}

template <int N, int S, int MaxN, int MaxS>
void StageEquations<N, S, MaxN, MaxS>::set_point(Eigen::Index stage) {
  point_.head(n()) = q_.col(stage);
  point_.segment(n(), n()) = v_.col(stage);
  point_[2 * n()] = time(stage);
  point_[2 * n() + 1] = action(stage);
}

template <int N, int S, int MaxN, int MaxS>
void StageEquations<N, S, MaxN, MaxS>::add_lagrangian(Eigen::Index stage) {
  set_point(stage);
  lagrangian_->gradient(point_.data(), gradient_.data());
  force_.col(stage) += gradient_.head(n());
  momentum_.col(stage) += gradient_.segment(n(), n());
  dl_dt_[stage] = gradient_[2 * n()];
  if (contact_stages_) contact_stages_->set_gradient(stage, lagrangian_->value(point_.data()), gradient_.data());
}

template <int N, int S, int MaxN, int MaxS>
double StageEquations<N, S, MaxN, MaxS>::residual_tolerance(const Vector& force_change,
                                                            const Vector& momentum_change) const {
  // Round-off in the residual is a few units in the last place of its largest term. Round-off in the positions changes
  // the forces, and near an equilibrium this change is larger than the forces themselves; momenta that depend on
  // positions are changed in the same way.
  double forces = force_.norm() + magnetic_.norm();
  if (environment_forces_ != nullptr) forces += environment_forces_->constant.norm();
  double momenta = problem_.p.norm() + max_row_sum_ * force_change.norm() + momentum_change.norm();
  if (contact_stages_) momenta += contact_stages_->residual_scale(problem_.z);
  const double scale = std::sqrt(static_cast<double>(stages())) * momenta + max_row_sum_ * forces;
  return 2.0 * std::numeric_limits<double>::epsilon() * scale;
}

template <int N, int S, int MaxN, int MaxS>
void StageEquations<N, S, MaxN, MaxS>::add_work() {
  const bool counts_exchange = problem_.is_damped(parts_) && problem_.exchange.size() > 0;
  const bool counts_heat = problem_.is_damped(parts_) && (problem_.heat.size() > 0 || counts_exchange);
  Values friction;
  if (counts_heat) friction = drag_;
  for (Eigen::Index i = 0; i < stages() && counts_heat && problem_.drag_force(parts_) != nullptr; ++i) {
    friction.col(i) = -damped(v_.col(i));
  }
  if (noise_ != nullptr) {
    // Work along the mean velocity of the step is exactly the change of the energy that it causes.
    const Vector mean_force = weighted(force_.data()), mean_drag = weighted(drag_.data());
    const Vector mean_friction = counts_heat ? weighted(friction.data()) : mean_drag;
    double work = 0.0;
    for (Eigen::Index k = 0; k < n(); ++k) {
      const double mean = (problem_.p[k] + 0.5 * (h_ * mean_force[k])) / mass_[k];
      work += mean * (mean_drag[k] + random_[k]);
      if (problem_.heat.size() > 0 && counts_heat) problem_.heat[k] -= h_ * (mean * (mean_friction[k] + random_[k]));
    }
    problem_.dissipated -= h_ * work;
  } else if (problem_.heat.size() > 0 && counts_heat) {
    const Values work = h_ * v_.cwiseProduct(friction);
    problem_.heat -= weighted(work.data());
  }
  if (counts_exchange && (stages() == 1 || noise_ != nullptr)) {
    const Vector mean = (problem_.p + 0.5 * h_ * weighted(force_.data())).cwiseQuotient(mass_);
    Vector force = weighted(friction.data());
    if (noise_ != nullptr) force += random_;
    problem_.exchange += h_ * force * mean.transpose();
  } else if (counts_exchange) {
    problem_.exchange += h_ * friction * b_.asDiagonal() * v_.transpose();
  }
  if (environment_forces_ != nullptr && !environment_forces_->coupled.empty()) add_coupling_work();
  for (Eigen::Index i = 0; i < stages(); ++i) {
    if (problem_.is_damped(parts_) && noise_ == nullptr)
      problem_.dissipated -= h_ * b_[i] * v_.col(i).dot(drag_.col(i));
    if (problem_.system().is_driven()) problem_.work += h_ * b_[i] * v_.col(i).dot(applied_.col(i));
    if (lagrangian_ != nullptr) problem_.work -= h_ * b_[i] * dl_dt_[i];
    if (contact_stages_)
      problem_.dissipated += h_ * b_[i] * contact_stages_->loss(i, v_.col(i), problem_.system().contact->gamma);
  }
}

template <int N, int S, int MaxN, int MaxS>
void StageEquations<N, S, MaxN, MaxS>::add_coupling_work() {
  for (std::size_t c = 0; c < environment_forces_->coupled.size(); ++c) {
    const CoupledStages& coupled = environment_forces_->coupled[c];
    const Coupling& coupling = *coupled.attachment->nonlinear();
    if (!coupling.depends_on_time()) continue;
    const Eigen::MatrixXd& forces = couplings_[c].forces;
    Eigen::VectorXd rate(forces.cols());
    for (Eigen::Index i = 0; i < stages(); ++i) {
      position_ = q_.col(i);
      coupling.rate(position_.data(), time(i), {rate.data(), coupled.start.size()});
      problem_.work -= h_ * b_[i] * forces.row(i).dot(rate);
    }
  }
}

template <int N, int S, int MaxN, int MaxS>
std::optional<std::string> StageEquations<N, S, MaxN, MaxS>::degenerate_stage() {
  for (Eigen::Index i = 0; i < stages(); ++i) {
    position_ = q_.col(i);
    velocity_ = v_.col(i);
    if (std::optional<std::string> reason =
            problem_.legendre()->unsupported_reason(position_, velocity_, time(i), action(i)))
      return reason;
  }
  return std::nullopt;
}

}  // namespace bathline
