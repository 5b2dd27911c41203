// Whether a discrete step is conformally contact: the contact form and the momenta of symmetries at every step.
//
//   Phi^* eta = sigma eta,  eta = dz - p dq,  sigma = 1 + D_z L_d;   J(q+, p+) = sigma J(q, p) for a symmetry's J
//
// The derivatives of the step from q to q+ follow from second derivatives of L_d by the implicit function theorem:
//
//   sigma dp = -D1 D1 L_d dq - D1 D2 L_d dq+,   dz+ = D1 L_d dq + D2 L_d dq+ + sigma dz
//
// For methods with stages see study/theory/contact_step.hpp. Source: simoes2020, section 3, Theorem 3.11.
// The states are those of the integrator, so that its momenta are measured as well. Symmetries are translations of a
// free particle, rotations in the plane, since potentials are central, and cyclic coordinates of a Lagrangian.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "steppers/contact_lagrangian.hpp"
#include "driver/output_times.hpp"
#include "solve/dense.hpp"
#include "study/catalogue.hpp"
#include "study/memory_check.hpp"
#include "study/shared_checks.hpp"
#include "study/step_comparison.hpp"
#include "study/theory/contact_step.hpp"

namespace bathline {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The effect of the step from one state to the next on the contact form; nothing where Newton's method does not
/// converge.
using FormOfStep = std::function<std::optional<ContactFormStep>(const ParticleState& from, const ParticleState& to)>;

bool has_contact_form(const Case& this_case) {
  return std::holds_alternative<HerglotzScheme>(this_case.scheme) ||
         std::holds_alternative<PartitionedRungeKutta>(this_case.scheme);
}

class ContactFormStudy final : public SecondRunStudy {
 public:
  using SecondRunStudy::SecondRunStudy;

 private:
  bool is_examined(const Case& this_case) const override { return has_contact_form(this_case); }

  /// Largest coefficient of Phi^* eta - sigma eta for the step from (q, p) to the problem's state.
  static double form_defect(const ContactLagrangian& lagrangian, const VectorXd& q, const VectorXd& p,
                            const VectorXd& next, const VectorXd& next_p) {
    const VectorXd displacement = next - q;
    const double sigma = lagrangian.sigma();
    const ContactLagrangian::Hessians hessians = lagrangian.hessians(q, displacement);
    const Lu mixed(hessians.mixed);
    const MatrixXd next_by_q = -mixed.solve(hessians.first);
    const MatrixXd next_by_p = -sigma * inverse(hessians.mixed);
    const VectorXd momentum_residual = lagrangian.d2(q, displacement) - next_p;
    const VectorXd by_q = lagrangian.d1(q, displacement) + sigma * p + next_by_q.transpose() * momentum_residual;
    const VectorXd by_p = next_by_p.transpose() * momentum_residual;
    // The coefficient of dz is sigma on both sides, since q+ and p+ do not depend on z.
    return std::max(by_q.cwiseAbs().maxCoeff(), by_p.cwiseAbs().maxCoeff());
  }

  /// The momenta of the symmetries.
  VectorXd symmetry_momenta(const VectorXd& q, const VectorXd& p) const {
    if (is_free_) return p;
    if (is_planar_) return VectorXd::Constant(1, q[0] * p[1] - q[1] * p[0]);
    const Lagrangian* lagrangian = experiment_.system().lagrangian.get();
    VectorXd momenta = VectorXd::Zero(p.size());
    for (Eigen::Index i = 0; i < p.size() && lagrangian != nullptr; ++i) {
      if (!lagrangian->depends_on_position(static_cast<int>(i))) momenta[i] = p[i];
    }
    return momenta;
  }

  static FormOfStep form_of_step(const Case& this_case, const Problem& problem) {
    if (const auto* stages = std::get_if<PartitionedRungeKutta>(&this_case.scheme)) {
      return [step = ContactStep(*stages, problem.system().lagrangian, this_case.step)](
                 const ParticleState& from, const ParticleState& to) { return step.form(from, to); };
    }
    const std::shared_ptr<const ContactLagrangian> lagrangian =
        make_contact_lagrangian(std::get<HerglotzScheme>(this_case.scheme), problem.system(), this_case.step);
    return [lagrangian](const ParticleState& from, const ParticleState& to) -> std::optional<ContactFormStep> {
      return ContactFormStep{lagrangian->sigma(), form_defect(*lagrangian, from.q, from.p, to.q, to.p)};
    };
  }

  std::optional<Failure> examine(const Case& this_case, ResultFile& file, Progress& progress) override {
    LargestValues defects(2);    // of the form and of the momenta
    std::vector<double> scales;  // by record, the product of all factors so far
    Problem problem = experiment_.make_problem(this_case);
    problem.prepare();
    const FormOfStep form_of = form_of_step(this_case, problem);
    const ParticleSystem& system = experiment_.system();
    MatrixXd hessian(problem.q.size(), problem.q.size());
    system.potential->hessian(problem.q, hessian);
    is_free_ = !system.lagrangian && system.potential->is_quadratic() && hessian.isZero(0.0);
    is_planar_ = !system.lagrangian && system.particles == 1 && system.axes == 2;
    double scale = 1.0;
    const auto compare = [&](const ParticleState& before, const ParticleState& after) {
      const std::optional<ContactFormStep> form = form_of(before, after);
      if (!form) return false;
      scale *= form->factor;
      defects.add(0, form->defect);
      defects.add(1,
                  VectorXd(symmetry_momenta(after.q, after.p) - form->factor * symmetry_momenta(before.q, before.p)));
      return true;
    };
    const auto end_record = [&] {
      defects.end_record();
      scales.push_back(scale);
    };
    const std::optional<Failure> failure = compare_steps(
        this_case, experiment_.output().every, problem, progress,
        {this_case.name + ", contact form", "the derivatives of the step are unknown: Newton's method did not converge",
         compare, end_record});
    if (failure) return failure;
    const GroupWriter out(file, "contact-form/" + this_case.name);
    const Dimension time = output_times(experiment_, this_case);
    if (const auto* scheme = std::get_if<HerglotzScheme>(&this_case.scheme)) {
      const Problem problem = experiment_.make_problem(this_case);
      out.number("conformal_factor", "1", "sigma, the factor of the contact form in every step",
                 make_contact_lagrangian(*scheme, problem.system(), this_case.step)->sigma());
    }
    out.array("conformal_scale", "1", "factor of the contact form since the start, the product of all sigma", {time},
              scales);
    out.array("form_defect", "kg m/s", "largest coefficient of the new contact form less sigma times the old", {time},
              defects.by_record(0));
    out.array("momentum_defect", "kg m/s", "largest momentum of a symmetry less sigma times its previous value", {time},
              defects.by_record(1));
    return std::nullopt;
  }

  bool is_free_ = false;
  bool is_planar_ = false;
};

std::unique_ptr<Study> make_contact_form(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  const std::vector<Case>& cases = experiment.cases();
  check_needs({.no_external_forces = true,
               .examined = "[[integrators]] with the methods `herglotz`, `gauss`, `lobatto` and `gamma`",
               .has_examined = std::ranges::any_of(cases, has_contact_form)},
              recipe, experiment, mistakes);
  check_memory_of_records(16.0, false, recipe, experiment, mistakes);
  const ParticleSystem& system = experiment.system();
  for (const Case& this_case : cases) {
    if (system.contact || !std::holds_alternative<PartitionedRungeKutta>(this_case.scheme)) continue;
    mistakes.add(this_case.options.where("method"),
                 fmt::format("`{}` advances no action z for this system, so that there is no contact form; use a "
                             "system of kind `contact` or a Lagrangian with z",
                             this_case.method->entry.name));
  }
  if (system.contact && system.lagrangian && system.damping && !system.damping->isZero(0.0)) {
    mistakes.add(recipe.system.where("damping"),
                 "damping: the contact form is scaled by dL/dz alone; leave out the damping matrix");
  }
  return std::make_unique<ContactFormStudy>(experiment);
}

}  // namespace

StudyKind contact_form_kind() {
  return {.entry = {.name = "contact-form",
                    .summary =
                        "change of the contact form and of the momenta of symmetries in the steps of a contact system",
                    .equation = "Phi^* eta = sigma eta,  eta = dz - p dq;  J(q+, p+) = sigma J(q, p)",
                    .source = "simoes2020, section 3, Theorem 3.11",
                    .notes =
                        "Examines every run of `herglotz`, `gauss`, `lobatto` and `gamma`. Group "
                        "contact-form/<integrator>: form_defect, the largest coefficient of Phi^* eta - sigma eta with "
                        "the exact derivatives of the step; momentum_defect, the largest J(q+, p+) - sigma J(q, p) of "
                        "the momentum of a free particle, of the angular momentum in two axes, and of the momenta of "
                        "cyclic coordinates of a typed Lagrangian (zero without a symmetry); conformal_scale, the "
                        "product of all sigma; and for `herglotz` conformal_factor, the sigma of every step."},
          .make = make_contact_form,
          .takes_any_lagrangian = true};
}

}  // namespace bathline
