// The discrete Herglotz equations, on rank 0, with the momenta of the discrete Legendre transforms as state.
//
//   sigma p = -D1 L_d(q, q+),   p+ = D2 L_d(q, q+),   z+ = z + L_d(q, q+, z),   sigma = 1 + D_z L_d
//
// Eliminating p gives D1 L_d(q, q+) + sigma D2 L_d(q-, q) = 0. Source: simoes2020, section 3, with p = p^- = p^+ there.
// Tested by tests/properties/contact_test.cpp.
#include <cmath>
#include <limits>

#include "steppers/contact_lagrangian.hpp"
#include "steppers/newton_failure.hpp"
#include "steppers/stepper.hpp"
#include "solve/snes_solver.hpp"

namespace bathline {

namespace {

class HerglotzStepper final : public Stepper {
 public:
  HerglotzStepper(const HerglotzScheme& scheme, Problem& problem, double h)
      : problem_(problem), h_(h), lagrangian_(make_contact_lagrangian(scheme, problem.system(), h)) {
    problem.clock.h = h;
    if (problem.initial_q1) {
      problem.p = -lagrangian_->d1(problem.q, *problem.initial_q1 - problem.q) / lagrangian_->sigma();
      problem.initial_q1.reset();
    }
    if (!problem.communicator().is_root()) return;
    newton_ = std::make_unique<SnesSolver>(
        static_cast<int>(problem.q.size()),
        [this](const Eigen::VectorXd& dq, Eigen::VectorXd& residual) {
          residual = lagrangian_->d1(problem_.q, dq) + lagrangian_->sigma() * problem_.p;
        },
        [this](const Eigen::VectorXd& dq, Eigen::MatrixXd& jacobian) {
          const ContactLagrangian::Hessians hessians = lagrangian_->hessians(problem_.q, dq);
          jacobian = hessians.mixed;  // copied, as PETSc refers to the data of `jacobian`
        });
  }

  std::optional<Failure> advance(std::int64_t steps, const AdvanceHints&) override {
    SnesSolver::Report report;
    report.converged = true;
    const bool is_root = problem_.communicator().is_root();
    for (std::int64_t i = 0; i < steps && report.converged && is_root; ++i) {
      report = step();
      if (report.converged) ++problem_.clock.steps;
    }
    if (!problem_.communicator().broadcast(report.converged)) {
      return newton_failure(problem_.communicator(), problem_.clock.steps + 1, report);
    }
    if (!is_root) problem_.clock.steps += steps;
    return std::nullopt;
  }

 private:
  SnesSolver::Report step() {
    const ParticleSystem& system = problem_.system();
    Eigen::VectorXd dq = h_ * problem_.p.cwiseQuotient(system.mass);
    // Round-off in the residual is a few units in the last place of its largest term.
    const double scale = problem_.p.norm() + lagrangian_->d1(problem_.q, dq).norm();
    if (!std::isfinite(scale)) {
      SnesSolver::Report report;
      report.residual = scale;
      report.reason = "the force is not finite at the first guess";
      return report;
    }
    const SnesSolver::Report report = newton_->solve(dq, std::numeric_limits<double>::epsilon() * scale);
    if (!report.converged) return report;
    problem_.z = lagrangian_->value(problem_.q, dq) + lagrangian_->sigma() * problem_.z;
    problem_.p = lagrangian_->d2(problem_.q, dq);
    problem_.q += dq;
    // The work of a damper -gamma M at the mean velocity of the step.
    problem_.dissipated -= system.contact->gamma * dq.dot(system.mass.cwiseProduct(dq)) / h_;
    return report;
  }

  Problem& problem_;
  double h_;
  std::unique_ptr<ContactLagrangian> lagrangian_;
  std::unique_ptr<SnesSolver> newton_;  // on rank 0
};

}  // namespace

std::unique_ptr<Stepper> make_herglotz_stepper(const HerglotzScheme& scheme, Problem& problem, double h) {
  return std::make_unique<HerglotzStepper>(scheme, problem, h);
}

}  // namespace bathline
