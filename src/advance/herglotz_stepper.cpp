// The discrete Herglotz equations, on rank 0, with the momenta of the discrete Legendre transforms as state.
//
//   sigma p = -D1 L_d(q, q+),   p+ = D2 L_d(q, q+),   z+ = z + L_d(q, q+, z),   sigma = 1 + D_z L_d
//
// Eliminating p gives D1 L_d(q, q+) + sigma D2 L_d(q-, q) = 0. Source: simoes2020, section 3, with p = p^- = p^+ there.
// Tested by tests/properties/contact_test.cpp.
#include <cmath>
#include <limits>

#include "advance/contact_lagrangian.hpp"
#include "advance/newton_failure.hpp"
#include "advance/stepper.hpp"
#include "solve/particle_newton.hpp"

namespace bathline {

namespace {

class HerglotzStepper final : public Stepper {
 public:
  HerglotzStepper(const HerglotzScheme& scheme, Problem& problem, double h)
      : problem_(problem), h_(h), lagrangian_(make_contact_lagrangian(scheme, problem.system(), h)) {
    problem.clock.h = h;
    if (problem.second_q) {
      problem.p = -lagrangian_->first_slope(problem.q, *problem.second_q - problem.q) / lagrangian_->sigma();
      problem.second_q.reset();
    }
    if (!problem.communicator().is_root()) return;
    newton_ = std::make_unique<ParticleNewton>(
        static_cast<int>(problem.q.size()),
        [this](const Eigen::VectorXd& way, Eigen::VectorXd& residual) {
          residual = lagrangian_->first_slope(problem_.q, way) + lagrangian_->sigma() * problem_.p;
        },
        [this](const Eigen::VectorXd& way, Eigen::MatrixXd& jacobian) {
          const ContactLagrangian::Curvatures curvatures = lagrangian_->curvatures(problem_.q, way);
          jacobian = curvatures.mixed;  // copied: PETSc knows where the numbers of `jacobian` lie
        });
  }

  std::optional<Failure> advance(std::int64_t steps, const Foresight&) override {
    ParticleNewton::Report report;
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
  ParticleNewton::Report step() {
    const OpenSystem& system = problem_.system();
    Eigen::VectorXd way = h_ * problem_.p.cwiseQuotient(system.mass);
    // Round-off in the residual is a few units in the last place of its largest term.
    const double scale = problem_.p.norm() + lagrangian_->first_slope(problem_.q, way).norm();
    if (!std::isfinite(scale)) {
      ParticleNewton::Report report;
      report.residual = scale;
      report.reason = "no finite force at the first guess";
      return report;
    }
    const ParticleNewton::Report report = newton_->solve(way, std::numeric_limits<double>::epsilon() * scale);
    if (!report.converged) return report;
    problem_.z = lagrangian_->value(problem_.q, way) + lagrangian_->sigma() * problem_.z;
    problem_.p = lagrangian_->second_slope(problem_.q, way);
    problem_.q += way;
    // What a damper -gamma M takes at the mean velocity of the step.
    problem_.dissipated -= system.contact->gamma * way.dot(system.mass.cwiseProduct(way)) / h_;
    return report;
  }

  Problem& problem_;
  double h_;
  std::unique_ptr<ContactLagrangian> lagrangian_;
  std::unique_ptr<ParticleNewton> newton_;  // on rank 0
};

}  // namespace

std::unique_ptr<Stepper> make_herglotz_stepper(const HerglotzScheme& scheme, Problem& problem, double h) {
  return std::make_unique<HerglotzStepper>(scheme, problem, h);
}

}  // namespace bathline
