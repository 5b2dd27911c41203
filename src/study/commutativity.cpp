// Whether reduction and Legendre transform commute for damped systems.
//
// The first branch is the integrator: the Legendre transform first, then the reduction, in positions and momenta. The
// second is the reduction first: the forced discrete Euler-Lagrange equations in positions, whose momenta come from the
// forced discrete Legendre transforms. In exact arithmetic both give the same numbers for every potential, every
// symmetric damping matrix and every gamma. The difference is measured step by step and compared with a bound of the
// round-off (study/theory/roundoff_bound.hpp). Source: farshi2018, Theorems 4.3 and 5.4.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "driver/output_times.hpp"
#include "driver/time_loop.hpp"
#include "study/catalogue.hpp"
#include "study/shared_checks.hpp"
#include "study/theory/comparison.hpp"
#include "study/theory/forced_lagrangian.hpp"
#include "study/theory/random_damping.hpp"
#include "study/theory/roundoff_bound.hpp"

namespace bathline {

namespace {

using Eigen::VectorXd;

/// Differences of positions, of momenta, and of p+ and p-.
struct Comparisons {
  Comparison q, p, matching;
  void add(const Comparisons& other) {
    q.add(other.q);
    p.add(other.p);
    matching.add(other.matching);
  }
};

bool is_compared(const Case& this_case) { return !this_case.closed && this_case.method->entry.name == "gamma"; }

/// Random damping matrices that are compared besides the system's own.
struct RandomDampings {
  std::int64_t count = 0;
  double scale = 0.0;  ///< mean of the diagonal, kg/s
};

class CommutativityStudy final : public Study {
 public:
  CommutativityStudy(const Experiment& experiment, const RandomDampings& dampings)
      : experiment_(experiment), dampings_(dampings) {}

  std::optional<CaseFailure> run(ResultFile& file, Progress& progress, Checkpoints& checkpoints) override {
    if (std::optional<CaseFailure> failure = run_trajectories(experiment_, file, progress, checkpoints, {}))
      return failure;
    random_dampings_ =
        random_dampings(dampings_.count, experiment_.system().size(), dampings_.scale, experiment_.seed());
    for (const Case& this_case : experiment_.cases()) {
      if (!is_compared(this_case)) continue;
      Measured measured;
      for (std::size_t draw = 0; draw <= random_dampings_.size(); ++draw) {
        progress.begin(fmt::format("{}, damping {}", this_case.name, draw), this_case.steps);
        const std::optional<Failure> failure = compare(this_case, draw, progress, measured);
        progress.end();
        if (failure) return CaseFailure{this_case.name, *failure};
      }
      write(file, this_case, measured);
    }
    return std::nullopt;
  }

 private:
  /// Results of a case, on rank 0.
  struct Measured {
    std::vector<Comparisons> draws;
    std::vector<Comparisons> records;  // maximum over all draws, by record after the start
    double amplitude_q = 0.0, amplitude_p = 0.0;
  };

  /// Computes both branches with one damping matrix; number 0 is the system's own. @note Collective.
  std::optional<Failure> compare(const Case& this_case, std::size_t draw, Progress& progress,
                                 Measured& measured) const {
    const Problem own = experiment_.make_problem(this_case);
    const Eigen::MatrixXd& damping = draw == 0 ? own.damping() : random_dampings_[draw - 1];
    Problem problem(experiment_.system(), damping, {}, experiment_.communicator());
    problem.prepare();
    const std::unique_ptr<Stepper> stepper = make_stepper(this_case.scheme, problem, this_case.step);
    const double gamma = this_case.options.number("gamma");
    const ForcedLagrangian lagrangian(experiment_.system(), damping, gamma, this_case.step);
    RoundoffBound bound(experiment_.system(), damping, gamma, this_case.step);
    const std::int64_t every = experiment_.output().every;

    Comparisons total, since_record;
    VectorXd previous, q = problem.q;
    std::int64_t failed_step = 0;  // the step at which the second branch has no solution
    std::size_t record = 0;
    for (std::int64_t step = 1; step <= this_case.steps; ++step) {
      const VectorXd from_q = problem.q, from_p = problem.p;
      if (std::optional<Failure> failure = stepper->advance(1)) return failure;
      progress.update(step);
      if (!problem.communicator().is_root() || failed_step > 0) continue;
      const std::optional<VectorXd> next_q = step == 1 ? lagrangian.first(q, from_p) : lagrangian.next(previous, q);
      if (!next_q || !problem.q.allFinite() || !problem.p.allFinite()) {
        failed_step = step;
        continue;
      }
      bound.step(from_q, from_p, problem.q, problem.p);
      Comparisons now;
      now.q.add(*next_q - problem.q, bound.positions());
      now.p.add(lagrangian.momentum_after(q, *next_q) - problem.p, bound.momenta());
      if (step > 1) {
        now.matching.add(lagrangian.momentum_after(previous, q) - lagrangian.momentum_before(q, *next_q),
                         bound.matching());
      }
      previous = q;
      q = *next_q;
      since_record.add(now);
      measured.amplitude_q = std::max(measured.amplitude_q, problem.q.cwiseAbs().maxCoeff());
      measured.amplitude_p = std::max(measured.amplitude_p, problem.p.cwiseAbs().maxCoeff());
      if (step % every != 0 && step != this_case.steps) continue;
      if (measured.records.size() == record) measured.records.emplace_back();
      measured.records[record++].add(since_record);
      total.add(since_record);
      since_record = {};
    }
    measured.draws.push_back(total);
    problem.communicator().broadcast(std::span<std::int64_t>(&failed_step, 1));
    if (failed_step == 0) return std::nullopt;
    return Failure{failed_step, 0.0,
                   fmt::format("damping {}: Newton's method found no solution of the forced discrete Euler-Lagrange "
                               "equations, or the state is not finite",
                               draw)};
  }

  void write(ResultFile& file, const Case& this_case, const Measured& measured) const {
    const std::string group = "commutativity/" + this_case.name;
    Dimension draw{"draw", {}, "1", "damping matrix; 0: that of the system, others: random"};
    for (std::size_t i = 0; i <= random_dampings_.size(); ++i) draw.values.push_back(static_cast<double>(i));
    const Dimension time = output_times(experiment_, this_case);
    Comparisons all;
    for (const Comparisons& draw_result : measured.draws) all.add(draw_result);
    const auto write_quantity = [&](const std::string& name, const char* units, const std::string& what,
                                    Comparison Comparisons::*member) {
      const auto by = [&](const Dimension& dimension, const std::vector<Comparisons>& list, const std::string& variable,
                          const char* its_units, const std::string& long_name, double Comparison::*value) {
        std::vector<double> values;
        for (const Comparisons& each : list) values.push_back(each.*member.*value);
        file.array(group, {variable, its_units, long_name, {dimension.name}}, std::span(&dimension, 1), values);
      };
      by(draw, measured.draws, "difference_" + name, units, "largest difference of " + what, &Comparison::difference);
      by(draw, measured.draws, "fraction_" + name, "1", "largest ratio to the round-off bound, " + what,
         &Comparison::fraction);
      by(time, measured.records, "path_" + name, units, "largest difference of " + what + " over all damping matrices",
         &Comparison::difference);
      by(time, measured.records, "path_bound_" + name, units,
         "largest round-off bound of " + what + " over all damping matrices", &Comparison::bound);
      file.number(group, "largest_" + name, units, "largest difference of " + what + " overall",
                  (all.*member).difference);
      file.number(group, "bound_" + name, units, "largest round-off bound of " + what + " overall",
                  (all.*member).bound);
    };
    write_quantity("q", "m", "positions", &Comparisons::q);
    write_quantity("p", "kg m/s", "momenta", &Comparisons::p);
    write_quantity("matching", "kg m/s", "p+ and p-", &Comparisons::matching);
    file.number(group, "fraction", "1", "largest ratio of a difference to its round-off bound overall",
                std::max({all.q.fraction, all.p.fraction, all.matching.fraction}));
    file.number(group, "amplitude_q", "m", "largest position", measured.amplitude_q);
    file.number(group, "amplitude_p", "kg m/s", "largest momentum", measured.amplitude_p);
    file.attribute("gamma", this_case.options.number("gamma"), group);
    file.flush();
  }

  const Experiment& experiment_;
  RandomDampings dampings_;
  std::vector<Eigen::MatrixXd> random_dampings_;
};

std::unique_ptr<Study> make_commutativity(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  refuse_external_forces(recipe, mistakes);
  refuse_nonlinear_couplings(recipe, experiment, mistakes);
  const Section& study = recipe.study;
  const std::vector<Case>& cases = experiment.cases();
  if (std::none_of(cases.begin(), cases.end(), is_compared)) {
    mistakes.add(study.where("kind"),
                 "a commutativity study compares open runs of `gamma`, but this recipe has no [[integrators]] with "
                 "method = \"gamma\" and on = \"open\"");
  }
  if (experiment.system().force) {
    mistakes.add(
        recipe.system.where("kind"),
        "a commutativity study supports potentials and damping matrices only, but this system has another force");
  }
  RandomDampings dampings{.count = study.integer("random_dampings")};
  if (study.has("damping_scale")) {
    dampings.scale = study.number("damping_scale");
  } else if (dampings.count > 0) {
    mistakes.add(study.where("random_dampings"),
                 "`random_dampings` needs `damping_scale`, the mean of the diagonal of each matrix");
  }
  return std::make_unique<CommutativityStudy>(experiment, dampings);
}

}  // namespace

StudyKind commutativity_kind() {
  return {
      {.name = "commutativity",
       .summary = "whether reducing the damping before or after the Legendre transform gives the same numbers",
       .equation = "D2 L_d(q-, q) + f+(q-, q) + D1 L_d(q, q+) + f-(q, q+) = 0  against  the open gamma scheme\n"
                   "p- = -D1 L_d - f-,  p+ = D2 L_d + f+",
       .source = "farshi2018, Theorems 4.3 and 5.4, eqs. (46)-(48) and (52)",
       .parameters = {defaulted(
                          "random_dampings", ValueType::integer, "", "0",
                          "number of random positive semi-definite damping matrices compared besides the system's "
                          "own, drawn with the recipe's `seed`",
                          Bound::nonnegative),
                      optional("damping_scale", ValueType::number, "kg/s",
                               "mean of the diagonal of a random damping matrix", Bound::positive)},
       .notes =
           "Every open run of `gamma` is compared. Group commutativity/<integrator>: difference_q, difference_p, "
           "difference_matching (p+ and p-) and fraction_..., their ratios to the round-off bounds, by damping matrix; "
           "path_... and path_bound_... over time; largest_..., bound_..., fraction, amplitude_q, amplitude_p."},
      make_commutativity};
}

}  // namespace bathline
