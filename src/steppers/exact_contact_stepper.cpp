// The exact flow of a contact system, on rank 0: q' = v, p' = dL/dq + dL/dz p + f, z' = L, where L is
// m v^2 / 2 - V + gamma z or any other.
//
//   linear:     x = (q, p) by the matrix exponential; z(h) = e^{gamma h} (z + integral of e^{-gamma s} x^T Q x) and the
//               work of the damping by Gramians (vanloan1978)
//   otherwise:  an adaptive extrapolation method near round-off, z and the work among its unknowns
//
// Source: simoes2020, section 2, and eq. (19) for L = v^T M v / 2 - V(q) + gamma z. Where the start is given by two
// positions, the initial momentum is that of the motion that reaches the second one after one step.
// Tested by tests/properties/contact_test.cpp.
#include <cmath>
#include <limits>
#include <stdexcept>

#include "steppers/stepper.hpp"
#include "solve/dense.hpp"
#include "solve/reference_integrator.hpp"

namespace bathline {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

struct ContactState {
  VectorXd q, p;
  double z = 0.0, dissipated = 0.0, work = 0.0;
  double t = 0.0;  // for the caller to advance
};

/// Advances by one step; exists on rank 0.
class ContactFlow {
 public:
  virtual ~ContactFlow() = default;
  /// False where the reference solver failed.
  virtual bool step(ContactState& state) = 0;
  virtual std::vector<double> internal_state() const { return {}; }
  virtual void set_internal_state(std::span<const double>) {}
};

class LinearContactFlow final : public ContactFlow {
 public:
  LinearContactFlow(const ParticleSystem& system, double h)
      : n_(system.size()), growth_(std::exp(system.contact->gamma * h)) {
    const double gamma = system.contact->gamma;
    MatrixXd hessian(n_, n_);
    system.potential->hessian(system.q0, hessian);
    const MatrixXd inverse = system.mass.cwiseInverse().asDiagonal();
    MatrixXd a = MatrixXd::Zero(2 * n_, 2 * n_), lagrangian = a, power = a;
    a.topRightCorner(n_, n_) = inverse;
    a.bottomLeftCorner(n_, n_) = -hessian;
    a.bottomRightCorner(n_, n_).diagonal().setConstant(gamma);
    lagrangian.topLeftCorner(n_, n_) = -0.5 * hessian;
    lagrangian.bottomRightCorner(n_, n_) = 0.5 * inverse;
    power.bottomRightCorner(n_, n_) = -gamma * inverse;
    work_ = gramian(a, power, h);
    flow_ = matrix_exponential(h * a);
    a.diagonal().array() -= 0.5 * gamma;
    action_ = growth_ * gramian(a, lagrangian, h);
  }

  bool step(ContactState& state) override {
    VectorXd x(2 * n_);
    x << state.q, state.p;
    state.z = growth_ * state.z + x.dot(action_ * x);
    state.dissipated += x.dot(work_ * x);
    x = flow_ * x;
    state.q = x.head(n_);
    state.p = x.tail(n_);
    return true;
  }

 private:
  /// Integral of e^{A^T s} Q e^{A s} from 0 to h.
  static MatrixXd gramian(const MatrixXd& a, const MatrixXd& q, double h) {
    const Eigen::Index size = a.rows();
    MatrixXd block = MatrixXd::Zero(2 * size, 2 * size);
    block.topLeftCorner(size, size) = -a.transpose();
    block.topRightCorner(size, size) = q;
    block.bottomRightCorner(size, size) = a;
    const MatrixXd exponential = matrix_exponential(h * block);
    return exponential.bottomRightCorner(size, size).transpose() * exponential.topRightCorner(size, size);
  }

  Eigen::Index n_;
  double growth_;
  MatrixXd flow_, action_, work_;
};

class AdaptiveContactFlow final : public ContactFlow {
 public:
  AdaptiveContactFlow(const ParticleSystem& system, double h, double tolerance)
      : system_(system),
        h_(h),
        state_(2 * static_cast<std::size_t>(system.size()) + 2),
        solver_(
            system.size(), 1, 1,
            [this](double, std::span<const double> x, std::span<double> derivative) {
              const Eigen::Index n = system_.size();
              const double gamma = system_.contact->gamma;
              const Eigen::Map<const VectorXd> p(x.data() + n, n);
              q_ = Eigen::Map<const VectorXd>(x.data(), n);
              system_.potential->gradient(q_, gradient_);
              Eigen::Map<VectorXd> q_rate(derivative.data(), n), p_rate(derivative.data() + n, n);
              q_rate = p.cwiseQuotient(system_.mass);
              p_rate = gamma * p - gradient_;
              const double twice_kinetic = p.dot(q_rate);
              derivative[2 * n] = 0.5 * twice_kinetic - system_.potential->value(q_) + gamma * x[2 * n];
              derivative[2 * n + 1] = -gamma * twice_kinetic;
            },
            tolerance) {}

  bool step(ContactState& state) override {
    const Eigen::Index n = system_.size();
    Eigen::Map<VectorXd> q(state_.data(), n), p(state_.data() + n, n);
    q = state.q;
    p = state.p;
    state_[2 * n] = state.z;
    state_[2 * n + 1] = state.dissipated;
    const bool solved = solver_.advance(state_, 0.0, h_);
    state.q = q;
    state.p = p;
    state.z = state_[2 * n];
    state.dissipated = state_[2 * n + 1];
    return solved;
  }
  std::vector<double> internal_state() const override { return {solver_.step()}; }
  void set_internal_state(std::span<const double> state) override { solver_.set_step(state.front()); }

 private:
  ParticleSystem system_;
  double h_;
  std::vector<double> state_;
  VectorXd q_, gradient_;
  ReferenceIntegrator solver_;
};

/// For any Lagrangian, with the other forces on the particles.
class LagrangianContactFlow final : public ContactFlow {
 public:
  LagrangianContactFlow(const Problem& problem, double h, double tolerance)
      : problem_(problem),
        h_(h),
        n_(problem.q.size()),
        v_(problem.v),
        x_(2 * n_ + 2),
        gradient_(x_),
        state_(2 * static_cast<std::size_t>(n_) + 3),
        solver_(
            static_cast<int>(n_), 1, 2,
            [this](double t, std::span<const double> x, std::span<double> rate) {
              derive(t, Eigen::Map<const VectorXd>(x.data(), 2 * n_ + 3),
                     Eigen::Map<VectorXd>(rate.data(), 2 * n_ + 3));
            },
            tolerance) {}

  bool step(ContactState& state) override {
    v_ = problem_.v;
    Eigen::Map<VectorXd> x(state_.data(), 2 * n_ + 3);
    x << state.q, state.p, state.z, state.dissipated, state.work;
    const bool solved = solver_.advance(state_, state.t, h_);
    state.q = x.head(n_);
    state.p = x.segment(n_, n_);
    state.z = x[2 * n_];
    state.dissipated = x[2 * n_ + 1];
    state.work = x[2 * n_ + 2];
    return solved;
  }
  std::vector<double> internal_state() const override { return {solver_.step()}; }
  void set_internal_state(std::span<const double> state) override { solver_.set_step(state.front()); }

 private:
  void derive(double t, const Eigen::Ref<const VectorXd>& x, Eigen::Ref<VectorXd> rate) {
    const VectorXd q = x.head(n_), p = x.segment(n_, n_);
    const double z = x[2 * n_];
    // From the last velocities, and if that fails from those at the start of the step.
    for (int attempt = 0; problem_.legendre()->find_velocity(q, p, t, z, v_); ++attempt) {
      v_ = problem_.v;
      if (attempt == 0) continue;
      rate.setConstant(std::numeric_limits<double>::quiet_NaN());
      return;
    }
    x_ << q, v_, t, z;
    const Lagrangian& lagrangian = *problem_.system().lagrangian;
    lagrangian.gradient(x_.data(), gradient_.data());
    const double value = lagrangian.value(x_.data()), dl_dz = gradient_[2 * n_ + 1];
    VectorXd drag = VectorXd::Zero(n_), applied = drag;
    if (problem_.is_damped()) problem_.drag(q, v_, drag);
    if (problem_.system().is_driven()) problem_.applied(q, v_, t, applied);
    const double loss = -dl_dz * (p.dot(v_) - value) - problem_.system().contact->gamma * value;
    rate << v_, gradient_.head(n_) + dl_dz * p + drag + applied, value, loss - v_.dot(drag),
        v_.dot(applied) - gradient_[2 * n_];
  }

  const Problem& problem_;
  double h_;
  Eigen::Index n_;
  VectorXd v_, x_, gradient_;
  std::vector<double> state_;
  ReferenceIntegrator solver_;
};

/// The momentum that leads from q to `second` in one step; nothing where Newton's method fails. Its derivatives are
/// differences, so that it converges linearly, by about eight digits an iteration.
std::optional<VectorXd> momentum_between(ContactFlow& flow, const VectorXd& q, const VectorXd& second, VectorXd p) {
  const auto error = [&](const VectorXd& momentum) -> VectorXd {
    ContactState state{q, momentum};
    if (!flow.step(state)) state.q.setConstant(std::nan(""));
    return state.q - second;
  };
  const double scale = q.norm() + second.norm();
  double previous = std::numeric_limits<double>::infinity();
  for (int iteration = 0; iteration < 50; ++iteration) {
    const VectorXd residual = error(p);
    const double norm = residual.norm();
    if (!std::isfinite(norm)) return std::nullopt;
    // The momentum is exact, or only round-off is left.
    if (norm == 0.0 || (norm >= 0.5 * previous && norm <= 1e-12 * scale)) return p;
    previous = norm;
    const double increment = 1e-5 * (1.0 + p.norm());
    MatrixXd jacobian(p.size(), p.size());
    for (Eigen::Index i = 0; i < p.size(); ++i) {
      const VectorXd change = increment * VectorXd::Unit(p.size(), i);
      jacobian.col(i) = (error(p + change) - error(p - change)) / (2.0 * increment);
    }
    p -= jacobian.partialPivLu().solve(residual);
  }
  return std::nullopt;
}

class ExactContactStepper final : public Stepper {
 public:
  ExactContactStepper(Problem& problem, double h, double tolerance) : problem_(problem) {
    const ParticleSystem& system = problem.system();
    problem.clock.h = h;
    if (!problem.communicator().is_root()) {
      problem.initial_q1.reset();
      return;
    }
    if (system.lagrangian) {
      flow_ = std::make_unique<LagrangianContactFlow>(problem, h, tolerance);
    } else if (system.potential->is_quadratic()) {
      flow_ = std::make_unique<LinearContactFlow>(system, h);
    } else {
      flow_ = std::make_unique<AdaptiveContactFlow>(system, h, tolerance);
    }
    if (!problem.initial_q1) return;
    const VectorXd guess = system.mass.cwiseProduct(*problem.initial_q1 - problem.q) / h;
    const std::optional<VectorXd> p = momentum_between(*flow_, problem.q, *problem.initial_q1, guess);
    problem.initial_q1.reset();
    has_start_ = p.has_value();
    if (p) problem.p = *p;
  }

  std::optional<Failure> advance(std::int64_t steps, const AdvanceHints&) override {
    if (!problem_.communicator().broadcast(has_start_)) {
      return Failure{1, 0.0, "no momentum was found that leads from `q0` to `q1` in one step"};
    }
    bool solved = true;
    if (flow_) {
      ContactState state{problem_.q, problem_.p, problem_.z, problem_.dissipated, problem_.work};
      for (std::int64_t i = 0; i < steps && solved; ++i) {
        state.t = problem_.clock.at(static_cast<double>(i));
        solved = flow_->step(state);
        if (LegendreTransform* legendre = problem_.legendre(); legendre != nullptr && solved) {
          const double end = problem_.clock.at(static_cast<double>(i + 1));
          solved = !legendre->find_velocity(state.q, state.p, end, state.z, problem_.v);
        }
      }
      problem_.q = state.q;
      problem_.p = state.p;
      problem_.z = state.z;
      problem_.dissipated = state.dissipated;
      problem_.work = state.work;
    }
    problem_.clock.steps += steps;
    if (problem_.communicator().broadcast(solved)) return std::nullopt;
    return Failure{problem_.clock.steps, 0.0, "the adaptive reference solver could not meet its tolerance"};
  }

  std::vector<double> internal_state() const override {
    return flow_ ? flow_->internal_state() : std::vector<double>();
  }

  void set_internal_state(std::span<const double> state) override {
    if (state.size() > 1) throw std::out_of_range("stepper");
    if (!state.empty() && flow_) flow_->set_internal_state(state);
  }

 private:
  Problem& problem_;
  std::unique_ptr<ContactFlow> flow_;  // on rank 0
  bool has_start_ = true;
};

}  // namespace

std::unique_ptr<Stepper> make_exact_contact_stepper(Problem& problem, double h, double tolerance) {
  return std::make_unique<ExactContactStepper>(problem, h, tolerance);
}

}  // namespace bathline
