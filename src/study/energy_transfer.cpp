// Energy transfer of linear open systems by Lyapunov equations, exact and for every integrator.
//
//   exact:    A^T W + W A + C^T D C = 0,       transferred x0^T (W - e^{A^T t} W e^{A t}) x0, by its integral
//   discrete: W_d = h C^T D C + A_d^T W_d A_d, transferred x0^T W_d(j) x0, W_d(j) = h C^T D C + A_d^T W_d(j-1) A_d
//
// Source: limebeer2020, eqs. (27)-(31) and (46)-(51), where C_d^T (D0/h) C_d = h C^T D0 C. State x = (q, v); the
// damping matrix of all particles takes the place of C^T D0 C. A_d comes from stepping unit vectors through the
// integrator.
//
// The sum over steps is a left rectangle rule, which has an error even for the exact flow. With the displacements of
// the steps, (q+ - q)^T D (q+ - q)/h in place of h v^T D v, W_d is W for the midpoint rule (footnote 8 of the paper).
//
// The paper states that Theorem III.1 (f), the sum of stored and transferred energy is constant, has no discrete
// analogue. There is one, with the work x^T R x that the integrator assigns to a step:
//
//   W_s = R + A_d^T W_s A_d,   x_j^T W_s x_j + work of j steps = x_0^T W_s x_0   for every j.
//
// R = h C^T D C with `gamma` = 0, so that W_s = W_d; with the midpoint rule W_s = W, the energy itself.
#include <fmt/format.h>

#include "steppers/step_matrix.hpp"
#include "driver/output_times.hpp"
#include "driver/time_loop.hpp"
#include "solve/dense.hpp"
#include "solve/linear_flow.hpp"
#include "study/catalogue.hpp"
#include "study/shared_checks.hpp"
#include "solve/slowest_motion.hpp"

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

/// Energy that `damping` dissipates by the displacements of a step with the matrix `step`, as a form of the initial
/// state.
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
    for (const Case& this_case : experiment_.cases()) {
      if (this_case.closed) continue;
      Problem problem = experiment_.make_problem(this_case);
      const MatrixXd a = system_matrix(problem);
      MatrixXd dissipation = MatrixXd::Zero(a.rows(), a.cols());
      dissipation.bottomRightCorner(system.size(), system.size()) = problem.damping();
      const MatrixXd w = solve_lyapunov(a, dissipation);
      const std::int64_t every = experiment_.output().every;
      const std::vector<std::int64_t> records = record_steps(this_case, every);
      std::vector<double> times;
      for (const std::int64_t k : records) times.push_back(static_cast<double>(k) * this_case.step);

      const auto flow_over = [&](std::int64_t steps) {
        return linear_flow(a, this_case.step * static_cast<double>(steps), dissipation);
      };
      const LinearFlow flow = flow_over(every);
      Transfer theory{{0.0}, {start.dot(w * start)}};
      VectorXd x = start;
      for (std::size_t i = 1; i < times.size(); ++i) {
        const std::int64_t steps = records[i] - records[i - 1];
        const auto [exponential, work] = steps == every ? flow : flow_over(steps);
        theory.transferred.push_back(theory.transferred.back() + x.dot(work * x));
        x = exponential * x;
        theory.stored.push_back(x.dot(w * x));
      }
      const MatrixXd step = step_matrix(this_case.scheme, problem, this_case.step);
      // W_d exists only if all powers of the step matrix tend to 0.
      const SlowestMotion slowest = slowest_motion_of_steps(step, this_case.step);
      if (!slowest.decays()) {
        return CaseFailure{this_case.name,
                           {0, 0.0,
                            fmt::format("the spectral radius of the step matrix is not below 1, so that its Lyapunov "
                                        "equation has no solution: {}",
                                        describe(slowest))}};
      }
      const MatrixXd w_s = solve_discrete_lyapunov(step, dissipation_form(this_case.scheme, problem, this_case.step));
      if (std::optional<Failure> failure = measure_symmetry(this_case, w_s, file))
        return CaseFailure{this_case.name, *failure};
      file.number("energy-transfer/" + this_case.name, "symmetry_difference", "1", "2-norm of W_s - W",
                  spectral_norm(w_s - w));
      const MatrixXd rate = this_case.step * dissipation;
      const MatrixXd w_d = solve_discrete_lyapunov(step, rate);
      const MatrixXd w_displacements =
          solve_discrete_lyapunov(step, displacement_dissipation_form(step, problem.damping(), this_case.step));
      const Norms norms{spectral_norm(w_d - w), spectral_norm(w_displacements - w), spectral_norm(w)};
      if (std::holds_alternative<ExactFlow>(this_case.scheme)) {
        write(file, this_case.name, times, theory, theory, norms);
        continue;
      }
      Transfer discrete;
      const double total = start.dot(w_d * start);
      double transferred = 0.0;
      x = start;
      for (std::int64_t k = 0; k <= this_case.steps; ++k) {
        if (k % every == 0 || k == this_case.steps) {
          discrete.transferred.push_back(transferred);
          discrete.stored.push_back(total - transferred);
        }
        transferred += x.dot(rate * x);
        x = step * x;
      }
      write(file, this_case.name, times, discrete, theory, norms);
    }
    return std::nullopt;
  }

 private:
  /// Repeats the run of the case and writes x^T W_s x + work over time. @note Collective.
  std::optional<Failure> measure_symmetry(const Case& this_case, const MatrixXd& w_s, ResultFile& file) const {
    Problem problem = experiment_.make_problem(this_case);
    problem.prepare();
    const std::unique_ptr<Stepper> stepper = make_stepper(this_case.scheme, problem, this_case.step);
    const std::vector<std::int64_t> records = record_steps(this_case, experiment_.output().every);
    std::vector<double> times, symmetry;
    for (std::size_t i = 0;; ++i) {
      problem.broadcast_particles();
      VectorXd x(2 * problem.q.size());
      x << problem.q, problem.velocity();
      times.push_back(static_cast<double>(records[i]) * this_case.step);
      symmetry.push_back(x.dot(w_s * x) + problem.energies_of_particles().dissipated);
      if (i + 1 == records.size()) break;
      if (std::optional<Failure> failure = stepper->advance(records[i + 1] - records[i])) return failure;
    }
    GroupWriter(file, "energy-transfer/" + this_case.name)
        .array("energy_symmetry", "J", "x^T W_s x plus the work of damping so far, a constant",
               {{"time", times, "s", "time"}}, symmetry);
    return std::nullopt;
  }

  static void write(ResultFile& file, const std::string& label, const std::vector<double>& times,
                    const Transfer& transfer, const Transfer& theory, const Norms& norms) {
    const GroupWriter out(file, "energy-transfer/" + label);
    const Dimension time{"time", times, "s", "time"};
    std::vector<double> error;
    for (std::size_t i = 0; i < times.size(); ++i) error.push_back(transfer.stored[i] - theory.stored[i]);
    const auto series = [&](const char* name, const char* long_name, const std::vector<double>& values) {
      out.array(name, "J", long_name, {time}, values);
    };
    series("energy_transferred", "energy transferred to the damper, x0^T W_d(j) x0", transfer.transferred);
    series("energy_stored", "stored energy, x0^T (W_d - W_d(j)) x0", transfer.stored);
    series("error_stored", "stored energy minus that of the exact theory", error);
    out.number("norm_difference", "1", "2-norm of W_d - W", norms.difference);
    out.number("norm_difference_displacements", "1", "2-norm of W_d - W, W_d with the displacements of the steps",
               norms.displacements);
    out.number("norm_theory", "1", "2-norm of W", norms.theory);
  }

  const Experiment& experiment_;
};

std::unique_ptr<Study> make_energy_transfer(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  const Section& study = recipe.study;
  check_needs({.linear_system = true,
               .no_external_forces = true,
               .linear_couplings = true,
               .examined = "[[integrators]] with on = \"open\"",
               .has_examined = !std::ranges::all_of(experiment.cases(), &Case::closed)},
              recipe, experiment, mistakes);
  if (!experiment.system().is_linear()) return nullptr;
  for (const Case& this_case : experiment.cases()) {
    if (this_case.closed) continue;
    const SlowestMotion slowest = slowest_motion_of_flow(system_matrix(experiment.make_problem(this_case)));
    if (!slowest.decays()) {
      mistakes.add(study.where("kind"), fmt::format("the open system of `{}` has an undamped mode, so that its "
                                                    "Lyapunov equation has no solution; add damping: {}",
                                                    this_case.name, describe(slowest)));
    }
  }
  return std::make_unique<EnergyTransferStudy>(experiment);
}

}  // namespace

StudyKind energy_transfer_kind() {
  return {{.name = "energy-transfer",
           .summary = "energy transfer of a linear open system by Lyapunov equations, exact and discrete",
           .equation = "A^T W + W A + C^T D C = 0;  W_d = h C^T D C + A_d^T W_d A_d",
           .source = "limebeer2020, eqs. (27)-(31), (46)-(51)",
           .keywords = {"lyapunov equation"},
           .notes = "Group energy-transfer/<integrator>: energy_transferred, energy_stored, error_stored, "
                    "norm_difference, norm_difference_displacements (W_d with the displacements of the steps). For "
                    "`exact` the energies are those of the exact integral, the norms those of the sum over its steps. "
                    "energy_symmetry is x^T W_s x plus the work of damping, with W_s = R + A_d^T W_s A_d and x^T R x "
                    "the work of the integrator in a step; symmetry_difference is the norm of W_s - W."},
          make_energy_transfer};
}

}  // namespace bathline
