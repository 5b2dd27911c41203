// Whether a discrete step is conformally contact: the contact form and the momenta of symmetries, step by step.
//
//   Phi^* eta = sigma eta,  eta = dz - p dq,  sigma = 1 + D_z L_d;   J(q+, p+) = sigma J(q, p) for a symmetry's J
//
// With the derivatives of the step from q to q+ by the implicit function theorem, out of second derivatives of L_d:
//
//   sigma dp = -D1 D1 L_d dq - D1 D2 L_d dq+,   dz+ = D1 L_d dq + D2 L_d dq+ + sigma dz
//
// Source: simoes2020, section 3, Theorem 3.11. The states are those of the integrator, so that its momenta are measured
// as well. Symmetries: displacements of a free particle, rotations in the plane, since potentials act towards the
// origin.
#include <algorithm>
#include <cmath>

#include "advance/contact_lagrangian.hpp"
#include "driver/record_times.hpp"
#include "driver/time_loop.hpp"
#include "study/catalogue.hpp"
#include "study/outside.hpp"

namespace bathline {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// What rank 0 has measured of one case, each the largest since the record before.
struct Measured {
  std::vector<double> forms, momenta;
  double factor = 0.0;
};

class ContactFormStudy final : public Study {
 public:
  explicit ContactFormStudy(const Experiment& experiment) : experiment_(experiment) {}

  std::optional<CaseFailure> run(ResultFile& file, Progress& progress, Checkpoints& checkpoints) override {
    if (std::optional<CaseFailure> failure = run_trajectories(experiment_, file, progress, checkpoints, {}))
      return failure;
    for (const Case& one : experiment_.cases()) {
      const auto* scheme = std::get_if<HerglotzScheme>(&one.scheme);
      if (scheme == nullptr) continue;
      Measured measured;
      progress.begin(one.label + ", contact form", one.steps);
      const std::optional<Failure> failure = follow(one, *scheme, progress, measured);
      progress.end();
      if (failure) return CaseFailure{one.label, *failure};
      write(file, one, measured);
    }
    return std::nullopt;
  }

 private:
  /// Largest coefficient of Phi^* eta - sigma eta for the step from (q, p) to the problem's state.
  static double form_defect(const ContactLagrangian& lagrangian, const VectorXd& q, const VectorXd& p,
                            const VectorXd& next, const VectorXd& next_p) {
    const VectorXd way = next - q;
    const double sigma = lagrangian.sigma();
    const ContactLagrangian::Curvatures curvatures = lagrangian.curvatures(q, way);
    const Eigen::PartialPivLU<MatrixXd> mixed(curvatures.mixed);
    const MatrixXd next_by_q = -mixed.solve(curvatures.first);
    const MatrixXd next_by_p = -sigma * mixed.solve(MatrixXd::Identity(q.size(), q.size()));
    const VectorXd slip = lagrangian.second_slope(q, way) - next_p;
    const VectorXd by_q = lagrangian.first_slope(q, way) + sigma * p + next_by_q.transpose() * slip;
    const VectorXd by_p = next_by_p.transpose() * slip;
    // The coefficient of dz is sigma on both sides, since q+ and p+ do not depend on z.
    return std::max(by_q.cwiseAbs().maxCoeff(), by_p.cwiseAbs().maxCoeff());
  }

  /// The momenta of the symmetries.
  VectorXd symmetry_momenta(const VectorXd& q, const VectorXd& p) const {
    if (is_free_) return p;
    if (is_planar_) return VectorXd::Constant(1, q[0] * p[1] - q[1] * p[0]);
    return VectorXd::Zero(1);
  }

  /// @note Collective.
  std::optional<Failure> follow(const Case& one, const HerglotzScheme& scheme, Progress& progress, Measured& measured) {
    Problem problem = experiment_.make_problem(one);
    problem.prepare();
    const std::unique_ptr<Stepper> stepper = make_stepper(one.scheme, problem, one.step);
    const std::unique_ptr<ContactLagrangian> lagrangian = make_contact_lagrangian(scheme, problem.system(), one.step);
    MatrixXd hessian(problem.q.size(), problem.q.size());
    problem.system().potential->hessian(problem.q, hessian);
    is_free_ = problem.system().potential->is_quadratic() && hessian.isZero(0.0);
    is_planar_ = problem.system().particles == 1 && problem.system().axes == 2;
    measured.factor = lagrangian->sigma();
    const std::int64_t every = experiment_.output().every;
    double form = 0.0, momentum = 0.0;
    for (std::int64_t step = 1; step <= one.steps; ++step) {
      const VectorXd q = problem.q, p = problem.p;
      if (std::optional<Failure> failure = stepper->advance(1)) return failure;
      progress.update(step);
      if (!problem.communicator().is_root()) continue;
      form = std::max(form, form_defect(*lagrangian, q, p, problem.q, problem.p));
      const VectorXd change = symmetry_momenta(problem.q, problem.p) - lagrangian->sigma() * symmetry_momenta(q, p);
      momentum = std::max(momentum, change.cwiseAbs().maxCoeff());
      if (step % every != 0 && step != one.steps) continue;
      measured.forms.push_back(form);
      measured.momenta.push_back(momentum);
      form = momentum = 0.0;
    }
    return std::nullopt;
  }

  void write(ResultFile& file, const Case& one, const Measured& measured) const {
    const std::string group = "contact-form/" + one.label;
    const Dimension time = record_times(experiment_, one);
    file.number(group, "conformal_factor", "1", "sigma, by which a step scales the contact form", measured.factor);
    file.array(
        group,
        {"form_defect", "kg m/s", "largest coefficient of the new contact form less sigma times the old", {"time"}},
        std::span(&time, 1), measured.forms);
    file.array(group,
               {"momentum_defect", "kg m/s", "largest momentum of a symmetry less sigma times that before", {"time"}},
               std::span(&time, 1), measured.momenta);
    file.flush();
  }

  const Experiment& experiment_;
  bool is_free_ = false;
  bool is_planar_ = false;
};

std::unique_ptr<Study> make(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  refuse_outside(recipe, mistakes);
  const std::vector<Case>& cases = experiment.cases();
  const auto is_followed = [](const Case& one) { return std::holds_alternative<HerglotzScheme>(one.scheme); };
  if (std::none_of(cases.begin(), cases.end(), is_followed)) {
    mistakes.add(recipe.study.where("kind"),
                 "a contact-form study follows runs of `herglotz`; this recipe has no [[integrators]] with name = "
                 "\"herglotz\"");
  }
  return std::make_unique<ContactFormStudy>(experiment);
}

}  // namespace

StudyKind contact_form_kind() {
  return {{.name = "contact-form",
           .summary = "the contact form and the momenta of symmetries under the steps of a contact system",
           .equation = "Phi^* eta = sigma eta,  eta = dz - p dq;  J(q+, p+) = sigma J(q, p)",
           .source = "simoes2020, section 3, Theorem 3.11",
           .notes =
               "Every run of `herglotz` is followed. Group contact-form/<label>: conformal_factor, sigma; form_defect, "
               "the largest coefficient of Phi^* eta - sigma eta with the exact derivatives of the step; "
               "momentum_defect, the same of the momentum of a free particle, and with two axes of the angular "
               "momentum (zero where there is no symmetry)."},
          make};
}

}  // namespace bathline
