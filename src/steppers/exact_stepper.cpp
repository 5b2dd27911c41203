// The exact flow, on rank 0 with all sites gathered there.
//
//   linear, closed:  normal modes of M^-1/2 K M^-1/2, each advanced by its cosine and sine, by all steps at once
//   linear, open:    the matrix exponential, in a magnetic field for closed systems as well; the work of the damping,
//                    the covariance of the noise of a step and the action of a contact system,
//                    z(h) = e^{gamma h} (z + integral of e^{-gamma s} x^T Q x), by Gramians (vanloan1978)
//   otherwise:       an adaptive extrapolation method near round-off, the action and works as further unknowns, from
//                    step to step, so that no adaptive step is longer, and within a step from kink to kink of the
//                    forces in time
//
// The last two have the same bits however many steps are advanced at once.
//
// Source: simoes2020, section 2 and eq. (19), for contact systems: q' = v, p' = dL/dq + dL/dz p + f, z' = L, where L is
// m v^2 / 2 - V + gamma z or any other. Where the start is given by two positions, the initial momentum is that of the
// motion that reaches the second one after one step.
// Tested by tests/steppers/exact_stepper_test.cpp and tests/properties/contact_test.cpp.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

#include "steppers/assembled_system.hpp"
#include "steppers/stepper.hpp"
#include "model/kinks_in_time.hpp"
#include "solve/dense.hpp"
#include "solve/linear_flow.hpp"
#include "solve/reference_integrator.hpp"

namespace bathline {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Positions of the particles and displacements of the sites, all momenta, on rank 0, the action, and the works until
/// then.
struct Phase {
  std::vector<double> x;
  std::vector<double> p;
  double z = 0.0;
  double dissipated = 0.0;
  double work = 0.0;
};

/// Advances a gathered state by a number of steps; exists on rank 0.
class Flow {
 public:
  virtual ~Flow() = default;
  /// Returns false where the reference solver failed. The caller advances the time.
  virtual bool advance(Phase& phase, std::int64_t steps) = 0;
  virtual std::vector<double> internal_state() const { return {}; }
  /// Throws std::out_of_range where its size does not fit.
  virtual void set_internal_state(std::span<const double>) {}
};

class ModalFlow final : public Flow {
 public:
  ModalFlow(const Eigen::VectorXd& start, const AssembledSystem& system, double h)
      : h_(h), start_(start), root_mass_(system.mass().cwiseSqrt()) {
    const Eigen::VectorXd inverse = root_mass_.cwiseInverse();
    const Eigen::MatrixXd matrix = inverse.asDiagonal() * system.stiffness() * inverse.asDiagonal();
    SymmetricEigen eigen = symmetric_eigen(matrix);
    modes_ = std::move(eigen.vectors);
    squares_ = std::move(eigen.values);
    resolve_soft_modes(system, inverse);
    const std::vector<double> rest(static_cast<std::size_t>(system.size()), 0.0);
    std::vector<double> force(rest.size());
    system.force(rest, force);
    const Eigen::Map<const Eigen::VectorXd> constant(force.data(), system.size());
    drive_ = modes_.transpose() * inverse.cwiseProduct(constant);
  }

  bool advance(Phase& phase, std::int64_t steps) override {
    const auto n = static_cast<Eigen::Index>(phase.x.size());
    Eigen::Map<Eigen::VectorXd> u(phase.x.data(), n), p(phase.p.data(), n);
    u.head(start_.size()) -= start_;
    Eigen::VectorXd z = modes_.transpose() * root_mass_.cwiseProduct(u);
    Eigen::VectorXd s = modes_.transpose() * p.cwiseQuotient(root_mass_);
    const double t = h_ * static_cast<double>(steps);
    for (Eigen::Index i = 0; i < n; ++i) {
      // z'' = -omega^2 z + g; a mode without stiffness has a constant acceleration.
      const double square = squares_[i];
      double c = 1.0, sine = t, versine = 0.5 * t * t;
      if (square > 0.0) {
        const double omega = std::sqrt(square);
        c = std::cos(omega * t);
        sine = std::sin(omega * t) / omega;
        const double half = std::sin(0.5 * omega * t);
        versine = 2.0 * half * half / square;
      } else if (square < 0.0) {
        const double rate = std::sqrt(-square);
        c = std::cosh(rate * t);
        sine = std::sinh(rate * t) / rate;
        const double half = std::sinh(0.5 * rate * t);
        versine = -2.0 * half * half / square;
      }
      const double z0 = z[i], s0 = s[i];
      z[i] = z0 * c + s0 * sine + drive_[i] * versine;
      s[i] = s0 * c + (drive_[i] - square * z0) * sine;
    }
    u = (modes_ * z).cwiseQuotient(root_mass_);
    u.head(start_.size()) += start_;
    p = (modes_ * s).cwiseProduct(root_mass_);
    return true;
  }

 private:
  /// The squares of frequencies have the round-off of the largest. Those far below it are found again in the space of
  /// their modes alone, by the strains of the springs, until each has digits of its own.
  void resolve_soft_modes(const AssembledSystem& system, const Eigen::VectorXd& inverse_root_mass) {
    constexpr double far_below = 1e-4;
    std::vector<Eigen::Index> soft(static_cast<std::size_t>(squares_.size()));
    std::iota(soft.begin(), soft.end(), 0);
    while (!soft.empty()) {
      const double largest = squares_(soft).cwiseAbs().maxCoeff();
      std::erase_if(soft, [&](Eigen::Index mode) { return std::abs(squares_[mode]) >= far_below * largest; });
      if (soft.empty()) return;
      const Eigen::MatrixXd modes = modes_(Eigen::all, soft);
      const SymmetricEigen eigen = symmetric_eigen(system.stiffness_between(inverse_root_mass.asDiagonal() * modes));
      modes_(Eigen::all, soft) = modes * eigen.vectors;
      squares_(soft) = eigen.values;
    }
  }

  double h_;
  Eigen::VectorXd start_;  // positions of the particles
  Eigen::VectorXd root_mass_, squares_, drive_;
  Eigen::MatrixXd modes_;
};

/// x' = A x + noise for x = (q, p) of an open linear system.
class MatrixExponentialFlow final : public Flow {
 public:
  MatrixExponentialFlow(Problem& problem, const AssembledSystem& assembled, double h) : problem_(problem) {
    const ParticleSystem& system = problem.system();
    const int n = system.size();
    const Eigen::VectorXd inverse = system.mass.cwiseInverse();
    Eigen::VectorXd momenta(2 * n);  // over velocities
    momenta << Eigen::VectorXd::Ones(n), system.mass;
    const auto [drift, diffusion] = assembled.linear_sde();
    const Eigen::MatrixXd a = momenta.asDiagonal() * drift * momenta.cwiseInverse().asDiagonal();
    Eigen::MatrixXd power = Eigen::MatrixXd::Zero(2 * n, 2 * n);
    power.bottomRightCorner(n, n) = inverse.asDiagonal() * problem.damping() * inverse.asDiagonal();
    LinearFlow step = linear_flow(a, h, power);
    flow_ = std::move(step.exponential);
    work_ = std::move(step.gramian);
    if (system.contact) {
      const double gamma = system.contact->gamma;
      growth_ = std::exp(gamma * h);
      Eigen::MatrixXd lagrangian = Eigen::MatrixXd::Zero(2 * n, 2 * n);
      lagrangian.topLeftCorner(n, n) = 0.5 * a.bottomLeftCorner(n, n);
      lagrangian.bottomRightCorner(n, n) = 0.5 * inverse.asDiagonal().toDenseMatrix();
      action_ = linear_flow(a, h, lagrangian, gamma).gramian;
    }
    if (problem.noise() == nullptr) return;
    power = momenta.asDiagonal() * diffusion * momenta.asDiagonal();
    const Eigen::MatrixXd covariance = linear_flow(a.transpose(), h, power).gramian;
    root_ = symmetric_root(0.5 * (covariance + covariance.transpose()));
  }

  bool advance(Phase& phase, std::int64_t steps) override {
    const auto n = static_cast<Eigen::Index>(phase.x.size());
    Eigen::Map<Eigen::VectorXd> q(phase.x.data(), n), p(phase.p.data(), n);
    Eigen::VectorXd x(2 * n);
    x << q, p;
    WhiteNoise* noise = problem_.noise();
    double before = noise == nullptr ? 0.0 : energy(x);
    for (std::int64_t i = 0; i < steps; ++i) {
      if (action_.size() > 0) phase.z = growth_ * phase.z + x.dot(action_ * x);
      if (noise == nullptr) phase.dissipated += x.dot(work_ * x);
      x = flow_ * x;
      if (noise == nullptr) continue;
      const auto numbers = noise->numbers(problem_.clock.steps + i, 0, static_cast<std::size_t>(2 * n));
      x += root_ * Eigen::Map<const Eigen::VectorXd>(numbers.data(), 2 * n);
      // The energy dissipated by damping and noise is the energy that the particles have lost.
      const double after = energy(x);
      phase.dissipated += before - after;
      before = after;
    }
    q = x.head(n);
    p = x.tail(n);
    return true;
  }

 private:
  double energy(const Eigen::VectorXd& x) const {
    const Eigen::Index n = x.size() / 2;
    const ParticleSystem& system = problem_.system();
    return system.potential->value(x.head(n)) + 0.5 * x.tail(n).cwiseAbs2().cwiseQuotient(system.mass).sum();
  }

  Problem& problem_;
  Eigen::MatrixXd flow_, work_;
  Eigen::MatrixXd action_;  // of a contact system, otherwise empty
  double growth_ = 1.0;
  Eigen::MatrixXd root_;  // square root of the covariance of a step's noise
};

class AdaptiveFlow final : public Flow {
 public:
  AdaptiveFlow(Problem& problem, const AssembledSystem& system, double h, double tolerance)
      : problem_(problem),
        system_(system),
        h_(h),
        actions_(actions_of(problem)),
        velocity_(static_cast<std::size_t>(system.size())),
        displacement_(velocity_.size()),
        state_(2 * velocity_.size() + static_cast<std::size_t>(actions_ + works_of(system))),
        solver_(
            system.size(), actions_, works_of(system),
            [this](double t, std::span<const double> x, std::span<double> rate) { derive(t, x, rate); }, tolerance) {}

  bool advance(Phase& phase, std::int64_t steps) override {
    const auto n = static_cast<Eigen::Index>(velocity_.size());
    const Eigen::Index particles = problem_.system().q0.size();
    Eigen::Map<Eigen::VectorXd> x(state_.data(), static_cast<Eigen::Index>(state_.size()));
    double* const works = state_.data() + 2 * n + actions_;
    std::copy(phase.x.begin(), phase.x.end(), state_.begin());
    std::copy(phase.p.begin(), phase.p.end(), state_.begin() + n);
    if (actions_ > 0) x[2 * n] = phase.z;
    works[0] = phase.dissipated;
    if (system_.has_applied()) works[1] = phase.work;
    bool solved = true;
    for (std::int64_t i = 0; i < steps && solved; ++i) {
      const double begin = problem_.clock.at(static_cast<double>(i)),
                   end = problem_.clock.at(static_cast<double>(i + 1));
      std::copy(problem_.v.begin(), problem_.v.end(), velocity_.begin());
      solved = advance_step(begin, end);
      if (LegendreTransform* legendre = problem_.legendre(); legendre != nullptr && solved) {
        solved = !legendre->find_velocity(x.head(particles), x.segment(n, particles), end, action(state_), problem_.v);
      }
    }
    std::copy_n(state_.begin(), n, phase.x.begin());
    std::copy_n(state_.begin() + n, n, phase.p.begin());
    phase.z = action(state_);
    phase.dissipated = works[0];
    if (system_.has_applied()) phase.work = works[1];
    return solved;
  }

  /// The numbers of its internal state, on any rank.
  static std::size_t memory_size(const Problem& problem, const AssembledSystem& system) {
    return ReferenceIntegrator::memory_size(system.size(), actions_of(problem), works_of(system));
  }
  std::vector<double> internal_state() const override { return solver_.memory(); }
  void set_internal_state(std::span<const double> state) override { solver_.set_memory(state); }

 private:
  static int actions_of(const Problem& problem) { return problem.system().contact ? 1 : 0; }
  static int works_of(const AssembledSystem& system) { return system.has_applied() ? 2 : 1; }
  double action(std::span<const double> x) const { return actions_ > 0 ? x[2 * velocity_.size()] : 0.0; }

  /// From kink to kink, on each side of which forces are evaluated on that side.
  bool advance_step(double begin, double end) {
    const double margin = 4.0 * std::numeric_limits<double>::epsilon() * std::max(std::abs(begin), std::abs(end));
    const double step = solver_.step();
    double from = begin;
    earliest_ = -infinity;
    latest_ = infinity;
    for (const double kink : kinks_between(begin - margin, end + margin)) {
      latest_ = kink - margin;
      if (kink >= end - margin) break;
      if (kink > from + margin) {
        if (!solver_.advance(state_, from, kink - from)) return false;
        solver_.set_step(step);
        from = kink;
      }
      earliest_ = kink + margin;
      latest_ = infinity;
    }
    return solver_.advance(state_, from, from == begin ? h_ : end - from);
  }

  std::vector<double> kinks_between(double from, double to) const {
    const ParticleSystem& system = problem_.system();
    std::vector<double> all;
    const auto append = [&](const auto& force) {
      const std::vector<double> kinks = kinks_of(force.get(), from, to);
      all.insert(all.end(), kinks.begin(), kinks.end());
    };
    append(system.drive);
    append(system.applied);
    append(system.lagrangian);
    std::ranges::sort(all);
    return all;
  }

  void derive(double t, std::span<const double> x, std::span<double> rate) {
    t = std::max(earliest_, std::min(t, latest_));
    const std::size_t n = velocity_.size();
    const Eigen::VectorXd& start = problem_.system().q0;
    const double z = action(x);
    const std::span<const double> p = x.subspan(n, n);
    std::copy_n(x.begin(), n, displacement_.begin());
    for (Eigen::Index i = 0; i < start.size(); ++i) displacement_[static_cast<std::size_t>(i)] -= start[i];
    system_.find_velocities(t, z, displacement_, p, velocity_);
    const std::span<double> force = rate.subspan(n, n),
                            works = rate.subspan(2 * n + static_cast<std::size_t>(actions_));
    system_.force(displacement_, force);
    // Mobilities act on the forces of the springs only, so the losses are added first.
    works[0] = system_.add_losses(displacement_, velocity_, force);
    system_.add_magnetic(velocity_, force);
    if (system_.has_applied() || actions_ > 0) {
      const AssembledSystem::AppliedRates rates = system_.add_applied(t, z, displacement_, p, velocity_, force);
      works[0] += rates.loss;
      if (actions_ > 0) rate[2 * n] = rates.action;
      if (system_.has_applied()) works[1] = rates.work;
    }
    std::copy(velocity_.begin(), velocity_.end(), rate.begin());
  }

  Problem& problem_;
  const AssembledSystem& system_;
  double h_;
  int actions_;
  double earliest_ = -infinity, latest_ = infinity;  // times at which forces are evaluated
  std::vector<double> velocity_, displacement_, state_;
  ReferenceIntegrator solver_;
};

/// The momentum that leads from q, the start, to `second` in one step; nothing where Newton's method fails. Its
/// derivatives are differences, so that it converges linearly, by about eight digits an iteration.
std::optional<Eigen::VectorXd> momentum_between(Flow& flow, const Eigen::VectorXd& q, const Eigen::VectorXd& second,
                                                Eigen::VectorXd p) {
  const auto error = [&](const Eigen::VectorXd& momentum) -> Eigen::VectorXd {
    Phase phase{{q.begin(), q.end()}, {momentum.begin(), momentum.end()}};
    const double scale = flow.advance(phase, 1) ? 1.0 : std::nan("");
    return scale * (Eigen::Map<const Eigen::VectorXd>(phase.x.data(), q.size()) - second);
  };
  const double scale = q.norm() + second.norm();
  double previous = infinity;
  for (int iteration = 0; iteration < 50; ++iteration) {
    const Eigen::VectorXd residual = error(p);
    const double norm = residual.norm();
    if (!std::isfinite(norm)) return std::nullopt;
    // The momentum is exact, or only round-off is left.
    if (norm == 0.0 || (norm >= 0.5 * previous && norm <= 1e-12 * scale)) return p;
    previous = norm;
    const double increment = 1e-5 * (1.0 + p.norm());
    Eigen::MatrixXd jacobian(p.size(), p.size());
    for (Eigen::Index i = 0; i < p.size(); ++i) {
      const Eigen::VectorXd change = increment * Eigen::VectorXd::Unit(p.size(), i);
      jacobian.col(i) = (error(p + change) - error(p - change)) / (2.0 * increment);
    }
    p -= Lu(jacobian).solve(residual);
  }
  return std::nullopt;
}

class ExactStepper final : public Stepper {
 public:
  ExactStepper(Problem& problem, double h, double tolerance)
      : problem_(problem), h_(h), tolerance_(tolerance), system_(problem, LumpedNetwork::no_limit) {
    problem.clock.h = h;
    if (!system_.is_complete()) throw std::logic_error("the exact flow supports linear environments only");
    if (problem.initial_q1 && problem.communicator().is_root()) {
      const Eigen::VectorXd guess = system_.mass().cwiseProduct(*problem.initial_q1 - problem.q) / h;
      const std::unique_ptr<Flow> flow = make_flow();
      const std::optional<Eigen::VectorXd> p = momentum_between(*flow, problem.q, *problem.initial_q1, guess);
      has_start_ = p.has_value();
      if (p) problem.p = *p;
    }
    problem.initial_q1.reset();
  }

  std::optional<Failure> advance(std::int64_t steps, const AdvanceHints&) override {
    if (!problem_.communicator().broadcast(has_start_)) {
      return Failure{1, 0.0, "no momentum was found that leads from `q0` to `q1` in one step"};
    }
    Phase phase;
    std::vector<std::size_t> ends;
    const bool root = problem_.communicator().is_root();
    if (root) {
      phase.x.assign(problem_.q.begin(), problem_.q.end());
      phase.p.assign(problem_.p.begin(), problem_.p.end());
    }
    for (const auto& environment : problem_.environments()) {
      std::vector<double> w, p;
      environment->gather_state(w, p);
      phase.x.insert(phase.x.end(), w.begin(), w.end());
      phase.p.insert(phase.p.end(), p.begin(), p.end());
      ends.push_back(phase.x.size());
    }
    bool solved = true;
    if (root) {
      if (!flow_) flow_ = make_flow();
      phase.z = problem_.z;
      phase.dissipated = problem_.dissipated;
      phase.work = problem_.work;
      solved = flow_->advance(phase, steps);
      problem_.z = phase.z;
      problem_.dissipated = phase.dissipated;
      problem_.work = phase.work;
      const int n = system_.particle_dofs();
      problem_.q = Eigen::Map<Eigen::VectorXd>(phase.x.data(), n);
      problem_.p = Eigen::Map<Eigen::VectorXd>(phase.p.data(), n);
    }
    auto begin = root ? static_cast<std::size_t>(system_.particle_dofs()) : 0;
    for (std::size_t e = 0; e < ends.size(); ++e) {
      const std::size_t count = ends[e] - begin;
      problem_.environments()[e]->scatter_state(std::span(phase.x).subspan(begin, count),
                                                std::span(phase.p).subspan(begin, count));
      begin = ends[e];
    }
    problem_.clock.steps += steps;
    if (problem_.communicator().broadcast(solved)) return std::nullopt;
    const std::string why = problem_.communicator().broadcast(system_.why_no_velocities());
    return Failure{problem_.clock.steps, 0.0,
                   "the adaptive reference solver could not meet its tolerance" + (why.empty() ? "" : ": " + why)};
  }

  std::int64_t block_granularity() const override { return has_modes() ? 0 : 1; }

  std::vector<double> internal_state() const override {
    return flow_ ? flow_->internal_state() : std::vector<double>();
  }

  void set_internal_state(std::span<const double> state) override {
    if (state.empty()) return;
    const bool is_adaptive = !has_modes() && !has_matrix();
    if (!is_adaptive || state.size() != AdaptiveFlow::memory_size(problem_, system_))
      throw std::out_of_range("stepper");
    if (!problem_.communicator().is_root()) return;
    flow_ = make_flow();
    flow_->set_internal_state(state);
  }

 private:
  /// Diagonalisation takes a time proportional to the cube of this: seconds here, minutes at three times as much.
  static constexpr int largest_modal_system = 1500;

  bool has_modes() const {
    return system_.is_linear() && !system_.is_damped() && problem_.system().magnetic_field == 0.0 &&
           !problem_.system().contact && system_.size() <= largest_modal_system;
  }
  bool has_matrix() const { return system_.is_linear() && problem_.stepped_environments().empty(); }
  std::unique_ptr<Flow> make_flow() const {
    if (problem_.noise() != nullptr && !has_matrix())
      throw std::logic_error("the exact flow supports white noise on linear systems only");
    if (has_modes()) return std::make_unique<ModalFlow>(problem_.system().q0, system_, h_);
    if (has_matrix()) {
      return std::make_unique<MatrixExponentialFlow>(problem_, system_, h_);
    }
    return std::make_unique<AdaptiveFlow>(problem_, system_, h_, tolerance_);
  }

  Problem& problem_;
  double h_, tolerance_;
  AssembledSystem system_;
  std::unique_ptr<Flow> flow_;  // on rank 0
  bool has_start_ = true;       // whether a momentum leads to the second position
};

}  // namespace

std::unique_ptr<Stepper> make_exact_stepper(Problem& problem, double h, double tolerance) {
  return std::make_unique<ExactStepper>(problem, h, tolerance);
}

}  // namespace bathline
