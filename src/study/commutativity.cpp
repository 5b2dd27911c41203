// Whether reduction and Legendre transform commute for damped systems.
//
// The first branch is the integrator: the Legendre transform first, then the reduction, in positions and momenta. The
// second is the reduction first: the forced discrete Euler-Lagrange equations in positions, whose momenta come from the
// forced discrete Legendre transforms. In exact arithmetic both give the same numbers for every potential, every
// symmetric damping matrix and every gamma. The difference is measured step by step. Source: farshi2018, Theorems 4.3
// and 5.4.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "driver/output_times.hpp"
#include "study/catalogue.hpp"
#include "study/memory_check.hpp"
#include "study/shared_checks.hpp"
#include "study/step_comparison.hpp"
#include "study/theory/forced_lagrangian.hpp"
#include "study/theory/random_damping.hpp"

namespace bathline {

namespace {

using Eigen::VectorXd;

/// The differences that are measured.
constexpr ComparedQuantity branch_differences[] = {
    {"q", "m", "positions"}, {"p", "kg m/s", "momenta"}, {"matching", "kg m/s", "p+ and p-"}};

bool is_compared(const Case& this_case) { return !this_case.closed && this_case.method->entry.name == "gamma"; }

/// Random damping matrices that are compared besides the system's own.
struct RandomDampings {
  std::int64_t count = 0;
  double scale = 0.0;  ///< mean of the diagonal, kg/s
};

class CommutativityStudy final : public SecondRunStudy {
 public:
  CommutativityStudy(const Experiment& experiment, const RandomDampings& dampings)
      : SecondRunStudy(experiment),
        random_dampings_(
            random_dampings(dampings.count, experiment.system().size(), dampings.scale, experiment.seed())) {}

 private:
  /// Results of a case, on rank 0.
  struct Measured {
    std::vector<LargestValues> draws;
    double amplitude_q = 0.0, amplitude_p = 0.0;
  };

  bool is_examined(const Case& this_case) const override { return is_compared(this_case); }

  std::optional<Failure> examine(const Case& this_case, ResultFile& file, Progress& progress) override {
    Measured measured;
    for (std::size_t draw = 0; draw <= random_dampings_.size(); ++draw) {
      if (std::optional<Failure> failure = compare(this_case, draw, progress, measured)) return failure;
    }
    write(file, this_case, measured);
    return std::nullopt;
  }

  /// Computes both branches with one damping matrix; number 0 is the system's own. @note Collective.
  std::optional<Failure> compare(const Case& this_case, std::size_t draw, Progress& progress,
                                 Measured& measured) const {
    const Problem own = experiment_.make_problem(this_case);
    const Eigen::MatrixXd& damping = draw == 0 ? own.damping() : random_dampings_[draw - 1];
    Problem problem(experiment_.system(), damping, {}, experiment_.communicator());
    problem.prepare();
    const ForcedLagrangian lagrangian(experiment_.system(), damping, this_case.options.number("gamma"), this_case.step);
    LargestValues& differences = measured.draws.emplace_back(std::size(branch_differences));
    VectorXd previous, q = problem.q;
    const auto compare = [&](const ParticleState& before, const ParticleState& after) {
      const bool is_first = previous.size() == 0;
      const std::optional<VectorXd> next_q = is_first ? lagrangian.first(q, before.p) : lagrangian.next(previous, q);
      if (!next_q || !after.q.allFinite() || !after.p.allFinite()) return false;
      differences.add(0, *next_q - after.q);
      differences.add(1, lagrangian.momentum_after(q, *next_q) - after.p);
      if (!is_first)
        differences.add(2, lagrangian.momentum_after(previous, q) - lagrangian.momentum_before(q, *next_q));
      previous = std::exchange(q, *next_q);
      measured.amplitude_q = std::max(measured.amplitude_q, after.q.cwiseAbs().maxCoeff());
      measured.amplitude_p = std::max(measured.amplitude_p, after.p.cwiseAbs().maxCoeff());
      return true;
    };
    return compare_steps(this_case, experiment_.output().every, problem, progress,
                         {fmt::format("{}, damping {}", this_case.name, draw),
                          fmt::format("damping {}: Newton's method found no solution of the forced discrete "
                                      "Euler-Lagrange equations, or the state is not finite",
                                      draw),
                          compare, [&] { differences.end_record(); }});
  }

  void write(ResultFile& file, const Case& this_case, const Measured& measured) const {
    const std::string group = "commutativity/" + this_case.name;
    const GroupWriter out(file, group);
    const Dimension draw =
        counted_dimension("draw", random_dampings_.size() + 1, "damping matrix; 0: that of the system, others: random");
    const Dimension time = output_times(experiment_, this_case);
    for (std::size_t i = 0; i < std::size(branch_differences); ++i) {
      const auto& [name, units, what] = branch_differences[i];
      std::vector<double> by_draw, by_time(measured.draws.empty() ? 0 : time.length());
      for (const LargestValues& differences : measured.draws) {
        by_draw.push_back(differences.overall(i));
        std::ranges::transform(by_time, differences.by_record(i), by_time.begin(), std::ranges::max);
      }
      const std::string difference = fmt::format("largest difference of {}", what);
      out.array(fmt::format("difference_{}", name), units, difference, {draw}, by_draw);
      out.array(fmt::format("path_{}", name), units, difference + " over all damping matrices", {time}, by_time);
      out.number(fmt::format("largest_{}", name), units, difference + " overall", std::ranges::max(by_draw));
    }
    out.number("amplitude_q", "m", "largest position", measured.amplitude_q);
    out.number("amplitude_p", "kg m/s", "largest momentum", measured.amplitude_p);
    file.attribute("gamma", this_case.options.number("gamma"), group);
  }

  std::vector<Eigen::MatrixXd> random_dampings_;
};

std::unique_ptr<Study> make_commutativity(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  const Section& study = recipe.study;
  check_needs({.no_external_forces = true,
               .linear_couplings = true,
               .examined = "[[integrators]] with method = \"gamma\" and on = \"open\"",
               .has_examined = std::ranges::any_of(experiment.cases(), is_compared)},
              recipe, experiment, mistakes);
  RandomDampings dampings{.count = study.integer("random_dampings")};
  if (study.has("damping_scale")) {
    dampings.scale = study.number("damping_scale");
  } else if (dampings.count > 0) {
    mistakes.add(study.where("random_dampings"),
                 "`random_dampings` needs `damping_scale`, the mean of the diagonal of each matrix");
  }
  const double draws = static_cast<double>(dampings.count) + 1.0;
  check_memory_of_records(draws * std::size(branch_differences), false, recipe, experiment, mistakes);
  return std::make_unique<CommutativityStudy>(experiment, dampings);
}

}  // namespace

StudyKind commutativity_kind() {
  return {{.name = "commutativity",
           .summary = "whether reducing the damping before or after the Legendre transform gives the same numbers",
           .equation = "D2 L_d(q-, q) + f+(q-, q) + D1 L_d(q, q+) + f-(q, q+) = 0  against  the open gamma scheme\n"
                       "p- = -D1 L_d - f-,  p+ = D2 L_d + f+",
           .source = "farshi2018, Theorems 4.3 and 5.4, eqs. (46)-(48) and (52)",
           .parameters = {defaulted("random_dampings", ValueType::integer, "", "0",
                                    "number of random positive semi-definite damping matrices compared besides the "
                                    "system's own, drawn with the recipe's `seed`",
                                    Bound::nonnegative),
                          optional("damping_scale", ValueType::number, "kg/s",
                                   "mean of the diagonal of a random damping matrix", Bound::positive)},
           .notes = "Every open run of `gamma` is compared. Group commutativity/<integrator>: difference_q, "
                    "difference_p, difference_matching (p+ and p-) by damping matrix; path_... over time; largest_..., "
                    "amplitude_q, amplitude_p."},
          make_commutativity};
}

}  // namespace bathline
