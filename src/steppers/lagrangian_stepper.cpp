// Explicit Runge-Kutta methods on q' = v, p' = dL/dq + dL/dz p + f, z' = L, where v solves dL/dv(q, v, t, z) = p.
// Source: simoes2020, section 2, for L that depends on z.
//
// On rank 0, without environments. The works are quadratures with the weights b.
// Tested by tests/steppers/lagrangian_test.cpp.
#include <stdexcept>

#include "steppers/stepper.hpp"

namespace bathline {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

class LagrangianStepper final : public Stepper {
 public:
  LagrangianStepper(const ExplicitScheme& scheme, Problem& problem, double h)
      : scheme_(scheme), problem_(problem), h_(h), nodes_(scheme.nodes()) {
    if (scheme.b.empty() || !problem.stepped_environments().empty()) {
      throw std::logic_error(
          "a Lagrangian of any form supports neither splittings nor, with explicit methods, environments");
    }
    problem.clock.h = h;
    const auto stages = static_cast<Eigen::Index>(scheme.b.size());
    velocities_ = forces_ = MatrixXd::Zero(problem.q.size(), stages);
    actions_ = VectorXd::Zero(stages);
  }

  std::optional<Failure> advance(std::int64_t steps, const AdvanceHints&) override {
    std::optional<std::string> reason;
    for (std::int64_t i = 0; i < steps && problem_.communicator().is_root() && !reason; ++i) {
      reason = step();
      if (!reason) ++problem_.clock.steps;
    }
    if (!problem_.communicator().is_root()) problem_.clock.steps += steps;
    const std::string message = problem_.communicator().broadcast(reason.value_or(""));
    if (message.empty()) return std::nullopt;
    std::int64_t failed_step = problem_.clock.steps + 1;
    problem_.communicator().broadcast(std::span<std::int64_t>(&failed_step, 1));
    return Failure{failed_step, 0.0, message};
  }

 private:
  std::optional<std::string> step() {
    const Eigen::Index n = problem_.q.size(), stages = velocities_.cols();
    VectorXd v = problem_.v, x(2 * n + 2), gradient(2 * n + 2), force(n);
    for (Eigen::Index i = 0; i < stages; ++i) {
      VectorXd q = problem_.q, p = problem_.p;
      double z = problem_.z;
      const auto& row = scheme_.a[static_cast<std::size_t>(i)];
      for (std::size_t j = 0; j < row.size(); ++j) {
        q += h_ * row[j] * velocities_.col(static_cast<Eigen::Index>(j));
        p += h_ * row[j] * forces_.col(static_cast<Eigen::Index>(j));
        z += h_ * row[j] * actions_[static_cast<Eigen::Index>(j)];
      }
      const double t = problem_.clock.at(nodes_[static_cast<std::size_t>(i)]);
      const double weight = h_ * scheme_.b[static_cast<std::size_t>(i)];
      if (std::optional<std::string> reason = problem_.legendre()->find_velocity(q, p, t, z, v)) return reason;
      x << q, v, t, z;
      problem_.system().lagrangian->gradient(x.data(), gradient.data());
      velocities_.col(i) = v;
      forces_.col(i) = gradient.head(n);
      problem_.work -= weight * gradient[2 * n];
      if (const std::optional<Contact>& contact = problem_.system().contact) {
        actions_[i] = problem_.system().lagrangian->value(x.data());
        forces_.col(i) += gradient[2 * n + 1] * p;
        problem_.dissipated -= weight * (gradient[2 * n + 1] * (p.dot(v) - actions_[i]) + contact->gamma * actions_[i]);
      }
      if (problem_.is_damped()) {
        problem_.drag(q, v, force);
        forces_.col(i) += force;
        problem_.dissipated -= weight * v.dot(force);
        if (problem_.heat.size() > 0) problem_.heat -= weight * v.cwiseProduct(problem_.friction(v, force));
      }
      if (problem_.system().is_driven()) {
        problem_.applied(q, v, t, force);
        forces_.col(i) += force;
        problem_.work += weight * v.dot(force);
      }
    }
    const Eigen::Map<const VectorXd> b(scheme_.b.data(), stages);
    problem_.q += h_ * velocities_ * b;
    problem_.p += h_ * forces_ * b;
    problem_.z += h_ * actions_.dot(b);
    return problem_.legendre()->find_velocity(problem_.q, problem_.p, problem_.clock.at(1.0), problem_.z, problem_.v);
  }

  ExplicitScheme scheme_;
  Problem& problem_;
  double h_;
  std::vector<double> nodes_;
  MatrixXd velocities_, forces_;  // a column a stage
  VectorXd actions_;              // L, by stage
};

}  // namespace

std::unique_ptr<Stepper> make_lagrangian_stepper(const ExplicitScheme& scheme, Problem& problem, double h) {
  return std::make_unique<LagrangianStepper>(scheme, problem, h);
}

}  // namespace bathline
