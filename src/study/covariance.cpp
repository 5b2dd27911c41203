// Stationary covariances of linear systems with noise, open or closed with warm memories and lines without end: those
// of every integrator, exactly, and of the Langevin equation.
//
//   integrator: X = A X A^T + G G^T, a step being x+ = A x + G n with normal numbers n
//   Langevin:   B X + X B^T + Q = 0, x' = B x + noise of covariance Q
//
// State x = (q, v), and that of the environments in closed runs. A and G come from stepping unit vectors, and units of
// noise, through the integrator. Where noise remembers, X is the sum over what each of its numbers does, at the end of
// many steps, and what the equation of continuous time has is what the midpoint rule has, at any step: it takes the
// spectra and responses of that at other frequencies, over all of which X is an integral. No path is computed, so that
// nothing is left to chance. Source: vanloan1978; rieder1967 for heat through a chain.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "steppers/assembled_system.hpp"
#include "steppers/step_matrix.hpp"
#include "study/catalogue.hpp"
#include "study/shared_checks.hpp"
#include "study/theory/stationary_covariance.hpp"

namespace bathline {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// X where what no other number depends on is left at 0, such as the momenta of sites without mass; the first
/// `particles` stay. `solve` gets the maps of all others.
template <class Solve>
MatrixXd covariance_of_moving(const MatrixXd& map, const MatrixXd& rest, const MatrixXd& added, Eigen::Index particles,
                              Solve solve) {
  std::vector<Eigen::Index> moving;
  for (Eigen::Index i = 0; i < map.rows(); ++i) {
    if (i < particles || map.col(i) != rest.col(i)) moving.push_back(i);
  }
  MatrixXd covariance = MatrixXd::Zero(map.rows(), map.cols());
  covariance(moving, moving) = solve(map(moving, moving), added(moving, moving));
  return covariance;
}

/// Whether x+ follows from x and numbers of the step.
bool is_markovian(const Problem& problem) {
  return std::all_of(problem.environments().begin(), problem.environments().end(), [](const auto& environment) {
    auto* noisy = dynamic_cast<Noisy*>(environment.get());
    return environment->properties().sites > 0 &&
           (noisy == nullptr || noisy->noise() == nullptr || noisy->is_markovian());
  });
}

/// Whether that is what the Langevin equation's covariance comes from where noise remembers.
bool is_midpoint(const Scheme& scheme) {
  const auto* stages = std::get_if<PartitionedRungeKutta>(&scheme);
  return stages != nullptr && stages->stages() == 1 && stages->a(0, 0) == 0.5 && stages->a_hat(0, 0) == 0.5 &&
         stages->b[0] == 1.0 && !stages->freezes_action && !stages->ou_outside;
}

MatrixXd covariance_of_memory(const Scheme& scheme, Problem& problem, double h) {
  std::optional<MatrixXd> found = covariance_from_impulse_responses(scheme, problem, h);
  if (!found) throw std::domain_error("nothing is stationary here");
  return std::move(*found);
}

MatrixXd langevin_covariance(const Case& one, Problem& problem) {
  if (!is_markovian(problem)) return covariance_of_memory(one_stage(0.5, 0.5), problem, one.step);
  const auto [matrix, supply] = AssembledSystem(problem, LumpedNetwork::no_limit).linear_sde();
  return covariance_of_moving(matrix, MatrixXd::Zero(matrix.rows(), matrix.cols()), supply, 2 * problem.q.size(),
                              stationary_covariance_continuous);
}

MatrixXd covariance_of_steps(const Case& one, Problem& problem) {
  if (!is_markovian(problem)) return covariance_of_memory(one.scheme, problem, one.step);
  const MatrixXd added = noise_covariance(one.scheme, problem, one.step);
  const MatrixXd step = step_matrix(one.scheme, problem, one.step);
  return covariance_of_moving(step, MatrixXd::Identity(step.rows(), step.cols()), added, 2 * problem.q.size(),
                              stationary_covariance);
}

class CovarianceStudy final : public Study {
 public:
  explicit CovarianceStudy(const Experiment& experiment) : experiment_(experiment) {}

  std::optional<CaseFailure> run(ResultFile& file, Progress&, Checkpoints&) override {
    try {
      for (const Case& one : experiment_.cases()) {
        Problem problem = experiment_.make_problem(one), same = experiment_.make_problem(one);
        problem.prepare();
        same.prepare();
        const MatrixXd theory = langevin_covariance(one, same);
        const bool is_known = is_midpoint(one.scheme) && !is_markovian(problem);
        const MatrixXd found = is_known ? theory : covariance_of_steps(one, problem);
        if (&one == &experiment_.cases().front()) write(same, theory, "langevin", file);
        write(problem, found, one.label, file);
        file.number("covariance/" + one.label, "difference", "1",
                    "largest difference of a covariance from that of the Langevin equation, over the square root of "
                    "the variances there",
                    difference(found, theory));
      }
    } catch (const std::domain_error&) {
      return CaseFailure{
          experiment_.cases().front().label,
          {0, 0.0,
           "nothing is stationary: some motion feels no damping, as one above the band of a line without "
           "end, or the step is unstable"}};
    }
    return std::nullopt;
  }

 private:
  static double difference(const MatrixXd& found, const MatrixXd& theory) {
    const VectorXd scale =
        theory.diagonal().unaryExpr([](double square) { return square > 0.0 ? 1.0 / std::sqrt(square) : 0.0; });
    return (scale.asDiagonal() * (found - theory) * scale.asDiagonal()).cwiseAbs().maxCoeff();
  }

  static void write(const Problem& problem, const MatrixXd& all, const std::string& label, ResultFile& file) {
    const Eigen::Index n = problem.q.size();
    const MatrixXd covariance = all.topLeftCorner(2 * n, 2 * n);
    const VectorXd& mass = problem.system().mass;
    const std::string group = "covariance/" + label;
    std::vector<double> indices;
    for (Eigen::Index i = 0; i < n; ++i) indices.push_back(static_cast<double>(i));
    const std::vector<Dimension> dimensions = {{"coordinate", indices, "1", "degree of freedom, counted from 0"},
                                               {"other", indices, "1", "degree of freedom, counted from 0"}};
    const auto put = [&](const char* name, const char* units, const char* long_name, const MatrixXd& values) {
      const MatrixXd by_rows = values.transpose();
      file.array(group, {name, units, long_name, {}}, std::span(dimensions).first(values.cols() == 1 ? 1 : 2),
                 {by_rows.data(), static_cast<std::size_t>(by_rows.size())});
    };
    const MatrixXd vv = covariance.bottomRightCorner(n, n);
    put("qq", "m2", "<q_i q_j>", covariance.topLeftCorner(n, n));
    put("qv", "m2/s", "<q_i v_j>", covariance.topRightCorner(n, n));
    put("vv", "m2/s2", "<v_i v_j>", vv);
    put("temperature", "J", "m <v^2>", MatrixXd(mass.cwiseProduct(vv.diagonal())));
    if (problem.noise() == nullptr) return;
    const VectorXd supplied = problem.noise()->diffusion().diagonal().cwiseQuotient(mass);
    put("heat", "W", "kT C/m - <v C v>, in continuous time the heat that the bath of each degree of freedom gives",
        MatrixXd(supplied - (problem.damping() * vv).diagonal()));
  }

  const Experiment& experiment_;
};

/// Whether no environment is warm by its start alone, as oscillators are.
bool has_noise_alone(const Experiment& experiment, const Case& one) {
  if (!one.closed) return true;
  const Problem problem = experiment.make_problem(one);
  return std::all_of(problem.environments().begin(), problem.environments().end(), [](const auto& environment) {
    auto* noisy = dynamic_cast<Noisy*>(environment.get());
    return environment->properties().temperature == 0.0 || (noisy != nullptr && noisy->noise() != nullptr);
  });
}

std::unique_ptr<Study> make_covariance(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  refuse_external_forces(recipe, mistakes);
  refuse_labels(recipe, {"langevin"}, mistakes);
  if (!experiment.system().is_linear()) {
    mistakes.add(recipe.study.where("kind"),
                 "a covariance study needs a linear system, and this one's potential is not quadratic");
  }
  for (const Case& one : experiment.cases()) {
    if (one.noise && has_noise_alone(experiment, one)) continue;
    mistakes.add(
        one.options.where("on"),
        fmt::format("a covariance study is of systems with noise: `{}` needs on = \"open\" and a `kT`, "
                    "or on = \"closed\" with memories or lines without end that have one, and no other warm bath",
                    one.label));
  }
  return std::make_unique<CovarianceStudy>(experiment);
}

}  // namespace

StudyKind covariance_kind() {
  return {
      .entry = {.name = "covariance",
                .summary = "stationary covariances of linear systems with noise, beside those of the Langevin equation",
                .equation = "X = A X A^T + G G^T of a step x+ = A x + G n;  B X + X B^T + Q = 0 of x' = B x + noise",
                .source = "rieder1967 for heat through a chain; vanloan1978",
                .keywords = {"lyapunov equation"},
                .notes =
                    "Groups covariance/<integrator> and covariance/langevin: qq, qv, vv (coordinate, other), "
                    "temperature, and heat (coordinate) in open runs, kT C/m - <v C v>, which is what the bath of "
                    "each gives in continuous time and under the midpoint rule; and by label difference, the state "
                    "of a warm memory of modes included. No path is computed: `end` does not matter. Closed runs "
                    "with warm lines without end, or quantum noise, sum up what each random number does until "
                    "twice the time changes 1e-11 of it at most, and have for langevin what the midpoint rule "
                    "makes of them, which is that of continuous time at any step."},
      .make = make_covariance,
      .allows_own_ends = true,
      .takes_noise = true};
}

}  // namespace bathline
