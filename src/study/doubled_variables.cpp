// Forced equations from a Lagrangian of twice the variables: martin2018's theorem, executed.
//
// A discrete Lagrangian L~_d(x, y) is made of Lagrangian and force (study/theory/doubled_lagrangian.hpp) and
// differentiated automatically. Compared are, each with a bound of the round-off derived from counting,
//
//   equations     D_x1 [L~_d(q0, q1) + L~_d(q1, q2)] on x = y, and -D_y1 of the same, with the forced discrete
//                 Euler-Lagrange equations by hand (study/theory/forced_galerkin_path.hpp), at random positions
//   antisymmetry  L~_d(y, x) with -L~_d(x, y), at random positions off the diagonal
//   q, p          the motion that the doubled equations make with that of the program's integrator
//
// and, for a list of steps, L~_d with the exact discrete Lagrangian, the integral of L~ along the solution of the
// doubled equations between the same ends: a discretisation is of order r where they differ by O(h^{r+1}) off the
// diagonal, and then the integrator is (Theorem 7.1). The integral is that of a polynomial of high degree, stationary
// itself.
//
// Source: martin2018, Definition 5.1, Theorems 6.1 and 7.1, section 7, Propositions 7.3 and 7.4; marsden2001, section
// 3.2.
#include <fmt/format.h>

#include <algorithm>

#include "driver/output_times.hpp"
#include "driver/time_loop.hpp"
#include "study/catalogue.hpp"
#include "study/theory/comparison.hpp"
#include "study/theory/doubled_lagrangian.hpp"
#include "study/theory/doubled_variables_bound.hpp"
#include "study/theory/lagrangian_order.hpp"
#include "study/theory/random_positions.hpp"

namespace bathline {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

bool is_doubled(const Case& one) {
  return !one.closed && (one.method->entry.name == "gamma" || one.method->entry.name == "lobatto");
}

/// The path of the integrator: with constant masses that of Lobatto pairs is a polynomial of a degree less.
GalerkinRule rule_of(const Case& one, const ParticleSystem& system) {
  if (one.method->entry.name == "gamma") return gamma_rule(one.options.number("gamma"));
  const int stages = static_cast<int>(one.options.integer("stages"));
  return system.lagrangian ? lobatto_pair_rule(stages) : lobatto_rule(stages);
}

/// The integrator in terms of its stage velocities: Q = q + h (1-g) V, M V = p + h g F for the gamma family.
PartitionedRungeKutta stages_of(const Case& one) {
  if (const auto* scheme = std::get_if<PartitionedRungeKutta>(&one.scheme)) return *scheme;
  const double g = one.options.number("gamma");  // the explicit ends of the family
  return one_stage(1.0 - g, g);
}

/// What rank 0 has measured of one case.
struct MeasuredCase {
  std::vector<Comparison> equations, antisymmetry;  // by draw
  std::vector<Comparison> q, p;                     // by record, each the largest since the one before
  double amplitude_equations = 0.0, amplitude_antisymmetry = 0.0, amplitude_q = 0.0, amplitude_p = 0.0;
  MeasuredOrder lagrangian;  // of the errors of L~_d, by step
};

/// Both routes for one case.
struct TwoDerivations {
  DoubledLagrangian doubled;
  ForcedGalerkinPath forced;
  ForcedGalerkinPath::Impulses by_doubling, by_hand;

  TwoDerivations(const ParticleSystem& system, const MatrixXd& damping, const GalerkinRule& rule, double h)
      : doubled(system, damping, rule, h),
        forced(system, damping, rule, h),
        by_doubling([this](const MatrixXd& nodes) { return doubled.action(nodes, nodes).by_x; }),
        by_hand([this](const MatrixXd& nodes) { return forced.impulses(nodes); }) {}
  TwoDerivations(const TwoDerivations&) = delete;
  void begin_at(double t) {
    doubled.begin_at(t);
    forced.begin_at(t);
  }
};

/// The equations at the middle one of three positions. False where no path leads from one to the next.
bool compare_equations(const TwoDerivations& routes, const MatrixXd& positions, MeasuredCase& measured) {
  const Eigen::Index n = positions.rows();
  VectorXd by_x = VectorXd::Zero(n), by_y = by_x, by_hand = by_x, bound = by_x;
  for (Eigen::Index k = 0; k < 2; ++k) {
    const VectorXd from = positions.col(k), to = positions.col(k + 1);
    const std::optional<MatrixXd> doubled = routes.forced.between(routes.by_doubling, from, to);
    const std::optional<MatrixXd> forced = routes.forced.between(routes.by_hand, from, to);
    if (!doubled || !forced) return false;
    const Eigen::Index end = k == 0 ? doubled->cols() - 1 : 0;
    const DoubledLagrangian::Action action = routes.doubled.action(*doubled, *doubled);
    const VectorXd impulse = routes.forced.impulses(*forced).col(end);
    by_x += action.by_x.col(end);
    by_y += action.by_y.col(end);
    by_hand += impulse;
    bound +=
        routes.forced.end_roundoff(*forced).col(k == 0 ? 1 : 0) + 2.0 * routes.forced.rounding() * impulse.cwiseAbs();
  }
  Comparison now;
  now.add(by_x - by_hand, bound);
  now.add(by_y + by_hand, bound);
  measured.equations.push_back(now);
  measured.amplitude_equations = std::max(measured.amplitude_equations, by_hand.cwiseAbs().maxCoeff());
  return true;
}

/// Two paths against the same two exchanged; the columns are x0, x1, y0, y1. False where they are not to be found.
bool compare_antisymmetry(const TwoDerivations& routes, const MatrixXd& ends, MeasuredCase& measured) {
  const auto there = routes.doubled.stationary(ends.leftCols(2), ends.rightCols(2));
  const auto back = routes.doubled.stationary(ends.rightCols(2), ends.leftCols(2));
  if (!there || !back) return false;
  const double value = routes.doubled.action(there->x, there->y).value;
  const double exchanged = routes.doubled.action(back->x, back->y).value;
  Comparison now;
  now.add(VectorXd::Constant(1, value + exchanged),
          VectorXd::Constant(1, 2.0 * routes.doubled.roundoff(there->x, there->y)));
  measured.antisymmetry.push_back(now);
  measured.amplitude_antisymmetry = std::max(measured.amplitude_antisymmetry, std::abs(value));
  return true;
}

/// Random positions at which the equations are looked at.
struct Draws {
  std::int64_t count = 0;
  double spread = 0.0;              ///< largest distance of a component from the start, m
  std::vector<double> order_steps;  ///< from the largest to the smallest, s
};

class DoubledVariablesStudy final : public Study {
 public:
  DoubledVariablesStudy(const Experiment& experiment, Draws draws)
      : experiment_(experiment), draws_(std::move(draws)) {}

  std::optional<CaseFailure> run(ResultFile& file, Progress& progress, Checkpoints& checkpoints) override {
    if (std::optional<CaseFailure> failure = run_trajectories(experiment_, file, progress, checkpoints, {}))
      return failure;
    for (const Case& one : experiment_.cases()) {
      if (!is_doubled(one)) continue;
      Problem problem = experiment_.make_problem(one);
      problem.prepare();
      TwoDerivations routes(problem.system(), problem.damping(), rule_of(one, problem.system()), one.step);
      MeasuredCase measured;
      progress.begin(one.label + ", doubled", one.steps);
      std::optional<Failure> failure = at_random(routes, problem, measured);
      if (!failure) failure = measure_order(one, problem, measured);
      if (!failure) failure = follow(one, routes, problem, progress, measured);
      progress.end();
      if (failure) return CaseFailure{one.label, *failure};
      write(file, one, measured);
    }
    return std::nullopt;
  }

 private:
  /// Equations and antisymmetry at random positions, on rank 0. @note Collective.
  std::optional<Failure> at_random(const TwoDerivations& routes, const Problem& problem, MeasuredCase& measured) const {
    RandomPositions draws(problem.system().q0, draws_.spread, experiment_.seed());
    std::int64_t lost = 0;  // the draw that has no path, from 1
    for (std::int64_t draw = 1; problem.communicator().is_root() && draw <= draws_.count; ++draw) {
      const MatrixXd positions = draws.positions(3), ends = draws.positions(4);
      if (compare_equations(routes, positions, measured) && compare_antisymmetry(routes, ends, measured)) continue;
      lost = draw;
      break;
    }
    problem.communicator().broadcast(std::span<std::int64_t>(&lost, 1));
    if (lost == 0) return std::nullopt;
    return Failure{0, 0.0,
                   fmt::format("draw {}: no path between positions drawn at random that Newton's method finds; a "
                               "smaller `spread` or a smaller step may help",
                               lost)};
  }

  /// The order of the discrete Lagrangian over the study's steps, on rank 0. @note Collective.
  std::optional<Failure> measure_order(const Case& one, const Problem& problem, MeasuredCase& measured) const {
    double lost = 0.0;  // the step at which there is no path
    if (problem.communicator().is_root()) {
      lost = add_lagrangian_errors(problem, rule_of(one, problem.system()), draws_.order_steps, draws_.count,
                                   draws_.spread, experiment_.seed(), measured.lagrangian);
    }
    problem.communicator().broadcast(std::span<double>(&lost, 1));
    if (lost == 0.0) return std::nullopt;
    return Failure{0, 0.0,
                   fmt::format("no paths with step {} between positions drawn at random that Newton's method finds; a "
                               "smaller `spread` or smaller `order_steps` may help",
                               lost)};
  }

  /// The motion made by the doubled equations beside the integrator's. @note Collective.
  std::optional<Failure> follow(const Case& one, TwoDerivations& routes, Problem& problem, Progress& progress,
                                MeasuredCase& measured) const {
    const std::unique_ptr<Stepper> stepper = make_stepper(one.scheme, problem, one.step);
    const std::int64_t every = experiment_.output().every;
    DoubledVariablesBound bound(routes.forced, stages_of(one));
    VectorXd q = problem.q, p = problem.p;
    Comparison since_q, since_p;
    std::int64_t failed_step = 0;  // the step at which the doubled equations could not go on
    for (std::int64_t step = 1; step <= one.steps; ++step) {
      const VectorXd v = problem.velocity();
      routes.begin_at(problem.clock.at(0.0));
      if (std::optional<Failure> failure = stepper->advance(1)) return failure;
      progress.update(step);
      if (!problem.communicator().is_root() || failed_step > 0) continue;
      const std::optional<MatrixXd> nodes = routes.forced.leaving(routes.by_doubling, q, p, v);
      if (!nodes || !problem.q.allFinite() || !problem.p.allFinite()) {
        failed_step = step;
        continue;
      }
      const VectorXd next_p = routes.by_doubling(*nodes).rightCols(1);
      bound.step(*nodes, p, next_p);
      q = nodes->rightCols(1);
      p = next_p;
      since_q.add(q - problem.q, bound.positions());
      since_p.add(p - problem.p, bound.momenta());
      measured.amplitude_q = std::max(measured.amplitude_q, q.cwiseAbs().maxCoeff());
      measured.amplitude_p = std::max(measured.amplitude_p, p.cwiseAbs().maxCoeff());
      if (step % every != 0 && step != one.steps) continue;
      measured.q.push_back(std::exchange(since_q, {}));
      measured.p.push_back(std::exchange(since_p, {}));
    }
    problem.communicator().broadcast(std::span<std::int64_t>(&failed_step, 1));
    if (failed_step == 0) return std::nullopt;
    return Failure{failed_step, 0.0,
                   "the doubled discrete Euler-Lagrange equations have no solution that Newton's method finds, or the "
                   "state is no longer finite"};
  }

  void write(ResultFile& file, const Case& one, const MeasuredCase& measured) const {
    const std::string group = "doubled-variables/" + one.label;
    Dimension draw{"draw", {}, "1", "draw of random positions, counted from 0"};
    for (std::int64_t i = 0; i < draws_.count; ++i) draw.values.push_back(static_cast<double>(i));
    if (!draws_.order_steps.empty()) {
      const Dimension step[] = {{"step", draws_.order_steps, "s", "time step"}};
      file.array(group, {"error_lagrangian", "J", "mean distance of L~_d from the exact one, by step", {"step"}}, step,
                 measured.lagrangian.mean());
      file.array(group, {"used_lagrangian", "1", "1 where the fit of the order uses the point", {"step"}}, step,
                 measured.lagrangian.used());
      file.number(group, "order_lagrangian", "1", "fitted order of L~_d", measured.lagrangian.order());
    }
    const Dimension time = output_times(experiment_, one);
    double fraction = 0.0;
    const auto write_one = [&](const std::string& name, const char* units, const std::string& what,
                               const Dimension& dimension, const std::vector<Comparison>& list, double amplitude) {
      const auto series = [&](const std::string& variable, const char* its_units, const std::string& long_name,
                              double Comparison::*member) {
        std::vector<double> values;
        for (const Comparison& each : list) values.push_back(each.*member);
        file.array(group, {variable, its_units, long_name, {dimension.name}}, std::span(&dimension, 1), values);
      };
      series("difference_" + name, units, "difference of " + what, &Comparison::difference);
      series("difference_bound_" + name, units, "round-off bound of the difference of " + what, &Comparison::bound);
      series("fraction_" + name, "1", "largest part of its round-off bound that a difference of " + what + " reaches",
             &Comparison::fraction);
      Comparison all;
      for (const Comparison& each : list) all.add(each);
      file.number(group, "largest_" + name, units, "largest difference of " + what, all.difference);
      file.number(group, "bound_" + name, units, "largest round-off bound of the difference of " + what, all.bound);
      file.number(group, "amplitude_" + name, units, "largest absolute value of " + what, amplitude);
      fraction = std::max(fraction, all.fraction);
    };
    write_one("equations", "kg m/s", "the forced discrete Euler-Lagrange equations", draw, measured.equations,
              measured.amplitude_equations);
    write_one("antisymmetry", "J s", "L~_d(x, y) and -L~_d(y, x)", draw, measured.antisymmetry,
              measured.amplitude_antisymmetry);
    write_one("q", "m", "positions", time, measured.q, measured.amplitude_q);
    write_one("p", "kg m/s", "momenta", time, measured.p, measured.amplitude_p);
    file.number(group, "fraction", "1", "largest part of a round-off bound that any difference reaches", fraction);
    file.flush();
  }

  const Experiment& experiment_;
  Draws draws_;
};

std::unique_ptr<Study> make_doubled_variables(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  const Section& study = recipe.study;
  if (experiment.system().contact) {
    mistakes.add(
        recipe.system.where("kind"),
        "a doubled-variables study doubles Lagrangians L(q, v) with forces; that of a contact system depends on its "
        "action as well");
    return nullptr;
  }
  if (experiment.system().magnetic_field != 0.0) {
    mistakes.add(
        recipe.system.where("magnetic_field"),
        "magnetic_field: a doubled-variables study doubles a Lagrangian that it knows whole; type the field into the "
        "L of a system of kind `lagrangian`, as B*(x*y_dot - y*x_dot)/2");
    return nullptr;
  }
  if (std::none_of(experiment.cases().begin(), experiment.cases().end(), is_doubled)) {
    mistakes.add(
        study.where("kind"),
        "a doubled-variables study follows open runs of `gamma` and `lobatto`, which have a discrete Lagrangian; "
        "this recipe has no [[integrators]] with one of these names and on = \"open\"");
  }
  Draws draws{.count = study.integer("draws"), .spread = study.number("spread"), .order_steps = {}};
  if (study.has("order_steps")) draws.order_steps = study.numbers("order_steps");
  std::sort(draws.order_steps.begin(), draws.order_steps.end(), std::greater<>());
  return std::make_unique<DoubledVariablesStudy>(experiment, std::move(draws));
}

}  // namespace

StudyKind doubled_variables_kind() {
  return {
      .entry =
          {.name = "doubled-variables",
           .summary = "forced equations from a Lagrangian of doubled variables, by automatic differentiation",
           .equation = "L~ = L(x, x', t) - L(y, y', t) + (f(x, x', t) + f(y, y', t)).(x - y) / 2\n"
                       "D_x1 [L~_d(q0, q1) + L~_d(q1, q2)]  against  D2 L_d + f_d^+ + D1 L_d + f_d^-,\n"
                       "L~_d(y, x)  against  -L~_d(x, y)",
           .source = "martin2018, Definition 5.1, Theorems 6.1 and 7.1, section 7, Propositions 7.3 and 7.4",
           .keywords = {"duplicated variables", "galley", "lagrange-d'alembert"},
           .parameters =
               {{.name = "draws",
                 .type = ValueType::integer,
                 .doc = "how many random positions the equations and the antisymmetry are looked at, drawn by "
                        "the seed of [output]",
                 .default_value = "100",
                 .bound = Bound::positive},
                {.name = "spread",
                 .units = "m",
                 .doc = "largest distance of a component of a drawn position from the start",
                 .required = true,
                 .bound = Bound::positive},
                {.name = "order_steps",
                 .type = ValueType::numbers,
                 .units = "s",
                 .doc = "steps at which L~_d is compared with the exact discrete Lagrangian, between positions drawn "
                        "as above whose mean velocities lie as near to those of the start",
                 .bound = Bound::positive}},
           .notes =
               "Every open run of `gamma` and `lobatto` is followed, of any system without an action z: L may be "
               "typed, "
               "and f is all that acts besides, damping, `force` and `drive`. Group doubled-variables/<integrator>: "
               "over "
               "draws "
               "difference_equations, difference_antisymmetry, over time difference_q, difference_p (doubled "
               "equations against the integrator, the largest since the record before); difference_bound_... and "
               "fraction_..., their round-off bounds; largest_..., bound_..., amplitude_... and `fraction` overall; "
               "with "
               "order_steps over them error_lagrangian, |L~_d - L~_d^e| / h, the mean over the draws, and "
               "order_lagrangian."},
      .make = make_doubled_variables,
      .takes_any_lagrangian = true};
}

}  // namespace bathline
