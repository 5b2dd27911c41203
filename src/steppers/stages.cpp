// The equations of the particles' stages, and the step that follows from their solution.
//
//   R_i = P_i - p - h sum_j a^_ij F_j - h sum_j (a_ij + a^_ij)/2 B J V_j
//   dR_i/dV_j = delta_ij M_i + h a_ij (dP/dq)_i - h a^_ij (dF/dv)_j - h^2 sum_k a^_ik a_kj (dF/dq)_k
//               - h (a_ij + a^_ij)/2 B J,   M = d2L/dv2
//
// The terms with B are those of a magnetic field: with the momentum P - B J Q/2 of its Lagrangian (model/gyration.hpp)
// the force B J V/2 is summed with a^, and the part of the momentum besides M V with a. Dashpots of environments stand
// beside dF/dv; contact systems add rows and columns of their own (steppers/contact_stages.hpp). For many coordinates
// of which each interacts with few others the matrix is banded, the stages of a coordinate side by side.
// Tested by tests/steppers/stages_test.cpp and tests/steppers/lagrangian_test.cpp.
#include "steppers/stages.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace bathline {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Report = SnesSolver::Report;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr int max_iterations = 50;

std::vector<double> row_by_row(const MatrixXd& matrix) {
  const RowMajor rows = matrix;
  return {rows.data(), rows.data() + rows.size()};
}

/// force += B J v.
void add_magnetic_force(double field, int n, const double* v, double* force) {
  for (int k = 0; k + 1 < n; k += 2) {
    force[k] += field * v[k + 1];
    force[k + 1] -= field * v[k];
  }
}

}  // namespace

FrictionParts friction_in_stages(const PartitionedRungeKutta& scheme) {
  const bool is_line = scheme.stages() == 1 && scheme.a(0, 0) > 0.5 && scheme.a(0, 0) < 1.0 &&
                       std::abs(scheme.a(0, 0) + scheme.a_hat(0, 0) - 1.0) < 1e-12;
  return {.matrix = !scheme.ou_outside, .couplings = !scheme.ou_outside && !is_line};
}

StageSolver::StageSolver(const PartitionedRungeKutta& scheme, Problem& problem, double h)
    : problem_(problem),
      forces_(problem, friction_in_stages(scheme)),
      lagrangian_(problem.system().lagrangian.get()),
      n_(static_cast<int>(problem.q.size())),
      s_(scheme.stages()),
      size_(n_ * s_),
      h_(h),
      a_(row_by_row(h * scheme.a)),
      a_hat_(row_by_row(h * scheme.a_hat)),
      mean_(row_by_row(0.5 * h * (scheme.a + scheme.a_hat))),
      b_(h * scheme.b),
      nodes_(scheme.nodes()),
      row_sums_(h * scheme.a_hat.rowwise().sum()),
      max_row_sum_(h * scheme.a_hat.cwiseAbs().rowwise().sum().maxCoeff()),
      field_(problem.system().magnetic_field),
      is_linear_(problem.system().has_linear_forces() && problem.has_linear_environments()),
      noise_(scheme.ou_outside ? nullptr : problem.noise()),
      x_(VectorXd::Zero(size_)),
      masses_(problem.system().mass.replicate(s_, 1)),
      inverse_masses_(masses_.cwiseInverse()),
      q_(x_),
      momentum_(x_),
      force_(x_),
      drag_(x_),
      applied_(x_),
      magnetic_(x_),
      sum_(n_),
      start_force_(n_),
      dl_dt_(s_),
      point_(2 * n_ + 2),
      gradient_(point_),
      lagrangian_hessian_(2 * n_ + 1, 2 * n_ + 1) {
  for (int i = 0; i < s_; ++i) is_at_start_.push_back(scheme.a.row(i).isZero(0.0));
  if (problem.system().contact) {
    if (lagrangian_ == nullptr || !problem.stepped_environments().empty()) {
      throw std::logic_error("the stages of a contact system support no environments and need its Lagrangian");
    }
    contact_stages_.emplace(scheme, n_, h);
    x_ = VectorXd::Zero(size_ + contact_stages_->unknowns());
  }
  residual_ = correction_ = start_ = x_;
  if (SnesSolver::is_requested()) {
    petsc_ = std::make_unique<SnesSolver>(
        static_cast<int>(x_.size()),
        [this](const VectorXd& x, VectorXd& residual) {
          x_ = x;
          evaluate();
          residual = residual_;
        },
        [this](const VectorXd& x, MatrixXd& jacobian) {
          x_ = x;
          evaluate();
          assemble();
          const MatrixXd matrix = Eigen::Map<RowMajor>(&lu_.at(0, 0), x.size(), x.size());
          std::copy_n(matrix.data(), matrix.size(), jacobian.data());  // PETSc refers to the data of `jacobian`
        });
  }
  choose_order();
}

void StageSolver::choose_order() {
  const int size = static_cast<int>(x_.size());
  if (n_ <= Forces::few || petsc_ || !problem_.stepped_environments().empty() || lagrangian_ != nullptr ||
      forces_.has_typed_forces() || !problem_.coupled_friction().dampers().empty()) {
    order_.resize(static_cast<std::size_t>(n_));
    std::iota(order_.begin(), order_.end(), 0);
    step_ = n_;
    return lu_.resize(size, size, size);
  }
  std::vector<std::pair<int, int>> edges;
  forces_.slopes({0.0, problem_.q.data(), problem_.p.data()}, by_q_, by_v_);
  for (const auto* slopes : {&by_q_, &by_v_}) {
    for (const Entry& slope : *slopes) edges.emplace_back(slope.row, slope.column);
  }
  for (int k = 0; k + 1 < n_ && field_ != 0.0; k += 2) edges.emplace_back(k, k + 1);
  order_ = cuthill_mckee(n_, edges);
  int band = 0;
  for (const auto& [a, b] : edges) {
    band = std::max(band, std::abs(order_[static_cast<std::size_t>(a)] - order_[static_cast<std::size_t>(b)]));
  }
  for (int& place : order_) place *= s_;
  step_ = 1;
  const int width = (band + 1) * s_ - 1;
  lu_.resize(size, width, width);
}

Report StageSolver::solve(const StageForces& environment_forces, VectorXd& velocities) {
  environment_forces_ = environment_forces.constant.size() == 0 ? nullptr : &environment_forces;
  if (noise_ != nullptr) random_ = noise_->impulse(problem_.clock.steps, h_) / h_;
  guess();
  Report report;
  if (petsc_) {
    solve_by_petsc(report);
  } else if (!(is_linear_ ? solve_linear(report) : lagrangian_ == nullptr && iterate_with_masses(report))) {
    solve_by_newton(report);
  }
  if (environment_forces_ != nullptr) velocities = x_;
  return report;
}

void StageSolver::finish(Report& report) {
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
  problem_.q += weighted(x_);
  problem_.p += weighted(force_);
  if (field_ != 0.0) problem_.p += weighted(magnetic_);
  if (contact_stages_) {
    problem_.p /= contact_stages_->final_factor();
    problem_.z += contact_stages_->action_increment();
  }
  if (lagrangian_ == nullptr) return;
  problem_.v = x_.segment(size_ - n_, n_);
  const double end = problem_.clock.at(1.0);
  if (const auto reason = problem_.legendre()->find_velocity(problem_.q, problem_.p, end, problem_.z, problem_.v)) {
    return fail(*reason);
  }
}

const VectorXd& StageSolver::weighted(const Values& values) {
  set_sums(n_, 1, s_, 1.0, b_.data(), values.data(), sum_.data(), [](int, int) { return 0.0; });
  return sum_;
}

void StageSolver::guess() {
  const bool is_natural = lagrangian_ == nullptr;
  for (int i = 0; i < s_; ++i) {
    for (int k = 0, m = i * n_; k < n_; ++k, ++m)
      x_[m] = is_natural ? problem_.p[k] * inverse_masses_[m] : problem_.v[k];
  }
  has_start_force_ = false;
  if (contact_stages_) return contact_stages_->guess(problem_.z, x_.tail(contact_stages_->unknowns()));
  if (is_linear_ || lagrangian_ != nullptr) return;
  // The guess by the forces at the start is right to order h; linear systems need no guess.
  const Moment start{problem_.clock.at(0.0), problem_.q.data(), x_.data()};
  forces_.of_potential(start.q, start_force_.data());
  has_start_force_ = true;
  sum_ = start_force_;
  const auto add_part = [&](const Values& part) { sum_ += part.head(n_); };
  if (forces_.is_damped()) {
    forces_.drag(start, drag_.data());
    add_part(drag_);
  }
  if (forces_.is_driven()) {
    forces_.applied(start, applied_.data());
    add_part(applied_);
  }
  if (noise_ != nullptr) sum_ += random_;
  if (field_ != 0.0) add_magnetic_force(field_, n_, start.v, sum_.data());
  by_stage(force_).colwise() = sum_;
  if (environment_forces_ != nullptr) {
    force_ += environment_forces_->constant - environment_forces_->damping.lazyProduct(x_);
    for (const CoupledStages& coupled : environment_forces_->coupled) {
      by_stage(force_) += coupled.attachment->gradient_at(problem_.q, start.t) * coupled.constant.transpose();
    }
  }
  for (int i = 0; i < s_; ++i) {
    for (int m = i * n_; m < (i + 1) * n_; ++m) x_[m] += row_sums_[i] * force_[m] * inverse_masses_[m];
  }
}

void StageSolver::evaluate() {
  if (contact_stages_) contact_stages_->set_unknowns(x_.tail(contact_stages_->unknowns()));
  const double *const q = problem_.q.data(), *const p = problem_.p.data(), *const masses = masses_.data();
  double* const x = x_.data();
  set_sums(n_, s_, s_, 1.0, a_.data(), x, q_.data(), [q](int, int k) { return q[k]; });
  for (int i = 0; i < s_; ++i) {
    const Moment at = moment(i);
    double* const force = force_.data() + i * n_;
    if (has_start_force_ && is_at_start_[static_cast<std::size_t>(i)]) {
      std::copy_n(start_force_.data(), n_, force);
    } else {
      forces_.of_potential(at.q, force);
    }
    if (lagrangian_ != nullptr) add_lagrangian(i);
    if (forces_.is_damped()) forces_.drag(at, drag_.data() + i * n_);
    if (forces_.is_driven()) forces_.applied(at, applied_.data() + i * n_);
  }
  if (forces_.is_damped()) force_ += drag_;
  if (forces_.is_driven()) force_ += applied_;
  if (noise_ != nullptr) by_stage(force_).colwise() += random_;
  if (environment_forces_ != nullptr) {
    force_ += environment_forces_->constant - environment_forces_->damping.lazyProduct(x_);
    if (!environment_forces_->coupled.empty()) add_couplings();
  }
  if (contact_stages_) {
    Stages momentum = by_stage(momentum_), force = by_stage(force_);
    contact_stages_->scale_by_factors(momentum, force);
    contact_stages_->residual(problem_.z, residual_.tail(contact_stages_->unknowns()));
  }
  const auto set_residual = [&](auto momentum) {
    set_sums(n_, s_, s_, -1.0, a_hat_.data(), force_.data(), residual_.data(),
             [&, p](int i, int k) { return momentum(i * n_ + k) - p[k]; });
  };
  if (lagrangian_ == nullptr) {
    set_residual([masses, x](int m) { return masses[m] * x[m]; });
  } else {
    set_residual([this](int m) { return momentum_[m]; });
  }
  if (field_ == 0.0) return;
  magnetic_.setZero();
  for (int i = 0; i < s_; ++i) add_magnetic_force(field_, n_, x_.data() + i * n_, magnetic_.data() + i * n_);
  double* const residual = residual_.data();
  set_sums(n_, s_, s_, -1.0, mean_.data(), magnetic_.data(), residual,
           [this, residual](int i, int k) { return residual[i * n_ + k]; });
}

void StageSolver::add_lagrangian(int stage) {
  const int first = stage * n_;
  set_point(stage);
  lagrangian_->gradient(point_.data(), gradient_.data());
  force_.segment(first, n_) += gradient_.head(n_);
  momentum_.segment(first, n_) = masses_.head(n_).cwiseProduct(x_.segment(first, n_)) + gradient_.segment(n_, n_);
  dl_dt_[stage] = gradient_[2 * n_];
  if (contact_stages_) contact_stages_->set_gradient(stage, lagrangian_->value(point_.data()), gradient_.data());
}

void StageSolver::set_point(int stage) {
  point_ << q_.segment(stage * n_, n_), x_.segment(stage * n_, n_), time(stage), action(stage);
}

void StageSolver::add_couplings() {
  couplings_.resize(environment_forces_->coupled.size());
  for (std::size_t c = 0; c < couplings_.size(); ++c) {
    const CoupledStages& coupled = environment_forces_->coupled[c];
    CouplingState& state = couplings_[c];
    const Index axes = coupled.constant.cols();
    state.x.resize(s_, axes);
    state.gradient.resize(n_, s_ * axes);
    for (int i = 0; i < s_; ++i) {
      position_ = q_.segment(i * n_, n_);
      coupled.attachment->position_and_gradient(position_, time(i), head_, state.gradient.middleCols(i * axes, axes));
      for (Index axis = 0; axis < axes; ++axis) {
        state.x(i, axis) = head_[static_cast<std::size_t>(axis)] - coupled.start[static_cast<std::size_t>(axis)];
      }
    }
    state.forces = coupled.constant;
    state.forces.noalias() -= coupled.stiffness.lazyProduct(state.x);
    for (int i = 0; i < s_; ++i) {
      for (Index axis = 0; axis < axes; ++axis)
        force_.segment(i * n_, n_) += state.forces(i, axis) * state.gradient.col(i * axes + axis);
    }
  }
}

void StageSolver::assemble() {
  lu_.set_zero();
  for (int i = 0; i < s_; ++i) {
    add_slopes(i);
    for (int k = 0; k < n_; ++k) entry(i, k, i, k) += masses_[k];
    for (int j = 0; j < s_ && field_ != 0.0; ++j) {
      for (int k = 0; k + 1 < n_; k += 2) {
        entry(i, k, j, k + 1) -= mean_[i * s_ + j] * field_;
        entry(i, k + 1, j, k) += mean_[i * s_ + j] * field_;
      }
    }
  }
  if (environment_forces_ != nullptr && step_ == n_) {  // else there are no dashpots
    MatrixXd damping = environment_forces_->damping;
    if (!environment_forces_->coupled.empty()) add_coupling_damping(damping);
    for (int i = 0; i < s_; ++i) {
      for (int k = 0; k < s_; ++k) {
        for (int r = 0; r < n_; ++r) {
          for (int m = 0; m < size_; ++m) lu_.at(i * n_ + r, m) += a_hat_[i * s_ + k] * damping(k * n_ + r, m);
        }
      }
    }
  }
  if (contact_stages_) contact_stages_->linearise(Eigen::Map<RowMajor>(&lu_.at(0, 0), x_.size(), x_.size()));
}

void StageSolver::add_slopes(int stage) {
  forces_.slopes(moment(stage), by_q_, by_v_);
  if (stage == 0) momentum_change_ = 0.0;
  if (lagrangian_ != nullptr) add_lagrangian_slopes(stage);
  if (stage == 0) {
    sum_.setZero();
    for (const Entry& slope : by_q_) sum_[slope.row] += std::abs(slope.value * problem_.q[slope.column]);
    force_change_ = sum_.norm();
  }
  const int below = step_ * lu_.stride();
  for (const Entry& slope : by_v_) {
    double* const column = &entry(0, slope.row, stage, slope.column);
    for (int i = 0; i < s_; ++i) column[i * below] -= a_hat_[i * s_ + stage] * slope.value;
  }
  for (const Entry& slope : by_q_) {
    double* const block = &entry(0, slope.row, 0, slope.column);
    for (int i = 0; i < s_; ++i) {
      const double product = a_hat_[i * s_ + stage] * slope.value;
      for (int j = 0; j < s_; ++j) block[i * below + j * step_] -= product * a_[stage * s_ + j];
    }
  }
}

void StageSolver::add_lagrangian_slopes(int stage) {
  MatrixXd& hessian = lagrangian_hessian_;
  set_point(stage);
  lagrangian_->hessian(point_.data(), hessian.data());
  if (contact_stages_) {
    contact_stages_->set_hessian(stage, hessian);
    hessian *= contact_stages_->factor(stage);
    for (auto* slopes : {&by_q_, &by_v_}) {
      for (Entry& slope : *slopes) slope.value *= contact_stages_->factor(stage);
    }
  }
  sum_.setZero();
  for (int c = 0; c < n_; ++c) {
    for (int r = 0; r < n_; ++r) {
      by_q_.push_back({r, c, hessian(r, c)});
      by_v_.push_back({r, c, hessian(r, n_ + c)});
      const double momentum_by_q = hessian(n_ + r, c), mass = hessian(n_ + r, n_ + c);
      for (int j = 0; j < s_; ++j) entry(stage, r, j, c) += a_[stage * s_ + j] * momentum_by_q;
      entry(stage, r, stage, c) += mass;
      sum_[r] += std::abs(momentum_by_q * problem_.q[c]) + std::abs(mass * x_[stage * n_ + c]);
    }
  }
  if (stage == 0) momentum_change_ = sum_.norm();
}

// d force_i/d Q_j = delta_ij sum_a F_ia d2 s_a/dq2 - (ds/dq)_i K_ij (ds/dq)_j^T,  dQ_i = h sum_j a_ij dV_j
void StageSolver::add_coupling_damping(MatrixXd& damping) {
  MatrixXd by_q = MatrixXd::Zero(size_, size_);
  for (std::size_t c = 0; c < couplings_.size(); ++c) {
    const CoupledStages& coupled = environment_forces_->coupled[c];
    const CouplingState& state = couplings_[c];
    const Index axes = state.x.cols();
    for (int i = 0; i < s_; ++i) {
      position_ = q_.segment(i * n_, n_);
      head_.resize(static_cast<std::size_t>(axes));
      for (Index axis = 0; axis < axes; ++axis) head_[static_cast<std::size_t>(axis)] = state.forces(i, axis);
      coupled.attachment->nonlinear()->add_hessian(position_.data(), time(i), head_,
                                                   by_q.block(i * n_, i * n_, n_, n_));
      for (int j = 0; j < s_; ++j) {
        for (Index axis = 0; axis < axes; ++axis) {
          by_q.block(i * n_, j * n_, n_, n_).noalias() -=
              coupled.stiffness(i, j) *
              state.gradient.col(i * axes + axis).lazyProduct(state.gradient.col(j * axes + axis).transpose());
        }
      }
    }
  }
  for (int j = 0; j < s_; ++j) {
    for (int k = 0; k < s_; ++k) damping.middleCols(j * n_, n_) -= a_[k * s_ + j] * by_q.middleCols(k * n_, n_);
  }
}

bool StageSolver::is_mass_dominated() const {
  if (step_ != n_) return false;
  for (int i = 0; i < size_; ++i) {
    for (int j = 0; j < size_; ++j) {
      const double rest = lu_.at(i, j) - (i == j ? masses_[i] : 0.0);
      if (rest * rest > 0.01 * masses_[i] * masses_[j]) return false;
    }
  }
  return true;
}

double StageSolver::residual_tolerance() const {
  // Round-off in the residual is a few units in the last place of its largest term. Round-off in the positions changes
  // the forces, and near an equilibrium this change is larger than the forces themselves; momenta that depend on
  // positions are changed in the same way.
  double forces = force_.norm() + magnetic_.norm();
  if (environment_forces_ != nullptr) forces += environment_forces_->constant.norm();
  double momenta = problem_.p.norm() + max_row_sum_ * force_change_ + momentum_change_;
  if (contact_stages_) momenta += contact_stages_->residual_scale(problem_.z);
  return 2.0 * epsilon * (std::sqrt(static_cast<double>(s_)) * momenta + max_row_sum_ * forces);
}

void StageSolver::find_correction() {
  correction_ = residual_;
  if (step_ == n_) {
    lu_.solve(correction_.data());
  } else {
    scratch_.resize(size_);
    for (int i = 0; i < s_; ++i) {
      for (int k = 0; k < n_; ++k) scratch_[row(i, k)] = residual_[i * n_ + k];
    }
    lu_.solve(scratch_.data());
    for (int i = 0; i < s_; ++i) {
      for (int k = 0; k < n_; ++k) correction_[i * n_ + k] = scratch_[row(i, k)];
    }
  }
  if (!has_factors_) correction_.setConstant(std::nan(""));
}

// A fixed-point iteration, which needs no derivatives.
bool StageSolver::iterate_with_masses(Report& report) {
  // The elimination of many unknowns costs as much as dozens of evaluations.
  const double max_contraction = step_ == n_ ? 0.1 : 0.4;
  const auto square = [](double x) { return x * x; };  // squared norms are compared
  start_ = x_;
  double last = std::numeric_limits<double>::infinity();
  for (report.iterations = 1; report.iterations <= max_iterations; ++report.iterations) {
    evaluate();
    double size = 0.0, scale = 0.0;
    for (int m = 0; m < size_; ++m) {
      const double correction = residual_[m] * inverse_masses_[m];
      x_[m] -= correction;
      size += correction * correction;
      scale += x_[m] * x_[m];
    }
    // Small corrections that do not shrink any more are round-off.
    const bool shrinks = size <= square(max_contraction) * last;
    // The next correction, extrapolated from the contraction so far, would be below round-off.
    const bool next_is_negligible = report.iterations > 1 && size <= square(64.0 * epsilon) * scale &&
                                    size * size <= square(epsilon / 16.0) * scale * last;
    if (size <= square(4.0 * epsilon) * scale || next_is_negligible || (!shrinks && size <= square(1e-13) * scale)) {
      report.residual = residual_.norm();
      return report.converged = true;
    }
    if (!shrinks) break;
    last = size;
  }
  x_ = start_;
  return false;
}

// One correction and a second one that reduces its round-off, with stored factors.
bool StageSolver::solve_linear(Report& report) {
  if (environment_forces_ != nullptr && (!has_factors_ || environment_forces_->damping != environment_damping_)) {
    environment_damping_ = environment_forces_->damping;
    has_factors_ = false;
  }
  start_ = x_;
  evaluate();
  if (!has_factors_) {
    assemble();
    is_mass_dominated_ = is_mass_dominated();
    has_factors_ = lu_.factor();
  }
  for (int correction = 0; correction < 2; ++correction) {
    if (correction == 1) evaluate();
    find_correction();
    x_ -= correction_;
  }
  if (!is_mass_dominated_) evaluate();
  report.iterations = 2;
  report.residual = residual_.norm();
  report.converged = std::isfinite(report.residual);
  if (!report.converged) x_ = start_;
  return report.converged;
}

void StageSolver::solve_by_newton(Report& report) {
  report.iterations = 0;
  const auto stop = [&](const char* reason) {
    report.residual = residual_norm_;
    report.reason = reason;
  };
  bool is_fresh = false;  // whether the factors belong to x_
  const auto renew = [&] {
    assemble();
    has_factors_ = lu_.factor();
    is_fresh = true;
  };
  evaluate_with_norm();
  if (!std::isfinite(residual_norm_)) return stop("the force is not finite at the first guess");
  renew();
  const double tolerance = residual_tolerance();
  while (++report.iterations <= max_iterations) {
    const double start = residual_norm_;
    find_correction();
    if (!correction_.allFinite()) return stop("the matrix is singular");
    const bool is_small = correction_.norm() <= 1e-11 * x_.norm();
    if (!search_line(tolerance)) {
      if (is_small) break;  // only round-off is left
      if (is_fresh) return stop("no correction makes the residual smaller");
      renew();
      continue;
    }
    if (residual_norm_ <= tolerance) {
      // An iterate that just meets the tolerance leaves an error by which energies drift; one more correction costs
      // little.
      find_correction();
      x_ -= correction_;
      evaluate_with_norm();
      break;
    }
    is_fresh = false;
    if (residual_norm_ > 1e-2 * start && !is_small) renew();
  }
  report.residual = residual_norm_;
  report.converged = report.iterations <= max_iterations && std::isfinite(residual_norm_);
  if (!report.converged) report.reason = "no convergence";
}

// Halves the correction until the residual decreases.
bool StageSolver::search_line(double tolerance) {
  const double start = residual_norm_;
  start_ = x_;
  for (double fraction = 1.0; fraction > 1e-4; fraction *= 0.5) {
    x_ -= fraction * correction_;
    evaluate_with_norm();
    if (residual_norm_ < start || residual_norm_ <= tolerance) return true;
    x_ = start_;
  }
  evaluate_with_norm();
  return false;
}

void StageSolver::solve_by_petsc(Report& report) {
  evaluate();
  assemble();
  VectorXd x = x_;
  report = petsc_->solve(x, residual_tolerance());
  x_ = x;
  evaluate();
}

void StageSolver::add_work() {
  const bool counts_heat = forces_.is_damped() && problem_.heat.size() > 0;
  const bool counts_exchange = forces_.is_damped() && problem_.exchange.size() > 0;
  Values friction;  // -C v
  if (counts_heat || counts_exchange) {
    friction = VectorXd::Zero(size_);
    for (int i = 0; i < s_; ++i) forces_.subtract_damping(x_.data() + i * n_, friction.data() + i * n_);
  }
  // With noise, work along the mean velocity of the step is exactly the change of the energy that it causes.
  VectorXd mean, impulse;
  if (noise_ != nullptr || (counts_exchange && s_ == 1)) {
    mean = (problem_.p + 0.5 * weighted(force_)).cwiseProduct(inverse_masses_.head(n_));
    if (friction.size() > 0) impulse = weighted(friction);
    if (friction.size() > 0 && noise_ != nullptr) impulse += h_ * random_;
  }
  if (noise_ != nullptr) {
    problem_.dissipated -= mean.dot(weighted(drag_) + h_ * random_);
    if (counts_heat) problem_.heat -= mean.cwiseProduct(impulse);
  } else if (counts_heat) {
    problem_.heat -= weighted(x_.head(size_).cwiseProduct(friction));
  }
  if (counts_exchange) {
    if (mean.size() > 0) {
      problem_.exchange += impulse * mean.transpose();
    } else {
      problem_.exchange += by_stage(friction) * b_.asDiagonal() * by_stage(x_).transpose();
    }
  }
  if (environment_forces_ != nullptr && !environment_forces_->coupled.empty()) add_coupling_work();
  for (int i = 0; i < s_; ++i) {
    const auto along = [&](const Values& force) {
      return b_[i] * x_.segment(i * n_, n_).dot(force.segment(i * n_, n_));
    };
    if (forces_.is_damped() && noise_ == nullptr) problem_.dissipated -= along(drag_);
    if (forces_.is_driven()) problem_.work += along(applied_);
    if (lagrangian_ != nullptr) problem_.work -= b_[i] * dl_dt_[i];
    if (contact_stages_) {
      problem_.dissipated += b_[i] * contact_stages_->loss(i, x_.segment(i * n_, n_), problem_.system().contact->gamma);
    }
  }
}

void StageSolver::add_coupling_work() {
  for (std::size_t c = 0; c < couplings_.size(); ++c) {
    const CoupledStages& coupled = environment_forces_->coupled[c];
    const Coupling& coupling = *coupled.attachment->nonlinear();
    if (!coupling.depends_on_time()) continue;
    VectorXd rate(coupled.constant.cols());
    for (int i = 0; i < s_; ++i) {
      coupling.rate(q_.data() + i * n_, time(i), {rate.data(), coupled.start.size()});
      problem_.work -= b_[i] * couplings_[c].forces.row(i).dot(rate);
    }
  }
}

std::optional<std::string> StageSolver::degenerate_stage() {
  for (int i = 0; i < s_; ++i) {
    position_ = q_.segment(i * n_, n_);
    velocity_ = x_.segment(i * n_, n_);
    if (auto reason = problem_.legendre()->unsupported_reason(position_, velocity_, time(i), action(i))) return reason;
  }
  return std::nullopt;
}

}  // namespace bathline
