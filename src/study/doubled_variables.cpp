// Forced Euler-Lagrange equations from a Lagrangian of doubled variables, after the theorem of martin2018.
//
// A discrete Lagrangian L~_d(x, y) is made of Lagrangian and force (study/theory/doubled_lagrangian.hpp) and
// differentiated automatically. These are compared:
//
//   equations     D_x1 [L~_d(q0, q1) + L~_d(q1, q2)] on x = y, and -D_y1 of the same, with the forced discrete
//   Euler-Lagrange equations derived by hand (study/theory/forced_galerkin_path.hpp), at random positions antisymmetry
//   L~_d(y, x) with -L~_d(x, y), at random positions off the diagonal q, p          the solution of the doubled
//   equations with that of the integrator
//
// and, for a list of steps, L~_d with the exact discrete Lagrangian, the integral of L~ along the solution of the
// doubled equations between the same ends: a discretisation has order r if they differ by O(h^{r+1}) off the
// diagonal, and then so has the integrator (Theorem 7.1). The integral is computed along a stationary polynomial of
// high degree.
//
// Source: martin2018, Definition 5.1, Theorems 6.1 and 7.1, section 7, Propositions 7.3 and 7.4; marsden2001, section
// 3.2.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "driver/output_times.hpp"
#include "random/streams.hpp"
#include "study/catalogue.hpp"
#include "study/memory_check.hpp"
#include "study/shared_checks.hpp"
#include "study/step_comparison.hpp"
#include "study/theory/doubled_lagrangian.hpp"
#include "study/theory/lagrangian_order.hpp"
#include "study/theory/random_positions.hpp"

namespace bathline {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

bool has_discrete_lagrangian(const Case& this_case) {
  return !this_case.closed && (this_case.method->entry.name == "gamma" || this_case.method->entry.name == "lobatto");
}

/// The path of the integrator; with constant masses that of a Lobatto pair has one degree less.
GalerkinRule rule_of(const Case& this_case, const ParticleSystem& system) {
  if (this_case.method->entry.name == "gamma") return gamma_rule(this_case.options.number("gamma"));
  const int stages = static_cast<int>(this_case.options.integer("stages"));
  return system.lagrangian ? lobatto_pair_rule(stages) : lobatto_rule(stages);
}

/// What is compared: the first two by draw, the others by record.
constexpr ComparedQuantity doubled_differences[] = {
    {"equations", "kg m/s", "the forced discrete Euler-Lagrange equations"},
    {"antisymmetry", "J s", "L~_d(x, y) and -L~_d(y, x)"},
    {"q", "m", "positions"},
    {"p", "kg m/s", "momenta"}};
enum : std::size_t { equations, antisymmetry, positions_of_run, momenta_of_run };

/// Results of a case, on rank 0.
struct MeasuredCase {
  LargestValues at_random = LargestValues(2), of_run = LargestValues(2);  // differences
  LargestValues amplitudes = LargestValues(std::size(doubled_differences));
  MeasuredOrder lagrangian;  // of the errors of L~_d, by step
};

/// Both derivations for a case.
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

/// Compares the equations at the middle one of three positions. False where two of them are not joined by a path.
bool compare_equations(const TwoDerivations& derivations, const MatrixXd& positions, MeasuredCase& measured) {
  const Eigen::Index n = positions.rows();
  VectorXd by_x = VectorXd::Zero(n), by_y = by_x, by_hand = by_x;
  for (Eigen::Index k = 0; k < 2; ++k) {
    const VectorXd from = positions.col(k), to = positions.col(k + 1);
    const std::optional<MatrixXd> doubled = derivations.forced.between(derivations.by_doubling, from, to);
    const std::optional<MatrixXd> forced = derivations.forced.between(derivations.by_hand, from, to);
    if (!doubled || !forced) return false;
    const Eigen::Index end = k == 0 ? doubled->cols() - 1 : 0;
    const DoubledLagrangian::Action action = derivations.doubled.action(*doubled, *doubled);
    by_x += action.by_x.col(end);
    by_y += action.by_y.col(end);
    by_hand += derivations.forced.impulses(*forced).col(end);
  }
  measured.at_random.add(equations, by_x - by_hand);
  measured.at_random.add(equations, by_y + by_hand);
  measured.amplitudes.add(equations, by_hand);
  return true;
}

/// Compares L~_d of two paths and of the same paths exchanged; the columns are x0, x1, y0, y1. False where there are
/// none.
bool compare_antisymmetry(const TwoDerivations& derivations, const MatrixXd& ends, MeasuredCase& measured) {
  const auto forward = derivations.doubled.stationary(ends.leftCols(2), ends.rightCols(2));
  const auto backward = derivations.doubled.stationary(ends.rightCols(2), ends.leftCols(2));
  if (!forward || !backward) return false;
  const double value = derivations.doubled.action(forward->x, forward->y).value;
  const double exchanged = derivations.doubled.action(backward->x, backward->y).value;
  measured.at_random.add(antisymmetry, std::abs(value + exchanged));
  measured.amplitudes.add(antisymmetry, std::abs(value));
  return true;
}

/// Random positions at which the equations are compared.
struct Draws {
  std::int64_t count = 0;
  double spread = 0.0;              ///< largest distance of a component from the start, m
  std::vector<double> order_steps;  ///< from the largest to the smallest, s
};

class DoubledVariablesStudy final : public SecondRunStudy {
 public:
  DoubledVariablesStudy(const Experiment& experiment, Draws draws)
      : SecondRunStudy(experiment), draws_(std::move(draws)) {}

 private:
  bool is_examined(const Case& this_case) const override { return has_discrete_lagrangian(this_case); }

  std::optional<Failure> examine(const Case& this_case, ResultFile& file, Progress& progress) override {
    Problem problem = experiment_.make_problem(this_case);
    problem.prepare();
    TwoDerivations derivations(problem.system(), problem.damping(), rule_of(this_case, problem.system()),
                               this_case.step);
    MeasuredCase measured;
    std::optional<Failure> failure = compare_at_random(derivations, problem, measured);
    if (!failure) failure = measure_order(this_case, problem, measured);
    if (!failure) failure = compare_solutions(this_case, derivations, problem, progress, measured);
    if (!failure) write(file, this_case, measured);
    return failure;
  }

  /// Compares equations and antisymmetry at random positions, on rank 0. @note Collective.
  std::optional<Failure> compare_at_random(const TwoDerivations& derivations, const Problem& problem,
                                           MeasuredCase& measured) const {
    RandomPositions draws(problem.system().q0, draws_.spread, streams::doubled_positions.key(experiment_.seed(), 0));
    std::int64_t failed_draw = 0;  // number of the draw without a path, from 1
    for (std::int64_t draw = 1; problem.communicator().is_root() && draw <= draws_.count; ++draw) {
      const MatrixXd positions = draws.positions(3), ends = draws.positions(4);
      if (!compare_equations(derivations, positions, measured) || !compare_antisymmetry(derivations, ends, measured)) {
        failed_draw = draw;
        break;
      }
      measured.at_random.end_record();
    }
    problem.communicator().broadcast(std::span<std::int64_t>(&failed_draw, 1));
    if (failed_draw == 0) return std::nullopt;
    return Failure{0, 0.0,
                   fmt::format("draw {}: Newton's method finds no path between the random positions; a smaller "
                               "`spread` or a smaller step may help",
                               failed_draw)};
  }

  /// Measures the order of the discrete Lagrangian with the steps of the study, on rank 0. @note Collective.
  std::optional<Failure> measure_order(const Case& this_case, const Problem& problem, MeasuredCase& measured) const {
    double failed_step = 0.0;  // the step without a path
    if (problem.communicator().is_root()) {
      failed_step = add_lagrangian_errors(problem, rule_of(this_case, problem.system()), draws_.order_steps,
                                          draws_.count, draws_.spread, experiment_.seed(), measured.lagrangian);
    }
    problem.communicator().broadcast(std::span<double>(&failed_step, 1));
    if (failed_step == 0.0) return std::nullopt;
    return Failure{0, 0.0,
                   fmt::format("with step {} Newton's method finds no path between the random positions; a smaller "
                               "`spread` or smaller `order_steps` may help",
                               failed_step)};
  }

  /// Compares the solution of the doubled equations with that of the integrator. @note Collective.
  std::optional<Failure> compare_solutions(const Case& this_case, TwoDerivations& derivations, Problem& problem,
                                           Progress& progress, MeasuredCase& measured) const {
    VectorXd q = problem.q, p = problem.p;
    const auto compare = [&](const ParticleState& before, const ParticleState& after) {
      derivations.begin_at(before.t);
      const std::optional<MatrixXd> nodes = derivations.forced.leaving(derivations.by_doubling, q, p, before.v);
      if (!nodes || !after.q.allFinite() || !after.p.allFinite()) return false;
      p = derivations.by_doubling(*nodes).rightCols(1);
      q = nodes->rightCols(1);
      measured.of_run.add(0, q - after.q);
      measured.of_run.add(1, p - after.p);
      measured.amplitudes.add(positions_of_run, q);
      measured.amplitudes.add(momenta_of_run, p);
      return true;
    };
    return compare_steps(this_case, experiment_.output().every, problem, progress,
                         {this_case.name + ", doubled",
                          "Newton's method found no solution of the doubled discrete Euler-Lagrange equations, or the "
                          "state is not finite",
                          compare, [&] { measured.of_run.end_record(); }});
  }

  void write(ResultFile& file, const Case& this_case, const MeasuredCase& measured) const {
    const GroupWriter out(file, "doubled-variables/" + this_case.name);
    if (!draws_.order_steps.empty()) {
      const Dimension step{"step", draws_.order_steps, "s", "time step"};
      out.array("error_lagrangian", "J", "mean difference of L~_d from the exact one, by step", {step},
                measured.lagrangian.mean());
      out.array("used_lagrangian", "1", "1 where the fit of the order uses the point", {step},
                measured.lagrangian.used());
      out.number("order_lagrangian", "1", "fitted order of L~_d", measured.lagrangian.order(), true);
    }
    const Dimension draw =
        counted_dimension("draw", static_cast<std::size_t>(draws_.count), "draw of random positions, counted from 0");
    const Dimension time = output_times(experiment_, this_case);
    for (std::size_t i = 0; i < std::size(doubled_differences); ++i) {
      const auto& [name, units, what] = doubled_differences[i];
      const bool is_at_random = i <= antisymmetry;
      const LargestValues& differences = is_at_random ? measured.at_random : measured.of_run;
      const std::size_t index = is_at_random ? i : i - positions_of_run;
      out.array(fmt::format("difference_{}", name), units, fmt::format("difference of {}", what),
                {is_at_random ? draw : time}, differences.by_record(index));
      out.number(fmt::format("largest_{}", name), units, fmt::format("largest difference of {}", what),
                 differences.overall(index));
      out.number(fmt::format("amplitude_{}", name), units, fmt::format("largest absolute value of {}", what),
                 measured.amplitudes.overall(i));
    }
  }

  Draws draws_;
};

std::unique_ptr<Study> make_doubled_variables(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  const Section& study = recipe.study;
  if (experiment.system().contact) {
    mistakes.add(recipe.system.where("kind"),
                 "a doubled-variables study needs a Lagrangian L(q, v) with forces; that of a contact system depends "
                 "on its action as well");
    return nullptr;
  }
  if (experiment.system().magnetic_field != 0.0) {
    mistakes.add(recipe.system.where("magnetic_field"),
                 "magnetic_field: a doubled-variables study does not support this key; write the field as B*(x*y_dot - "
                 "y*x_dot)/2 in the L of a system of kind `lagrangian`");
    return nullptr;
  }
  check_needs({.linear_couplings = true,
               .examined = "[[integrators]] with method = \"gamma\" or \"lobatto\" and on = \"open\"",
               .has_examined = std::ranges::any_of(experiment.cases(), has_discrete_lagrangian)},
              recipe, experiment, mistakes);
  check_memory_of_records(16.0, false, recipe, experiment, mistakes);
  Draws draws{.count = study.integer("draws"), .spread = study.number("spread"), .order_steps = {}};
  if (study.has("order_steps")) draws.order_steps = study.numbers("order_steps");
  std::sort(draws.order_steps.begin(), draws.order_steps.end(), std::greater<>());
  return std::make_unique<DoubledVariablesStudy>(experiment, std::move(draws));
}

}  // namespace

StudyKind doubled_variables_kind() {
  return {
      .entry = {.name = "doubled-variables",
                .summary = "forced equations from a Lagrangian of doubled variables, by automatic differentiation",
                .equation = "L~ = L(x, x', t) - L(y, y', t) + (f(x, x', t) + f(y, y', t)).(x - y) / 2\n"
                            "D_x1 [L~_d(q0, q1) + L~_d(q1, q2)]  against  D2 L_d + f_d^+ + D1 L_d + f_d^-,\n"
                            "L~_d(y, x)  against  -L~_d(x, y)",
                .source = "martin2018, Definition 5.1, Theorems 6.1 and 7.1, section 7, Propositions 7.3 and 7.4",
                .keywords = {"duplicated variables", "galley", "lagrange-d'alembert"},
                .parameters =
                    {defaulted("draws", ValueType::integer, "", "100",
                               "number of random positions at which equations and antisymmetry are compared, drawn "
                               "with the recipe's `seed`",
                               Bound::positive),
                     required("spread", ValueType::number, "m",
                              "largest distance of a component of a random position from the start", Bound::positive),
                     optional("order_steps", ValueType::numbers, "s",
                              "steps with which L~_d is compared with the exact discrete Lagrangian, between random "
                              "positions whose mean velocities differ from those of the start by at most `spread`",
                              Bound::positive)},
                .notes =
                    "Examines every open run of `gamma` and `lobatto` of any system without an action z: L may be "
                    "typed, and f is the sum of damping, `force` and `drive`. Group doubled-variables/<integrator>: "
                    "over draws difference_equations, difference_antisymmetry, over time difference_q, difference_p "
                    "(between doubled equations and integrator, the largest since the previous record); largest_... "
                    "and amplitude_... overall; with order_steps error_lagrangian over the steps, |L~_d - L~_d^e| / h, "
                    "the mean over the draws, and order_lagrangian."},
      .make = make_doubled_variables,
      .takes_any_lagrangian = true};
}

}  // namespace bathline
