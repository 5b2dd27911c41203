// Energy transfer of linear open systems by Lyapunov's equations, exact and for every integrator.
//
//   exact:    A^T W + W A + C^T D C = 0,       transferred x0^T (W - e^{A^T t} W e^{A t}) x0
//   discrete: W_d = h C^T D C + A_d^T W_d A_d, transferred x0^T W_d(j) x0, W_d(j) = h C^T D C + A_d^T W_d(j-1) A_d
//
// Source: limebeer2020, eqs. (27)-(31) and (46)-(51), where C_d^T (D0/h) C_d = h C^T D0 C. State x = (q, v); the
// damping matrix of all particles takes the place of C^T D0 C. A_d comes from stepping unit vectors through the
// integrator.
//
// The sum over steps is a left rectangle, with an error of its own for the exact flow, too. With the displacements of
// the steps, (q+ - q)^T D (q+ - q)/h in place of h v^T D v, W_d is W for the midpoint rule (footnote 8 of the paper).
//
// The paper sees no discrete analogue of Theorem III.1 (f), that what is stored and what is transferred add up to a
// constant. There is one: with the work x^T R x that the integrator itself counts in a step,
//
//   W_s = R + A_d^T W_s A_d,   x_j^T W_s x_j + work of j steps = x_0^T W_s x_0   for every j.
//
// R = h C^T D C with `gamma` = 0, so that W_s = W_d; with the midpoint rule W_s = W, the energy itself.
#include <fmt/format.h>

#include "steppers/step_matrix.hpp"
#include "driver/time_loop.hpp"
#include "solve/dense.hpp"
#include "study/catalogue.hpp"
#include "study/shared_checks.hpp"

namespace bathline {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

struct Transfer {
  std::vector<double> transferred, stored;
};

/// 2-norms of W_d - W with velocities and with displacements, and of W.
struct Norms {
  double difference = 0.0, displacements = 0.0, theory = 0.0;
};

/// What the displacements of one step with the matrix `step` give to `damping`, as a form of the state before it.
MatrixXd displacement_dissipation_form(const MatrixXd& step, const MatrixXd& damping, double h) {
  const MatrixXd displacements = (step - MatrixXd::Identity(step.rows(), step.cols())).topRows(damping.rows());
  return displacements.transpose() * damping * displacements / h;
}

class EnergyTransferStudy final : public Study {
 public:
  explicit EnergyTransferStudy(const Experiment& experiment) : experiment_(experiment) {}

  std::optional<CaseFailure> run(ResultFile& file, Progress& progress, Checkpoints& checkpoints) override {
    if (std::optional<CaseFailure> failure = run_trajectories(experiment_, file, progress, checkpoints, {}))
      return failure;
    const ParticleSystem& system = experiment_.system();
    VectorXd start(2 * system.size());
    start << system.q0, system.v0;
    for (const Case& one : experiment_.cases()) {
      if (one.closed) continue;
      Problem problem = experiment_.make_problem(one);
      const MatrixXd a = system_matrix(problem);
      MatrixXd supply = MatrixXd::Zero(a.rows(), a.cols());
      supply.bottomRightCorner(system.size(), system.size()) = problem.damping();
      const MatrixXd w = solve_lyapunov(a, supply);
      std::vector<double> times;
      const std::int64_t every = experiment_.output().every;
      for (std::int64_t k = 0; k <= one.steps; k += every) times.push_back(static_cast<double>(k) * one.step);

      const MatrixXd flow = matrix_exponential(a * (one.step * static_cast<double>(every)));
      Transfer theory;
      VectorXd x = start;
      for (std::size_t i = 0; i < times.size(); ++i, x = flow * x) {
        theory.stored.push_back(x.dot(w * x));
        theory.transferred.push_back(theory.stored.front() - theory.stored.back());
      }
      const MatrixXd step = step_matrix(one.scheme, problem, one.step);
      // Otherwise nothing is dissipated in the end and W_d does not exist.
      if (spectral_radius(step) >= 1.0) {
        return CaseFailure{one.label,
                           {0, 0.0, "the step matrix is not contracting, so its Lyapunov equation has no solution"}};
      }
      const MatrixXd w_s = solve_discrete_lyapunov(step, dissipation_form(one.scheme, problem, one.step));
      if (std::optional<Failure> failure = follow_symmetry(one, w_s, file)) return CaseFailure{one.label, *failure};
      file.number("energy-transfer/" + one.label, "symmetry_difference", "1", "2-norm of W_s - W",
                  spectral_norm(w_s - w));
      const MatrixXd rate = one.step * supply;
      const MatrixXd w_d = solve_discrete_lyapunov(step, rate);
      const MatrixXd moved =
          solve_discrete_lyapunov(step, displacement_dissipation_form(step, problem.damping(), one.step));
      const Norms norms{spectral_norm(w_d - w), spectral_norm(moved - w), spectral_norm(w)};
      if (std::holds_alternative<ExactFlow>(one.scheme)) {
        write(file, one.label, times, theory, theory, norms);
        continue;
      }
      Transfer discrete;
      const double total = start.dot(w_d * start);
      double transferred = 0.0;
      x = start;
      for (std::int64_t k = 0; k <= one.steps; ++k) {
        if (k % every == 0) {
          discrete.transferred.push_back(transferred);
          discrete.stored.push_back(total - transferred);
        }
        transferred += x.dot(rate * x);
        x = step * x;
      }
      write(file, one.label, times, discrete, theory, norms);
    }
    return std::nullopt;
  }

 private:
  /// Runs the case once more and writes x^T W_s x + work over time. @note Collective.
  std::optional<Failure> follow_symmetry(const Case& one, const MatrixXd& w_s, ResultFile& file) const {
    Problem problem = experiment_.make_problem(one);
    problem.prepare();
    const std::unique_ptr<Stepper> stepper = make_stepper(one.scheme, problem, one.step);
    const std::int64_t every = experiment_.output().every;
    std::vector<double> times, symmetry;
    for (std::int64_t k = 0;; k += every) {
      problem.broadcast_particles();
      VectorXd x(2 * problem.q.size());
      x << problem.q, problem.velocity();
      times.push_back(static_cast<double>(k) * one.step);
      symmetry.push_back(x.dot(w_s * x) + problem.energies_of_particles().dissipated);
      if (k + every > one.steps) break;
      if (std::optional<Failure> failure = stepper->advance(every)) return failure;
    }
    const Dimension time[] = {{"time", times, "s", "time"}};
    file.array("energy-transfer/" + one.label,
               {"energy_symmetry", "J", "x^T W_s x and the work of damping so far, constant", {"time"}}, time,
               symmetry);
    return std::nullopt;
  }

  static void write(ResultFile& file, const std::string& label, const std::vector<double>& times,
                    const Transfer& transfer, const Transfer& theory, const Norms& norms) {
    const std::string group = "energy-transfer/" + label;
    const Dimension time[] = {{"time", times, "s", "time"}};
    std::vector<double> error;
    for (std::size_t i = 0; i < times.size(); ++i) error.push_back(transfer.stored[i] - theory.stored[i]);
    const auto series = [&](const char* name, const char* long_name, const std::vector<double>& values) {
      file.array(group, {name, "J", long_name, {"time"}}, time, values);
    };
    series("energy_transferred", "energy given to the damper, x0^T W_d(j) x0", transfer.transferred);
    series("energy_stored", "energy still stored, x0^T (W_d - W_d(j)) x0", transfer.stored);
    series("error_stored", "stored energy less that of the exact theory", error);
    file.number(group, "norm_difference", "1", "2-norm of W_d - W", norms.difference);
    file.number(group, "norm_difference_displacements", "1",
                "2-norm of W_d - W, W_d with the displacements of the steps", norms.displacements);
    file.number(group, "norm_theory", "1", "2-norm of W", norms.theory);
  }

  const Experiment& experiment_;
};

std::unique_ptr<Study> make_energy_transfer(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  refuse_external_forces(recipe, mistakes);
  const Section& study = recipe.study;
  if (!experiment.system().is_linear()) {
    mistakes.add(study.where("kind"),
                 "an energy-transfer study needs a linear system, and this one's potential is not quadratic");
    return nullptr;
  }
  bool any_open = false;
  for (const Case& one : experiment.cases()) {
    if (one.closed) continue;
    any_open = true;
    const Eigen::MatrixXd motion = system_matrix(experiment.make_problem(one));
    if (spectral_abscissa(motion) >= 0.0) {
      mistakes.add(study.where("kind"),
                   fmt::format("the open system of `{}` does not come to rest (it needs damping that reaches "
                               "every mode), so its Lyapunov equation has no solution",
                               one.label));
    }
  }
  if (!any_open) mistakes.add(study.where("kind"), "an energy-transfer study needs an integrator with on = \"open\"");
  return std::make_unique<EnergyTransferStudy>(experiment);
}

}  // namespace

StudyKind energy_transfer_kind() {
  return {
      {.name = "energy-transfer",
       .summary = "energy transfer of a linear open system by Lyapunov's equations, exact and discrete",
       .equation = "A^T W + W A + C^T D C = 0;  W_d = h C^T D C + A_d^T W_d A_d",
       .source = "limebeer2020, eqs. (27)-(31), (46)-(51)",
       .keywords = {"lyapunov equation"},
       .notes =
           "Group energy-transfer/<open label>: energy_transferred, energy_stored, error_stored, norm_difference, "
           "norm_difference_displacements (W_d with the displacements of the steps). The energies of `exact` are the "
           "exact integral, its norms those of the sum over its steps. energy_symmetry is what x^T W_s x and the "
           "integrator's own work add up to, with W_s = R + A_d^T W_s A_d and x^T R x its work in a step; "
           "symmetry_difference the norm of W_s - W."},
      make_energy_transfer};
}

}  // namespace bathline
