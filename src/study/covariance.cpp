// Stationary covariances of linear systems with noise, open or closed with a warm memory: those of every integrator,
// exactly, and of the Langevin equation.
//
//   integrator: X = A X A^T + G G^T, a step being x+ = A x + G n with normal numbers n
//   Langevin:   B X + X B^T + Q = 0, x' = B x + noise of covariance Q
//
// State x = (q, v), and that of the environments in closed runs. A and G come from stepping unit vectors, and units of
// noise, through the integrator. No path is computed, so that nothing is left to chance. Source: vanloan1978;
// rieder1967 for heat through a chain.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "advance/assembled_system.hpp"
#include "advance/step_matrix.hpp"
#include "study/catalogue.hpp"
#include "study/outside.hpp"
#include "study/theory/stationary.hpp"

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

MatrixXd langevin_covariance(const Problem& problem) {
  const auto [matrix, supply] = AssembledSystem(problem, Assembly::whole).motion();
  return covariance_of_moving(matrix, MatrixXd::Zero(matrix.rows(), matrix.cols()), supply, 2 * problem.q.size(),
                              continuous_covariance);
}

MatrixXd covariance_of_steps(const Case& one, Problem& problem) {
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
      const Problem first = experiment_.make_problem(experiment_.cases().front());
      write(first, langevin_covariance(first), "langevin", file);
      for (const Case& one : experiment_.cases()) {
        Problem problem = experiment_.make_problem(one);
        problem.prepare();
        const MatrixXd theory = langevin_covariance(problem), found = covariance_of_steps(one, problem);
        write(problem, found, one.label, file);
        file.number("covariance/" + one.label, "difference", "1",
                    "largest difference of a covariance from that of the Langevin equation, over the square root of "
                    "the variances there",
                    difference(found, theory));
      }
    } catch (const std::domain_error&) {
      return CaseFailure{experiment_.cases().front().label,
                         {0, 0.0, "nothing is stationary: some motion feels no damping, or the step is unstable"}};
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
    put("heat", "W", "heat that the bath of each degree of freedom gives, kT C/m - <v C v>",
        MatrixXd(supplied - (problem.damping() * vv).diagonal()));
  }

  const Experiment& experiment_;
};

/// Whether what a step adds does not depend on what others have added, but for a state that sites are: quantum noise
/// remembers, and a line without end has none.
bool has_markovian_noise(const Experiment& experiment, const Case& one) {
  if (!one.closed) return true;
  const Problem problem = experiment.make_problem(one);
  return std::all_of(problem.environments().begin(), problem.environments().end(), [](const auto& environment) {
    auto* noisy = dynamic_cast<Noisy*>(environment.get());
    const bool has_state = environment->facts().sites > 0;
    return environment->facts().temperature == 0.0 || (has_state && noisy != nullptr && noisy->noise() != nullptr);
  });
}

std::unique_ptr<Study> make_covariance(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  refuse_outside(recipe, mistakes);
  if (!experiment.system().is_linear()) {
    mistakes.add(recipe.study.where("kind"),
                 "a covariance study needs a linear system, and this one's potential is not quadratic");
  }
  for (const Case& one : experiment.cases()) {
    if (one.noise && has_markovian_noise(experiment, one)) continue;
    mistakes.add(
        one.options.where("on"),
        fmt::format(
            "a covariance study is of systems with noise: `{}` needs on = \"open\" and a `temperature`, "
            "or on = \"closed\" with a memory that has one, and no other bath or quantum noise, nor a line without end",
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
                .notes = "Groups covariance/<label> and covariance/langevin: qq, qv, vv (coordinate, other), "
                         "temperature and heat (coordinate), which is what the bath of each gives in open runs; and by "
                         "label difference, the state of a warm memory included. No path is computed: `end` does not "
                         "matter."},
      .make = make_covariance,
      .allows_own_ends = true,
      .takes_noise = true};
}

}  // namespace bathline
