// Whether a discrete step is conformally contact: the contact form and the momenta of symmetries, step by step.
//
//   Phi^* eta = sigma eta,  eta = dz - p dq,  sigma = 1 + D_z L_d;   J(q+, p+) = sigma J(q, p) for a symmetry's J
//
// With the derivatives of the step from q to q+ by the implicit function theorem, out of second derivatives of L_d:
//
//   sigma dp = -D1 D1 L_d dq - D1 D2 L_d dq+,   dz+ = D1 L_d dq + D2 L_d dq+ + sigma dz
//
// and those of methods with stages as in study/theory/contact_step.hpp. Source: simoes2020, section 3, Theorem 3.11.
// The states are those of the integrator, so that its momenta are measured as well. Symmetries: displacements of a free
// particle, rotations in the plane, since potentials act towards the origin, and cyclic coordinates of a Lagrangian.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "steppers/contact_lagrangian.hpp"
#include "driver/output_times.hpp"
#include "driver/time_loop.hpp"
#include "study/catalogue.hpp"
#include "study/shared_checks.hpp"
#include "study/theory/contact_step.hpp"

namespace bathline {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// What rank 0 has measured of one case, each the largest since the record before.
struct MeasuredForm {
  std::vector<double> forms, momenta;
  std::vector<double> scales;  // the product of all factors so far
  double scale = 1.0;
};

/// What the step from one state to the next does to the contact form; nothing where that is not to be found.
using FormOfStep = std::function<std::optional<ContactFormStep>(const ContactPoint& from, const ContactPoint& to)>;

bool is_followed(const Case& one) {
  return std::holds_alternative<HerglotzScheme>(one.scheme) ||
         std::holds_alternative<PartitionedRungeKutta>(one.scheme);
}

class ContactFormStudy final : public Study {
 public:
  explicit ContactFormStudy(const Experiment& experiment) : experiment_(experiment) {}

  std::optional<CaseFailure> run(ResultFile& file, Progress& progress, Checkpoints& checkpoints) override {
    if (std::optional<CaseFailure> failure = run_trajectories(experiment_, file, progress, checkpoints, {}))
      return failure;
    for (const Case& one : experiment_.cases()) {
      if (!is_followed(one)) continue;
      MeasuredForm measured;
      progress.begin(one.label + ", contact form", one.steps);
      const std::optional<Failure> failure = follow(one, progress, measured);
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
    const ContactLagrangian::Hessians curvatures = lagrangian.hessians(q, way);
    const Eigen::PartialPivLU<MatrixXd> mixed(curvatures.mixed);
    const MatrixXd next_by_q = -mixed.solve(curvatures.first);
    const MatrixXd next_by_p = -sigma * mixed.solve(MatrixXd::Identity(q.size(), q.size()));
    const VectorXd slip = lagrangian.d2(q, way) - next_p;
    const VectorXd by_q = lagrangian.d1(q, way) + sigma * p + next_by_q.transpose() * slip;
    const VectorXd by_p = next_by_p.transpose() * slip;
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

  static FormOfStep form_of_step(const Case& one, const Problem& problem) {
    if (const auto* stages = std::get_if<PartitionedRungeKutta>(&one.scheme)) {
      return [step = ContactStep(*stages, problem.system().lagrangian, one.step)](
                 const ContactPoint& from, const ContactPoint& to) { return step.form(from, to); };
    }
    const std::shared_ptr<const ContactLagrangian> lagrangian =
        make_contact_lagrangian(std::get<HerglotzScheme>(one.scheme), problem.system(), one.step);
    return [lagrangian](const ContactPoint& from, const ContactPoint& to) -> std::optional<ContactFormStep> {
      return ContactFormStep{lagrangian->sigma(), form_defect(*lagrangian, from.q, from.p, to.q, to.p)};
    };
  }

  static ContactPoint point_of(const Problem& problem) {
    return {problem.q, problem.p, problem.z, problem.clock.at(0.0), problem.velocity()};
  }

  /// @note Collective.
  std::optional<Failure> follow(const Case& one, Progress& progress, MeasuredForm& measured) {
    Problem problem = experiment_.make_problem(one);
    problem.prepare();
    const std::unique_ptr<Stepper> stepper = make_stepper(one.scheme, problem, one.step);
    const FormOfStep form_of = form_of_step(one, problem);
    const ParticleSystem& system = experiment_.system();
    MatrixXd hessian(problem.q.size(), problem.q.size());
    system.potential->hessian(problem.q, hessian);
    is_free_ = !system.lagrangian && system.potential->is_quadratic() && hessian.isZero(0.0);
    is_planar_ = !system.lagrangian && system.particles == 1 && system.axes == 2;
    const std::int64_t every = experiment_.output().every;
    double form = 0.0, momentum = 0.0;
    std::int64_t failed_step = 0;  // the step whose derivatives were not found
    for (std::int64_t step = 1; step <= one.steps; ++step) {
      const ContactPoint before = point_of(problem);
      if (std::optional<Failure> failure = stepper->advance(1)) return failure;
      progress.update(step);
      if (!problem.communicator().is_root() || failed_step > 0) continue;
      const ContactPoint now = point_of(problem);
      const std::optional<ContactFormStep> found = form_of(before, now);
      if (!found) {
        failed_step = step;
        continue;
      }
      form = std::max(form, found->defect);
      measured.scale *= found->factor;
      const VectorXd change = symmetry_momenta(now.q, now.p) - found->factor * symmetry_momenta(before.q, before.p);
      momentum = std::max(momentum, change.cwiseAbs().maxCoeff());
      if (step % every != 0 && step != one.steps) continue;
      measured.forms.push_back(form);
      measured.momenta.push_back(momentum);
      measured.scales.push_back(measured.scale);
      form = momentum = 0.0;
    }
    problem.communicator().broadcast(std::span<std::int64_t>(&failed_step, 1));
    if (failed_step == 0) return std::nullopt;
    return Failure{failed_step, 0.0, "the derivatives of the step were not found: Newton's method has no solution"};
  }

  void write(ResultFile& file, const Case& one, const MeasuredForm& measured) const {
    const std::string group = "contact-form/" + one.label;
    const Dimension time = output_times(experiment_, one);
    if (const auto* scheme = std::get_if<HerglotzScheme>(&one.scheme)) {
      const Problem problem = experiment_.make_problem(one);
      file.number(group, "conformal_factor", "1", "sigma, by which every step scales the contact form",
                  make_contact_lagrangian(*scheme, problem.system(), one.step)->sigma());
    }
    const auto series = [&](const std::string& name, const char* units, const std::string& long_name,
                            const std::vector<double>& values) {
      file.array(group, {name, units, long_name, {"time"}}, std::span(&time, 1), values);
    };
    series("conformal_scale", "1", "what the contact form has been scaled by since the start, the product of all sigma",
           measured.scales);
    series("form_defect", "kg m/s", "largest coefficient of the new contact form less sigma times the old",
           measured.forms);
    series("momentum_defect", "kg m/s", "largest momentum of a symmetry less sigma times that before",
           measured.momenta);
    file.flush();
  }

  const Experiment& experiment_;
  bool is_free_ = false;
  bool is_planar_ = false;
};

std::unique_ptr<Study> make_contact_form(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  refuse_external_forces(recipe, mistakes);
  const std::vector<Case>& cases = experiment.cases();
  if (std::none_of(cases.begin(), cases.end(), is_followed)) {
    mistakes.add(recipe.study.where("kind"),
                 "a contact-form study follows runs of `herglotz`, gauss, lobatto and gamma; this recipe has no "
                 "[[integrators]] with one of these names");
  }
  const ParticleSystem& system = experiment.system();
  for (const Case& one : cases) {
    if (system.contact || !std::holds_alternative<PartitionedRungeKutta>(one.scheme)) continue;
    mistakes.add(one.options.where("method"),
                 fmt::format("`{}` does not advance an action here, so that there is no contact form: that takes a "
                             "system of kind `contact` or a Lagrangian with z",
                             one.method->entry.name));
  }
  if (system.contact && system.lagrangian && system.damping && !system.damping->isZero(0.0)) {
    mistakes.add(recipe.system.where("damping"),
                 "damping: the contact form is scaled by what L says of z, not by a damping matrix besides");
  }
  return std::make_unique<ContactFormStudy>(experiment);
}

}  // namespace

StudyKind contact_form_kind() {
  return {
      .entry = {.name = "contact-form",
                .summary = "the contact form and the momenta of symmetries under the steps of a contact system",
                .equation = "Phi^* eta = sigma eta,  eta = dz - p dq;  J(q+, p+) = sigma J(q, p)",
                .source = "simoes2020, section 3, Theorem 3.11",
                .notes =
                    "Every run of `herglotz`, gauss, lobatto and gamma is followed. Group contact-form/<integrator>: "
                    "form_defect, "
                    "the largest coefficient of Phi^* eta - sigma eta with the exact derivatives of the step; "
                    "momentum_defect, the same of the momentum of a free particle, with two axes of the angular "
                    "momentum, and of cyclic coordinates of a typed Lagrangian (zero where there is no symmetry); "
                    "conformal_scale, the product of all sigma, and conformal_factor, sigma itself, of `herglotz` on "
                    "systems of kind `contact`, where it is the same for every step."},
      .make = make_contact_form,
      .takes_any_lagrangian = true};
}

}  // namespace bathline
