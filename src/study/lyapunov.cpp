// Energy transfer of linear open systems by Lyapunov's equations, exact and for every integrator.
//
//   exact:    A^T W + W A + C^T D C = 0,       transferred x0^T (W - e^{A^T t} W e^{A t}) x0
//   discrete: W_d = h C^T D C + A_d^T W_d A_d, transferred x0^T W_d(j) x0, W_d(j) = h C^T D C + A_d^T W_d(j-1) A_d
//
// Source: limebeer2020, eqs. (27)-(31) and (46)-(51), where C_d^T (D0/h) C_d = h C^T D0 C. State x = (q, v); the
// damping matrix of all particles takes the place of C^T D0 C. A_d comes from stepping unit vectors through the
// integrator.
#include <fmt/format.h>

#include "advance/step_matrix.hpp"
#include "solve/dense.hpp"
#include "study/trajectory.hpp"

namespace bathline {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

struct Transfer {
  std::vector<double> transferred, stored;
};

class LyapunovStudy final : public Study {
 public:
  explicit LyapunovStudy(const Experiment& experiment) : experiment_(experiment) {}

  std::optional<CaseFailure> run(ResultFile& file, Progress& progress, Checkpoints& checkpoints) override {
    if (std::optional<CaseFailure> failure = run_trajectories(experiment_, file, progress, checkpoints, {}))
      return failure;
    const OpenSystem& system = experiment_.system();
    VectorXd start(2 * system.size());
    start << system.q0, system.v0;
    for (const Case& one : experiment_.cases()) {
      if (one.closed) continue;
      Problem problem = experiment_.make_problem(one);
      const MatrixXd a = motion_matrix(problem);
      MatrixXd supply = MatrixXd::Zero(a.rows(), a.cols());
      supply.bottomRightCorner(system.size(), system.size()) = problem.damping();
      const MatrixXd w = solve_lyapunov(a, supply);
      std::vector<double> times;
      const std::int64_t every = experiment_.recipe().output.integer("every");
      for (std::int64_t k = 0; k <= one.steps; k += every) times.push_back(static_cast<double>(k) * one.step);

      const MatrixXd flow = matrix_exponential(a * (one.step * static_cast<double>(every)));
      Transfer theory;
      VectorXd x = start;
      for (std::size_t i = 0; i < times.size(); ++i, x = flow * x) {
        theory.stored.push_back(x.dot(w * x));
        theory.transferred.push_back(theory.stored.front() - theory.stored.back());
      }
      if (std::holds_alternative<ExactFlow>(one.scheme)) {
        write(file, one.label, times, theory, theory, 0.0, spectral_norm(w));
        continue;
      }
      const MatrixXd step = step_matrix(one.scheme, problem, one.step);
      // Otherwise nothing is dissipated in the end and W_d does not exist.
      if (spectral_radius(step) >= 1.0) {
        return CaseFailure{one.label,
                           {0, 0.0, "the step matrix is not contracting, so its Lyapunov equation has no solution"}};
      }
      const MatrixXd rate = one.step * supply;
      const MatrixXd w_d = solve_discrete_lyapunov(step, rate);
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
      write(file, one.label, times, discrete, theory, spectral_norm(w_d - w), spectral_norm(w));
    }
    return std::nullopt;
  }

 private:
  static void write(ResultFile& file, const std::string& label, const std::vector<double>& times,
                    const Transfer& transfer, const Transfer& theory, double difference, double norm) {
    const std::string group = "lyapunov/" + label;
    const Dimension time[] = {{"time", times, "s", "time"}};
    std::vector<double> error;
    for (std::size_t i = 0; i < times.size(); ++i) error.push_back(transfer.stored[i] - theory.stored[i]);
    const auto series = [&](const char* name, const char* long_name, const std::vector<double>& values) {
      file.array(group, {name, "J", long_name, {"time"}}, time, values);
    };
    series("energy_transferred", "energy given to the damper, x0^T W_d(j) x0", transfer.transferred);
    series("energy_stored", "energy still stored, x0^T (W_d - W_d(j)) x0", transfer.stored);
    series("error_stored", "stored energy less that of the exact theory", error);
    file.number(group, "norm_difference", "1", "2-norm of W_d - W", difference);
    file.number(group, "norm_theory", "1", "2-norm of W", norm);
  }

  const Experiment& experiment_;
};

void check(const Experiment& experiment, Mistakes& mistakes) {
  const Section& study = experiment.recipe().study;
  if (!experiment.system().is_linear()) {
    mistakes.add(study.where("kind"),
                 "a lyapunov study needs a linear system, and this one's potential is not quadratic");
    return;
  }
  bool any_open = false;
  for (const Case& one : experiment.cases()) {
    if (one.closed) continue;
    any_open = true;
    const Eigen::MatrixXd motion = motion_matrix(experiment.make_problem(one));
    if (spectral_abscissa(motion) >= 0.0) {
      mistakes.add(study.where("kind"),
                   fmt::format("the open system of `{}` does not come to rest (it needs damping that reaches "
                               "every mode), so its Lyapunov equation has no solution",
                               one.label));
    }
  }
  if (!any_open) mistakes.add(study.where("kind"), "a lyapunov study needs an integrator with on = \"open\"");
}

}  // namespace

StudyKind lyapunov_kind() {
  return {{.name = "lyapunov",
           .summary = "energy transfer of a linear open system by Lyapunov's equations, exact and discrete",
           .equation = "A^T W + W A + C^T D C = 0;  W_d = h C^T D C + A_d^T W_d A_d",
           .source = "limebeer2020, eqs. (27)-(31), (46)-(51)",
           .notes = "Group lyapunov/<open label>: energy_transferred, energy_stored, error_stored, norm_difference."},
          check,
          [](const Experiment& experiment) -> std::unique_ptr<Study> {
            return std::make_unique<LyapunovStudy>(experiment);
          }};
}

}  // namespace bathline
