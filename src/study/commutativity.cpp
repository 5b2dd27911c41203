// Does it matter whether the damping is reduced before or after the Legendre transform?
//
// One branch is the integrator: the Legendre transform first, then the reduction, in positions and momenta. The other
// is the reduction first, the forced discrete Euler-Lagrange equations in positions, whose momenta come from the forced
// discrete Legendre transforms. In exact arithmetic they give the same numbers for every potential, every symmetric
// damping matrix and every gamma; here the difference is measured step by step and held against a bound of the
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

/// Positions, momenta, and p+ against p-.
struct Comparisons {
  Comparison q, p, matching;
  void add(const Comparisons& other) {
    q.add(other.q);
    p.add(other.p);
    matching.add(other.matching);
  }
};

bool is_compared(const Case& one) { return !one.closed && one.method->entry.name == "gamma"; }

/// Damping matrices to draw beside the system's own.
struct RandomDampings {
  std::int64_t count = 0;
  double scale = 0.0;  ///< mean of a diagonal, kg/s
};

class CommutativityStudy final : public Study {
 public:
  CommutativityStudy(const Experiment& experiment, const RandomDampings& dampings)
      : experiment_(experiment), dampings_(dampings) {}

  std::optional<CaseFailure> run(ResultFile& file, Progress& progress, Checkpoints& checkpoints) override {
    if (std::optional<CaseFailure> failure = run_trajectories(experiment_, file, progress, checkpoints, {}))
      return failure;
    drawn_ = random_dampings(dampings_.count, experiment_.system().size(), dampings_.scale, experiment_.seed());
    for (const Case& one : experiment_.cases()) {
      if (!is_compared(one)) continue;
      Measured measured;
      for (std::size_t draw = 0; draw <= drawn_.size(); ++draw) {
        progress.begin(fmt::format("{}, damping {}", one.label, draw), one.steps);
        const std::optional<Failure> failure = compare(one, draw, progress, measured);
        progress.end();
        if (failure) return CaseFailure{one.label, *failure};
      }
      write(file, one, measured);
    }
    return std::nullopt;
  }

 private:
  /// What rank 0 has measured of one case.
  struct Measured {
    std::vector<Comparisons> draws;
    std::vector<Comparisons> records;  // over all draws, by recorded step from 1 on
    double amplitude_q = 0.0, amplitude_p = 0.0;
  };

  /// Both branches side by side with one damping matrix, the system's own as number 0. @note Collective.
  std::optional<Failure> compare(const Case& one, std::size_t draw, Progress& progress, Measured& measured) const {
    const Problem own = experiment_.make_problem(one);
    const Eigen::MatrixXd& damping = draw == 0 ? own.damping() : drawn_[draw - 1];
    Problem problem(experiment_.system(), damping, {}, experiment_.communicator());
    problem.prepare();
    const std::unique_ptr<Stepper> stepper = make_stepper(one.scheme, problem, one.step);
    const double gamma = one.options.number("gamma");
    const ForcedLagrangian lagrangian(experiment_.system(), damping, gamma, one.step);
    RoundoffBound bound(experiment_.system(), damping, gamma, one.step);
    const std::int64_t every = experiment_.output().every;

    Comparisons whole, since_record;
    VectorXd before, q = problem.q;
    std::int64_t failed_step = 0;  // the step at which the positions' branch could not go on
    std::size_t record = 0;
    for (std::int64_t step = 1; step <= one.steps; ++step) {
      const VectorXd from_q = problem.q, from_p = problem.p;
      if (std::optional<Failure> failure = stepper->advance(1)) return failure;
      progress.update(step);
      if (!problem.communicator().is_root() || failed_step > 0) continue;
      const std::optional<VectorXd> next = step == 1 ? lagrangian.first(q, from_p) : lagrangian.next(before, q);
      if (!next || !problem.q.allFinite() || !problem.p.allFinite()) {
        failed_step = step;
        continue;
      }
      bound.step(from_q, from_p, problem.q, problem.p);
      Comparisons now;
      now.q.add(*next - problem.q, bound.positions());
      now.p.add(lagrangian.momentum_after(q, *next) - problem.p, bound.momenta());
      if (step > 1) {
        now.matching.add(lagrangian.momentum_after(before, q) - lagrangian.momentum_before(q, *next), bound.matching());
      }
      before = q;
      q = *next;
      since_record.add(now);
      measured.amplitude_q = std::max(measured.amplitude_q, problem.q.cwiseAbs().maxCoeff());
      measured.amplitude_p = std::max(measured.amplitude_p, problem.p.cwiseAbs().maxCoeff());
      if (step % every != 0 && step != one.steps) continue;
      if (measured.records.size() == record) measured.records.emplace_back();
      measured.records[record++].add(since_record);
      whole.add(since_record);
      since_record = {};
    }
    measured.draws.push_back(whole);
    problem.communicator().broadcast(std::span<std::int64_t>(&failed_step, 1));
    if (failed_step == 0) return std::nullopt;
    return Failure{failed_step, 0.0,
                   fmt::format("damping {}: the forced discrete Euler-Lagrange equations have no solution that "
                               "Newton's method finds, or the state is no longer finite",
                               draw)};
  }

  void write(ResultFile& file, const Case& one, const Measured& measured) const {
    const std::string group = "commutativity/" + one.label;
    Dimension draw{"draw", {}, "1", "damping matrix: 0 the system's own, then random ones"};
    for (std::size_t i = 0; i <= drawn_.size(); ++i) draw.values.push_back(static_cast<double>(i));
    const Dimension time = output_times(experiment_, one);
    Comparisons all;
    for (const Comparisons& one_draw : measured.draws) all.add(one_draw);
    const auto write_one = [&](const std::string& name, const char* units, const std::string& what,
                               Comparison Comparisons::*member) {
      const auto by = [&](const Dimension& dimension, const std::vector<Comparisons>& list, const std::string& variable,
                          const char* its_units, const std::string& long_name, double Comparison::*value) {
        std::vector<double> values;
        for (const Comparisons& each : list) values.push_back(each.*member.*value);
        file.array(group, {variable, its_units, long_name, {dimension.name}}, std::span(&dimension, 1), values);
      };
      by(draw, measured.draws, "difference_" + name, units, "largest difference of " + what, &Comparison::difference);
      by(draw, measured.draws, "fraction_" + name, "1", "largest part of the round-off bound of " + what,
         &Comparison::fraction);
      by(time, measured.records, "path_" + name, units, "difference of " + what + ", the largest of all dampings",
         &Comparison::difference);
      by(time, measured.records, "path_bound_" + name, units, "round-off bound of " + what + ", the largest",
         &Comparison::bound);
      file.number(group, "largest_" + name, units, "largest difference of " + what + " overall",
                  (all.*member).difference);
      file.number(group, "bound_" + name, units, "largest round-off bound of " + what + " overall",
                  (all.*member).bound);
    };
    write_one("q", "m", "positions", &Comparisons::q);
    write_one("p", "kg m/s", "momenta", &Comparisons::p);
    write_one("matching", "kg m/s", "p+ and p-", &Comparisons::matching);
    file.number(group, "fraction", "1", "largest part of a round-off bound overall",
                std::max({all.q.fraction, all.p.fraction, all.matching.fraction}));
    file.number(group, "amplitude_q", "m", "largest position", measured.amplitude_q);
    file.number(group, "amplitude_p", "kg m/s", "largest momentum", measured.amplitude_p);
    file.attribute("gamma", one.options.number("gamma"), group);
    file.flush();
  }

  const Experiment& experiment_;
  RandomDampings dampings_;
  std::vector<Eigen::MatrixXd> drawn_;
};

std::unique_ptr<Study> make_commutativity(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  refuse_external_forces(recipe, mistakes);
  const Section& study = recipe.study;
  const std::vector<Case>& cases = experiment.cases();
  if (std::none_of(cases.begin(), cases.end(), is_compared)) {
    mistakes.add(study.where("kind"),
                 "a commutativity study compares open runs of `gamma`; this recipe has no [[integrators]] with name = "
                 "\"gamma\" and on = \"open\"");
  }
  if (experiment.system().force) {
    mistakes.add(recipe.system.where("kind"),
                 "a commutativity study knows potentials and dampings only; this system has a force beside them");
  }
  RandomDampings dampings{.count = study.integer("random_dampings")};
  if (study.has("damping_scale")) {
    dampings.scale = study.number("damping_scale");
  } else if (dampings.count > 0) {
    mistakes.add(study.where("random_dampings"), "random dampings need a `damping_scale`, the mean of their diagonals");
  }
  return std::make_unique<CommutativityStudy>(experiment, dampings);
}

}  // namespace

StudyKind commutativity_kind() {
  return {
      {.name = "commutativity",
       .summary = "damping reduced before or after the Legendre transform: the same numbers?",
       .equation = "D2 L_d(q-, q) + f+(q-, q) + D1 L_d(q, q+) + f-(q, q+) = 0  against  the open gamma scheme\n"
                   "p- = -D1 L_d - f-,  p+ = D2 L_d + f+",
       .source = "farshi2018, Theorems 4.3 and 5.4, eqs. (46)-(48) and (52)",
       .parameters = {{.name = "random_dampings",
                       .type = ValueType::integer,
                       .doc = "full positive semi-definite damping matrices drawn beside the system's own, by the "
                              "seed of [output]",
                       .default_value = "0",
                       .bound = Bound::nonnegative},
                      {.name = "damping_scale",
                       .units = "kg/s",
                       .doc = "mean of the diagonal of a random damping matrix",
                       .bound = Bound::positive}},
       .notes = "Every open run of `gamma` is compared. Group commutativity/<integrator>: difference_q, difference_p, "
                "difference_matching (p+ against p-) and fraction_... of their round-off bounds by damping; path_... "
                "and path_bound_... over time; largest_..., bound_..., fraction, amplitude_q, amplitude_p."},
      make_commutativity};
}

}  // namespace bathline
