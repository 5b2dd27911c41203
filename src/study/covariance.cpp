// Stationary covariances of linear systems with noise, open or closed with warm memories and semi-infinite lines: the
// exact ones of every integrator and those of the Langevin equation.
//
//   integrator: X = A X A^T + G G^T, a step being x+ = A x + G n with standard normal numbers n
//   Langevin:   B X + X B^T + Q = 0, x' = B x + noise of covariance Q
//
// The state is x = (q, v), in closed runs with that of the environments. A and G are the responses of the integrator to
// unit vectors and to units of noise. With coloured noise X is the sum over the impulse responses to each random number
// after many steps. The covariance in continuous time is then that of the midpoint rule, at any step: this rule maps
// frequencies one to one, with the same spectra and responses, and X is an integral over all frequencies. No random
// path is computed, so that there are no statistical errors. Source: vanloan1978; rieder1967 for heat through a chain.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <variant>
#include <vector>

#include "steppers/assembled_system.hpp"
#include "solve/dense.hpp"
#include "solve/larger_or_nan.hpp"
#include "steppers/step_matrix.hpp"
#include "study/catalogue.hpp"
#include "study/shared_checks.hpp"
#include "solve/slowest_motion.hpp"

namespace bathline {

namespace {

/// Relative errors above this are told.
constexpr double accuracy = 1e-9;

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The covariance X with zeros for variables on which no variable depends, such as the momenta of massless sites; the
/// first `particles` variables are always solved for. `slowest` and `solve` get the matrices of the remaining
/// variables.
template <class Slowest, class Solve>
StationaryCovariance covariance_of_active_variables(const MatrixXd& map, const MatrixXd& rest, const MatrixXd& added,
                                                    Eigen::Index particles, Slowest slowest, Solve solve) {
  std::vector<Eigen::Index> active;
  for (Eigen::Index i = 0; i < map.rows(); ++i) {
    if (i < particles || map.col(i) != rest.col(i)) active.push_back(i);
  }
  const MatrixXd active_map = map(active, active);
  StationaryCovariance covariance{std::nullopt, slowest(active_map)};
  if (!covariance.slowest.decays()) return covariance;
  const MatrixXd solution = solve(active_map.transpose(), added(active, active));
  covariance.matrix = MatrixXd::Zero(map.rows(), map.cols());
  (*covariance.matrix)(active, active) = 0.5 * (solution + solution.transpose());
  return covariance;
}

/// Whether x+ is determined by x and the random numbers of the step.
bool is_markovian(const Problem& problem) {
  const auto& stepped = problem.stepped_environments();
  return std::all_of(stepped.begin(), stepped.end(), [](Environment* environment) {
    auto* noisy = dynamic_cast<Noisy*>(environment);
    return environment->properties().sites > 0 &&
           (noisy == nullptr || noisy->noise() == nullptr || noisy->is_markovian());
  });
}

/// Whether the scheme is the midpoint rule, whose covariance with coloured noise is that of the Langevin equation.
bool is_midpoint(const Scheme& scheme) {
  const auto* stages = std::get_if<PartitionedRungeKutta>(&scheme);
  return stages != nullptr && stages->stages() == 1 && stages->a(0, 0) == 0.5 && stages->a_hat(0, 0) == 0.5 &&
         stages->b[0] == 1.0 && !stages->freezes_action && !stages->ou_outside;
}

StationaryCovariance langevin_covariance(const Case& this_case, Problem& problem) {
  if (!is_markovian(problem)) return covariance_from_impulse_responses(one_stage(0.5, 0.5), problem, this_case.step);
  const auto [drift, diffusion] = AssembledSystem(problem, LumpedNetwork::no_limit).linear_sde();
  return covariance_of_active_variables(drift, MatrixXd::Zero(drift.rows(), drift.cols()), diffusion,
                                        2 * problem.q.size(), slowest_motion_of_flow, solve_lyapunov);
}

StationaryCovariance covariance_of_steps(const Experiment& experiment, const Case& this_case, Problem& problem) {
  if (!is_markovian(problem)) return covariance_from_impulse_responses(this_case.scheme, problem, this_case.step);
  const MatrixXd added = noise_covariance(this_case.scheme, problem, this_case.step);
  const MatrixXd step = step_matrix(this_case.scheme, problem, this_case.step);
  StationaryCovariance found = covariance_of_active_variables(
      step, MatrixXd::Identity(step.rows(), step.cols()), added, 2 * problem.q.size(),
      [&](const MatrixXd& map) { return slowest_motion_of_steps(map, this_case.step); }, solve_discrete_lyapunov);
  // The exact flow and the midpoint rule have the covariances of continuous time, and so its heat between the steps.
  const bool is_exact = std::holds_alternative<ExactFlow>(this_case.scheme) || is_midpoint(this_case.scheme);
  if (!found.matrix || is_exact) return found;
  Problem counted = experiment.make_problem(this_case);
  counted.prepare();
  found.heat = heat_of_steps(this_case.scheme, counted, this_case.step, *found.matrix);
  return found;
}

class CovarianceStudy final : public Study {
 public:
  explicit CovarianceStudy(const Experiment& experiment) : experiment_(experiment) {}

  std::optional<CaseFailure> run(ResultFile& file, Progress&, Checkpoints&) override {
    for (const Case& this_case : experiment_.cases()) {
      Problem problem = experiment_.make_problem(this_case), langevin_problem = experiment_.make_problem(this_case);
      problem.prepare();
      langevin_problem.prepare();
      const StationaryCovariance theory = langevin_covariance(this_case, langevin_problem);
      if (!theory.matrix) return no_stationary_state(this_case, "the Langevin equation", theory.slowest);
      const bool is_exact = is_midpoint(this_case.scheme) && !is_markovian(problem);
      const StationaryCovariance steps = is_exact ? theory : covariance_of_steps(experiment_, this_case, problem);
      if (!steps.matrix) return no_stationary_state(this_case, "the integrator", steps.slowest);
      const double error = larger_or_nan(relative_uncertainty(theory.slowest), relative_uncertainty(steps.slowest));
      if (!(error <= accuracy)) {
        const bool is_theory = relative_uncertainty(theory.slowest) == error;
        spdlog::warn("{}: {}, so that covariances have relative errors of about {:.0e} by round-off", this_case.name,
                     describe(is_theory ? theory.slowest : steps.slowest), error);
      }
      file.number("covariance/" + this_case.name, "error", "1",
                  "estimate of the relative error of the covariances by round-off: the uncertainty of the slowest rate "
                  "over that rate",
                  error);
      const bool is_first = &this_case == &experiment_.cases().front();
      if (is_first) write(this_case, langevin_problem, theory, "langevin", file);
      write(this_case, problem, steps, this_case.name, file);
      file.number("covariance/" + this_case.name, "difference", "1",
                  "largest difference of a covariance from that of the Langevin equation, over the square root of the "
                  "variances of the latter",
                  difference(*steps.matrix, *theory.matrix));
    }
    return std::nullopt;
  }

 private:
  static CaseFailure no_stationary_state(const Case& this_case, const char* equation, const SlowestMotion& slowest) {
    return {this_case.name,
            {0, 0.0,
             fmt::format("there is no stationary state of {}, or none that can be told from round-off: {}; add damping "
                         "to that motion, or use a shorter step if the integrator is unstable",
                         equation, describe(slowest))}};
  }

  static double difference(const MatrixXd& covariance, const MatrixXd& theory) {
    const VectorXd scale =
        theory.diagonal().unaryExpr([](double square) { return square > 0.0 ? 1.0 / std::sqrt(square) : 0.0; });
    return (scale.asDiagonal() * (covariance - theory) * scale.asDiagonal()).cwiseAbs().maxCoeff();
  }

  /// White friction on the velocities c.v.
  struct Damper {
    std::size_t environment;
    VectorXd direction;  // c
    double damping, temperature;
  };
  /// Those of a problem or, in an open run, of the environments that its damping stands for.
  std::vector<Damper> dampers_of(const Case& this_case, const Problem& problem) const {
    std::optional<Problem> replaced;
    if (!this_case.closed) replaced.emplace(experiment_.make_closed_problem(this_case, this_case.step));
    const auto& environments = (replaced ? *replaced : problem).environments();
    std::vector<Damper> dampers;
    for (std::size_t e = 0; e < environments.size(); ++e) {
      const EnvironmentProperties& properties = environments[e]->properties();
      const double damping = this_case.closed ? properties.white_damping : properties.damping;
      const double temperature = this_case.closed ? properties.white_temperature : properties.temperature;
      const Attachment& attachment = environments[e]->attachment();
      for (int axis = 0; axis < attachment.axes() && damping > 0.0; ++axis) {
        Damper& damper = dampers.emplace_back(e, VectorXd::Zero(problem.q.size()), damping, temperature);
        for (const Attachment::Term& term : attachment.terms()) {
          if (term.axis == axis) damper.direction[term.coordinate] += term.weight;
        }
      }
    }
    return dampers;
  }

  /// In continuous time the mean power of each damper on the particles, D (kT c.M^-1 c - <(c.v)^2>).
  static VectorXd heat_in_time(const std::vector<Damper>& dampers, const VectorXd& mass, const MatrixXd& vv) {
    VectorXd heat(std::ssize(dampers));
    for (Eigen::Index k = 0; k < heat.size(); ++k) {
      const auto& [environment, c, damping, temperature] = dampers[static_cast<std::size_t>(k)];
      heat[k] = damping * (temperature * c.dot(c.cwiseQuotient(mass)) - c.dot(vv * c));
    }
    return heat;
  }

  /// The mean power of each damper by the ledger of an integrator: of the impulses F = sum_k c_k f_k of all dampers
  /// along v, <F v^T>, that of f_k is f_k c_k.v. Directions that depend on each other share F by their damping and, as
  /// in continuous time, by their noise.
  static VectorXd heat_by_ledger(const std::vector<Damper>& dampers, const VectorXd& mass, const MatrixXd& power) {
    const Eigen::Index count = std::ssize(dampers);
    MatrixXd directions(mass.size(), count);
    VectorXd damping(count), supplied(count);
    for (Eigen::Index k = 0; k < count; ++k) {
      const Damper& damper = dampers[static_cast<std::size_t>(k)];
      directions.col(k) = damper.direction;
      damping[k] = damper.damping;
      supplied[k] = damper.damping * damper.temperature * damper.direction.dot(damper.direction.cwiseQuotient(mass));
    }
    const MatrixXd weighted = damping.asDiagonal() * directions.transpose();
    const MatrixXd shares = weighted * pseudo_inverse(directions * weighted);  // f = shares F
    return (shares * power * directions).diagonal() + supplied - shares * directions * supplied;
  }

  /// The mean power of each environment on the particles, given the covariance of all variables or of the particles
  /// alone: by the ledger of the integrator, where there is one, else in continuous time.
  std::vector<double> heat_by_environment(const Case& this_case, const Problem& problem, const MatrixXd& all,
                                          const std::optional<StepHeat>& by_ledger) const {
    if (!this_case.closed && experiment_.system().damping) return {};
    const Eigen::Index n = problem.q.size();
    const VectorXd& mass = problem.system().mass;
    const std::vector<Damper> dampers = dampers_of(this_case, problem);
    const VectorXd of_dampers = by_ledger ? heat_by_ledger(dampers, mass, by_ledger->exchange / this_case.step)
                                          : heat_in_time(dampers, mass, all.block(n, n, n, n));
    std::vector<double> heat(this_case.closed ? problem.environments().size() : this_case.environments.size());
    for (std::size_t k = 0; k < dampers.size(); ++k) {
      heat[dampers[k].environment] += of_dampers[static_cast<Eigen::Index>(k)];
    }
    if (!this_case.closed) return heat;
    MatrixXd drift;
    if (!by_ledger) drift = AssembledSystem(problem, LumpedNetwork::no_limit).linear_sde().drift;
    Eigen::Index first = 2 * n;
    for (std::size_t e = 0; e < heat.size(); ++e) {
      if (by_ledger) {
        heat[e] += by_ledger->by_environment[static_cast<Eigen::Index>(e)] / this_case.step;
        continue;
      }
      const Environment& environment = *problem.environments()[e];
      const Eigen::Index count = 2 * environment.properties().sites * environment.attachment().axes();
      const MatrixXd forces = mass.asDiagonal() * drift.block(n, first, n, count);
      heat[e] += forces.cwiseProduct(all.block(n, first, n, count)).sum();
      first += count;
    }
    return heat;
  }

  void write(const Case& this_case, const Problem& problem, const StationaryCovariance& found, const std::string& label,
             ResultFile& file) const {
    const MatrixXd& all = *found.matrix;
    const Eigen::Index n = problem.q.size();
    const MatrixXd covariance = all.topLeftCorner(2 * n, 2 * n);
    const VectorXd& mass = problem.system().mass;
    const GroupWriter out(file, "covariance/" + label);
    const auto indices = [n](const char* name) {
      return counted_dimension(name, static_cast<std::size_t>(n), "degree of freedom, counted from 0");
    };
    const auto write_matrix = [&](const char* name, const char* units, const char* long_name, const MatrixXd& values) {
      const MatrixXd by_rows = values.transpose();
      std::vector<Dimension> dimensions{indices("coordinate")};
      if (values.cols() > 1) dimensions.push_back(indices("other"));
      out.array(name, units, long_name, dimensions, {by_rows.data(), static_cast<std::size_t>(by_rows.size())});
    };
    const MatrixXd vv = covariance.bottomRightCorner(n, n);
    write_matrix("qq", "m2", "<q_i q_j>", covariance.topLeftCorner(n, n));
    write_matrix("qv", "m2/s", "<q_i v_j>", covariance.topRightCorner(n, n));
    write_matrix("vv", "m2/s2", "<v_i v_j>", vv);
    write_matrix("temperature", "J", "m <v^2>", MatrixXd(mass.cwiseProduct(vv.diagonal())));
    const std::vector<double> heat = heat_by_environment(this_case, problem, all, found.heat);
    if (!heat.empty()) {
      out.array("heat_by_environment", "W", "the heat current from each environment",
                {counted_dimension("environment", heat.size(), "environment of the run, counted from 0")}, heat);
    }
    if (problem.noise() == nullptr) return;
    const VectorXd supplied = problem.noise()->diffusion().diagonal().cwiseQuotient(mass);
    const VectorXd of_dampers = found.heat ? VectorXd(found.heat->exchange.diagonal() / this_case.step)
                                           : VectorXd(supplied - (problem.damping() * vv).diagonal());
    write_matrix("heat", "W", "the heat current from the damper of each degree of freedom", of_dampers);
  }

  const Experiment& experiment_;
};

/// Whether every warm environment has noise; that of others, such as oscillators, is in their initial states alone.
bool has_noise_only(const Experiment& experiment, const Case& this_case) {
  if (!this_case.closed) return true;
  const Problem problem = experiment.make_problem(this_case);
  const auto& stepped = problem.stepped_environments();
  return std::all_of(stepped.begin(), stepped.end(), [](Environment* environment) {
    auto* noisy = dynamic_cast<Noisy*>(environment);
    return environment->properties().temperature == 0.0 || (noisy != nullptr && noisy->noise() != nullptr);
  });
}

bool has_temperature_in_time(const Experiment& experiment, const Case& this_case) {
  if (!this_case.closed && experiment.system().temperature) return !experiment.system().temperature_in_time.empty();
  const Problem problem = experiment.make_closed_problem(this_case, this_case.step);
  return std::any_of(problem.environments().begin(), problem.environments().end(),
                     [](const auto& environment) { return environment->properties().temperature_in_time != nullptr; });
}

std::unique_ptr<Study> make_covariance(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  check_needs(
      {.linear_system = true, .no_external_forces = true, .linear_couplings = true, .reserved_names = {"langevin"}},
      recipe, experiment, mistakes);
  for (const Case& this_case : experiment.cases()) {
    if (has_temperature_in_time(experiment, this_case)) {
      mistakes.add(
          this_case.options.where("on"),
          fmt::format("a covariance study is of a stationary state: in `{}` a `kT` depends on t", this_case.name));
    }
    if (this_case.noise && has_noise_only(experiment, this_case)) continue;
    mistakes.add(this_case.options.where("on"),
                 fmt::format("a covariance study needs noise: `{}` needs on = \"open\" and a `kT`, or on = \"closed\" "
                             "with warm memories, dampers or semi-infinite lines and no other warm environment",
                             this_case.name));
  }
  return std::make_unique<CovarianceStudy>(experiment);
}

}  // namespace

StudyKind covariance_kind() {
  return {
      .entry = {.name = "covariance",
                .summary =
                    "stationary covariances of linear systems with noise, compared with those of the Langevin equation",
                .equation = "X = A X A^T + G G^T of a step x+ = A x + G n;  B X + X B^T + Q = 0 of x' = B x + noise",
                .source = "rieder1967 for heat through a chain; vanloan1978",
                .keywords = {"lyapunov equation"},
                .notes =
                    "Groups covariance/<integrator> and covariance/langevin: qq, qv, vv (coordinate, other), "
                    "temperature, and with white noise heat (coordinate), the heat current from the damper of each; "
                    "heat_by_environment (environment), the current from each to the particles. In langevin, under "
                    "exact and under the midpoint rule, whose covariances are exact, these are those of continuous "
                    "time, kT C/m - <v C v> of a damper; under other integrators, and beside environments of which "
                    "impulse responses are summed, what the integrator exchanges in its steps by its own ledger. They "
                    "vanish in equilibrium, but under methods that put the noise of dampers and of memories where they "
                    "disturb each other, and add up to 0, beside memories to the order of the method. For each "
                    "integrator error, the estimate of relative errors by round-off, which "
                    "is told in a warning above 1e-9, and difference, which includes the state of a warm memory. No "
                    "path is computed: `end` has no effect. Closed runs with warm semi-infinite lines, quantum noise "
                    "or memories that are passive only together sum impulse responses until twice as many steps change "
                    "the variances by at most 1e-9, or extrapolate them by their slow motions until the change is at "
                    "most 1e-11 (1e-15 over the slowest decay in a step, if that is more, or 1e-7 from 32768 steps "
                    "on), and take for langevin the covariance of the midpoint rule, which is that of continuous time "
                    "at any step. Where there is no stationary state the slowest motion is named with its rate."},
      .make = make_covariance,
      .allows_own_ends = true,
      .takes_noise = true};
}

}  // namespace bathline
