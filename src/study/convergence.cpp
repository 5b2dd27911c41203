// Measured order: errors against the exact flow over a list of steps.
//
// The steps of an adaptive reference are not longer than the smallest of the list, so that it meets every force that
// the methods meet. A second one, with ten times the tolerance and other steps, gives an estimate of its error, which
// is that of the second one and therefore too large rather than too small.
//
// With several random starts the error of a step is the mean over them; the smallest and the largest are written, too.
//
// The work of a run is the number of force components evaluated, on particles and on sites.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "driver/resumable_tasks.hpp"
#include "driver/time_loop.hpp"
#include "random/streams.hpp"
#include "study/catalogue.hpp"
#include "study/shared_checks.hpp"
#include "study/theory/force_count.hpp"
#include "study/theory/measured_order.hpp"

namespace bathline {

namespace {

struct FinalState {
  Eigen::VectorXd q, p;
  double energy = 0.0;  // of the particles
  double work = 0.0;
};

double largest(const Eigen::VectorXd& x) { return x.lpNorm<Eigen::Infinity>(); }

/// Distances of the final states of particles with `axes` coordinates each, in the order of
/// `ConvergenceStudy::quantities`.
std::vector<double> distances(const FinalState& a, const FinalState& b, Eigen::Index axes) {
  const Eigen::VectorXd q = a.q - b.q, p = a.p - b.p;
  std::vector<double> all = {largest(q), largest(p), std::abs(a.energy - b.energy)};
  for (Eigen::Index first = 0; first < q.size() && q.size() > axes; first += axes) {
    all.push_back(largest(q.segment(first, axes)));
    all.push_back(largest(p.segment(first, axes)));
  }
  return all;
}

struct ConvergenceOptions {
  std::vector<double> steps;              ///< from the largest to the smallest, s
  double error_time = 0.0;                ///< time at which errors are evaluated, s
  double reference_tolerance = 0.0;       ///< of an adaptive step of the reference
  bool against_open = false;              ///< whether the reference is the exact flow of the open system
  bool depends_on_step = false;           ///< whether the parameters of an environment depend on the step
  bool trajectories = false;              ///< whether the runs with the steps of [time] are recorded as well
  std::int64_t starts = 1;                ///< number of random initial states; 1: the state of [system]
  double spread_q = 0.0, spread_v = 0.0;  ///< half the edge of the cube that contains them, m and m/s
};

/// The recipe's initial state, or random ones, uniformly distributed in a cube around it.
std::vector<ParticleSystem> starts_of(const Experiment& experiment, const ConvergenceOptions& options) {
  std::vector<ParticleSystem> starts;
  for (std::int64_t i = 0; i < options.starts; ++i) {
    ParticleSystem start = experiment.system();
    const RngKey key = streams::convergence_starts.key(experiment.seed(), static_cast<std::uint32_t>(i));
    for (int j = 0; j < start.size(); ++j) {
      const auto [for_q, for_v] = uniform_pair(key, static_cast<std::uint64_t>(j));
      start.q0[j] += options.spread_q * (2.0 * for_q - 1.0);
      start.v0[j] += options.spread_v * (2.0 * for_v - 1.0);
    }
    starts.push_back(std::move(start));
  }
  return starts;
}

/// A variable that every case has, and its values.
struct Column {
  Variable variable;
  std::vector<double> values;
};

class ConvergenceStudy final : public Study {
 public:
  ConvergenceStudy(const Experiment& experiment, ConvergenceOptions options)
      : experiment_(experiment), options_(std::move(options)) {}

  std::optional<CaseFailure> run(ResultFile& file, Progress& progress, Checkpoints& checkpoints) override {
    starts_ = starts_of(experiment_, options_);
    std::span<const Case> recorded;
    if (options_.trajectories) recorded = experiment_.cases();
    if (!recorded.empty() && !ResumableTasks::has_tasks(checkpoints.from())) {
      if (std::optional<CaseFailure> failure = run_trajectories(experiment_, file, progress, checkpoints, {})) {
        return failure;
      }
    }
    ResumableTasks tasks(checkpoints, recorded);
    file.remove("convergence");  // of a resumed run, which writes it again
    file.number("convergence", "end", "s", "time at which errors are taken", options_.error_time);
    std::vector<std::string> labels;
    std::vector<std::vector<Column>> by_case;
    for (const Case& this_case : experiment_.cases()) {
      if (std::holds_alternative<ExactFlow>(this_case.scheme)) continue;
      progress.begin(this_case.name + ", errors", static_cast<std::int64_t>(options_.steps.size()),
                     {.name = "step size"});
      std::vector<Measured> all = quantities();
      std::vector<double> work;
      for (std::size_t i = 0; i < options_.steps.size(); ++i) {
        if (std::optional<Failure> failure = measure(this_case, options_.steps[i], tasks, all, work))
          return CaseFailure{this_case.name, *failure};
        if (tasks.was_restored()) progress.skip(static_cast<std::int64_t>(i + 1));
        progress.update(static_cast<std::int64_t>(i + 1));
      }
      progress.end();
      for (Measured& measured : all) measured.errors.fit(options_.steps, options_.error_time);
      labels.push_back(this_case.name);
      by_case.push_back(columns(all, work));
      write(this_case, all, by_case.back(), file);
      log_fit_warnings(this_case.name, all);
      file.flush();
    }
    write_table(labels, by_case, file);
    return std::nullopt;
  }

  /// Names in the study's group besides those of the cases.
  std::vector<std::string> names() const {
    std::vector<std::string> all = {"end", "integrator", "step"};
    for (const Column& column : columns(quantities(), {})) all.push_back(column.variable.name);
    return all;
  }

 private:
  /// The quantities whose errors are measured: of all particles together, and of each where there are several.
  std::vector<Measured> quantities() const {
    std::vector<Measured> all = {{"q", "m", "positions"}, {"p", "kg m/s", "momenta"}, {"energy", "J", "energy"}};
    const int particles = experiment_.system().particles;
    for (int a = 0; a < particles && particles > 1; ++a) {
      all.push_back({fmt::format("q_{}", a), "m", fmt::format("position of particle {}", a)});
      all.push_back({fmt::format("p_{}", a), "kg m/s", fmt::format("momentum of particle {}", a)});
    }
    return all;
  }

  /// Adds the errors with step `h` to `all`, in the order of `quantities`; one resumable task. @note Collective.
  std::optional<Failure> measure(const Case& this_case, double h, ResumableTasks& tasks, std::vector<Measured>& all,
                                 std::vector<double>& work) const {
    const std::int64_t steps = static_cast<std::int64_t>(starts_.size()) * std::llround(options_.error_time / h);
    const std::size_t size = starts_.size() * (3 * all.size() + 1);
    std::vector<double> results;
    const std::optional<Failure> failure =
        tasks.next(this_case.name, steps, size, results,
                   [&](std::vector<double>& numbers) { return compare(this_case, h, numbers); });
    if (failure) return failure;
    work.push_back(0.0);
    for (Measured& measured : all) measured.errors.begin_step();
    const double* next = results.data();
    for (std::size_t i = 0; i < starts_.size(); ++i) {
      for (Measured& measured : all) {
        measured.errors.add(next[0], next[1], starts_.size(), next[2]);
        next += 3;
      }
      work.back() += *next++ / static_cast<double>(starts_.size());
    }
    return std::nullopt;
  }

  /// For every start the error, the exact size and the error of the reference of each quantity, in the order of
  /// `quantities`, and the work. @note Collective.
  std::optional<Failure> compare(const Case& this_case, double h, std::vector<double>& numbers) const {
    for (std::size_t i = 0; i < starts_.size(); ++i) {
      const ParticleSystem& start = starts_[i];
      const std::int64_t steps = std::llround(options_.error_time / h);
      FinalState numerical;
      if (std::optional<Failure> failure =
              advance(this_case, this_case.scheme, start, h, this_case.closed, h, steps, numerical))
        return failure;
      const ReferenceKey key = reference_key(this_case, i, h);
      Reference& reference = references_[key];
      if (reference.state.q.size() == 0) {
        const bool closed = this_case.closed && !options_.against_open;
        // The exact flow of a linear system has no error but round-off, which grows with the number of steps.
        const std::int64_t count =
            std::llround(options_.error_time / (start.is_linear() ? options_.steps.front() : options_.steps.back()));
        const std::int64_t check_count = start.is_linear() ? 2 * count : count + 1;
        const double end = h * static_cast<double>(steps);
        for (const auto& [state, tolerance, reference_steps] :
             {std::tuple(&reference.check, 10.0 * options_.reference_tolerance, check_count),
              std::tuple(&reference.state, options_.reference_tolerance, count)}) {
          if (std::optional<Failure> failure =
                  advance(this_case, ExactFlow{tolerance}, start, h, closed, end / static_cast<double>(reference_steps),
                          reference_steps, *state))
            return failure;
        }
      }
      const FinalState& exact = reference.state;
      const FinalState zero{Eigen::VectorXd::Zero(exact.q.size()), Eigen::VectorXd::Zero(exact.p.size())};
      const std::vector<double> errors = distances(numerical, exact, start.axes),
                                sizes = distances(exact, zero, start.axes),
                                reference_errors = distances(exact, reference.check, start.axes);
      for (std::size_t j = 0; j < errors.size(); ++j) {
        const double rounding = std::numeric_limits<double>::epsilon() * sizes[j];
        numbers.insert(numbers.end(), {errors[j], sizes[j], std::max(reference_errors[j], rounding)});
      }
      numbers.push_back(numerical.work);
    }
    return std::nullopt;
  }

  /// A final state of the exact flow, and one with a larger tolerance.
  struct Reference {
    FinalState state, check;
  };
  /// Everything that the bits of a reference state depend on: the start, the system, the end time, and the step, where
  /// the system depends on it.
  using ReferenceKey = std::tuple<std::size_t, bool, bool, std::vector<std::size_t>, double, double>;

  ReferenceKey reference_key(const Case& this_case, std::size_t start, double h) const {
    const bool closed = this_case.closed && !options_.against_open;
    const bool has_action = this_case.method->domain == Method::Domain::contact || starts_[start].contact;
    const double end = h * static_cast<double>(std::llround(options_.error_time / h));
    return {start, closed, has_action, this_case.environments, end, options_.depends_on_step ? h : 0.0};
  }

  /// Advances the system that a case with the step `h` has, by steps of length `step`.
  std::optional<Failure> advance(const Case& this_case, const Scheme& scheme, const ParticleSystem& start, double h,
                                 bool closed, double step, std::int64_t steps, FinalState& state) const {
    const CountedSystem counted(start);
    Problem problem = experiment_.make_problem(this_case, h, closed, counted.system());
    problem.prepare();
    const std::unique_ptr<Stepper> stepper = make_stepper(scheme, problem, step);
    if (std::optional<Failure> failure = stepper->advance(steps)) return failure;
    problem.broadcast_particles();
    double work = static_cast<double>(counted.count());
    bool depends_on_velocity = problem.depends_on_velocity();
    for (const auto& environment : problem.environments()) {
      depends_on_velocity = depends_on_velocity || environment->properties().loses_energy;
      work += static_cast<double>(steps) * site_forces_per_step(scheme) * start.axes *
              static_cast<double>(environment->properties().sites);
    }
    if (const auto* splitting = std::get_if<ExplicitScheme>(&scheme); splitting && !start.lagrangian) {
      // Every force of a splitting counts, whether it is computed or reused from the previous substep.
      const int forces = forces_per_step(depends_on_velocity ? *splitting : splitting->merged());
      work += static_cast<double>(steps) * forces * start.size() - static_cast<double>(counted.count());
    }
    state = {problem.q, problem.p, problem.energies().particles, work};
    if (problem.communicator().any(!std::isfinite(state.q.norm() + state.p.norm() + state.energy))) {
      return Failure{steps, 0.0, fmt::format("with step {} the state is not finite", step)};
    }
    return std::nullopt;
  }

  /// All results of a case, in the same order for all cases.
  std::vector<Column> columns(const std::vector<Measured>& all, const std::vector<double>& work) const {
    std::vector<Column> all_columns;
    const bool several = options_.starts > 1;
    for (const auto& [name, units, what, errors] : all) {
      const auto add_errors = [&, &name = name, &units = units, &what = what](const char* which, const char* words,
                                                                              const std::vector<double>& values) {
        all_columns.push_back({{fmt::format("{}error_{}", which, name),
                                units,
                                fmt::format("{}error of the final {}", words, what),
                                {"step"}},
                               values});
      };
      add_errors("", several ? "mean " : "", errors.mean());
      if (several) {
        add_errors("least_", "smallest ", errors.min());
        add_errors("largest_", "largest ", errors.max());
      }
      all_columns.push_back({{fmt::format("reference_error_{}", name),
                              units,
                              fmt::format("estimated error of the final {} of the reference", what),
                              {"step"}},
                             errors.reference()});
      all_columns.push_back(
          {{fmt::format("used_{}", name), "1", "1 where the fit of the order uses the point", {"step"}},
           errors.used()});
      all_columns.push_back(
          {{fmt::format("order_{}", name), "1", fmt::format("fitted order of the {}", what), {}}, {errors.order()}});
    }
    all_columns.push_back({{"work", "1", "components of forces evaluated", {"step"}}, work});
    return all_columns;
  }

  void write(const Case& this_case, const std::vector<Measured>& all, const std::vector<Column>& all_columns,
             ResultFile& file) const {
    const Dimension step[] = {{"step", options_.steps, "s", "time step"}};
    const std::string group = "convergence/" + this_case.name;
    for (const Column& column : all_columns) {
      file.array(group, column.variable, std::span(step).first(column.variable.dimensions.size()), column.values);
    }
    for (const Measured& measured : all) {
      const std::string order = fmt::format("{}/order_{}", group, measured.name);
      file.attribute("points", static_cast<std::int64_t>(measured.errors.points()), order);
      file.attribute("not_fitted", measured.errors.not_fitted(), order);
      file.attribute("fit_warning", measured.errors.fit_warning(), order);
    }
  }

  /// Writes the results of all cases in common variables of the group `convergence`.
  void write_table(const std::vector<std::string>& labels, const std::vector<std::vector<Column>>& by_case,
                   ResultFile& file) const {
    if (labels.empty()) return;
    const Dimension dimensions[] = {{"integrator", {}, "", "name of the integrator", labels},
                                    {"step", options_.steps, "s", "time step"}};
    for (std::size_t i = 0; i < by_case.front().size(); ++i) {
      Variable variable = by_case.front()[i].variable;
      variable.dimensions.insert(variable.dimensions.begin(), "integrator");
      std::vector<double> values;
      for (const std::vector<Column>& case_columns : by_case) {
        values.insert(values.end(), case_columns[i].values.begin(), case_columns[i].values.end());
      }
      file.array("convergence", variable, std::span(dimensions).first(variable.dimensions.size()), values);
    }
  }

  const Experiment& experiment_;
  ConvergenceOptions options_;
  std::vector<ParticleSystem> starts_;
  mutable std::map<ReferenceKey, Reference> references_;
};

std::unique_ptr<Study> make_convergence(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  const Section& study = recipe.study;
  ConvergenceOptions options{.steps = study.numbers("step_sizes")};
  std::sort(options.steps.begin(), options.steps.end(), std::greater<>());
  options.starts = study.integer("starts");
  if (options.starts < 1) mistakes.add(study.where("starts"), "`starts` must be at least 1");
  options.spread_q = study.number("spread_q");
  options.spread_v = study.number("spread_v");
  const bool is_random = options.spread_q > 0.0 || options.spread_v > 0.0;
  if (options.starts > 1 && !is_random) {
    mistakes.add(
        study.where("starts"),
        "all starts would be the same: give `spread_q` or `spread_v`, the size of the cube that contains them");
  }
  if (options.starts == 1 && is_random) {
    mistakes.add(study.where(options.spread_q > 0.0 ? "spread_q" : "spread_v"),
                 "the only start is that of [system]: give `starts`, the number of random starts");
  }
  if (options.steps.size() < 2) mistakes.add(study.where("step_sizes"), "an order needs at least two steps");
  const std::optional<Contact>& contact = experiment.system().contact;
  if (contact && contact->q1) {
    mistakes.add(recipe.system.where("q1"),
                 "`q1` is the position one step after q0, so that the start would depend on the step; give `v0` to a "
                 "convergence study");
  }
  options.error_time = study.has("at") ? study.number("at") : experiment.end_time();
  if (options.error_time > experiment.end_time() * (1.0 + 1e-12)) {
    mistakes.add(study.where("at"),
                 fmt::format("at = {} is later than the end {}", options.error_time, experiment.end_time()));
  }
  for (double step : study.numbers("step_sizes")) {
    const double count = options.error_time / step;
    if (count > 1e15) {
      mistakes.add(study.where("step_sizes"),
                   fmt::format("step {} needs {:.1e} steps to reach {}, too many to compute; use larger steps", step,
                               count, options.error_time));
    } else if (std::abs(count - std::round(count)) > 1e-9 * count || count < 0.5) {
      mistakes.add(study.where("step_sizes"),
                   fmt::format("step {} does not divide the {} {}; the nearest time that it divides is {:.15g}", step,
                               study.has("at") ? "time of the errors" : "end", options.error_time,
                               step * std::max(1.0, std::round(count))));
    }
  }
  options.against_open = study.text("reference") == "open";
  options.reference_tolerance = study.number("reference_tolerance");
  if (options.reference_tolerance < 1e-15 || options.reference_tolerance > 1e-3) {
    mistakes.add(study.where("reference_tolerance"),
                 "`reference_tolerance` must lie between 1e-15, round-off, and 1e-3");
  }
  options.trajectories = study.boolean("trajectories");
  for (const Case& this_case : experiment.cases()) {
    if (!this_case.closed || options.against_open) continue;
    const Problem problem = experiment.make_problem(this_case);
    for (const auto& environment : problem.environments()) {
      const EnvironmentProperties& properties = environment->properties();
      options.depends_on_step = options.depends_on_step || properties.matched_gamma || properties.is_white;
      const std::optional<std::string> unsupported_reason = environment->unsupported_reason(ExactFlow{});
      if (!unsupported_reason) continue;
      mistakes.add(study.where("kind"), fmt::format("the reference solution of `{}`: {}; use reference = \"open\"",
                                                    this_case.name, *unsupported_reason));
    }
  }
  auto convergence = std::make_unique<ConvergenceStudy>(experiment, std::move(options));
  check_needs({.reserved_names = convergence->names()}, recipe, experiment, mistakes);
  return convergence;
}

}  // namespace

StudyKind convergence_kind() {
  return {
      .entry = {.name = "convergence",
                .summary = "errors against the exact flow for a list of steps, and the fitted order",
                .equation = "error(h) = |x_h(end) - x(end)|,  order = slope of log error against log h",
                .source = "hairer2006, section II.1",
                .parameters = {required("step_sizes", ValueType::numbers, "s",
                                        "steps to compare; each divides the time at which errors are evaluated",
                                        Bound::positive),
                               choice("reference", {"own", "open"},
                                      "\"own\": exact flow of the system of the run; \"open\": exact flow of the open "
                                      "system that its environments represent",
                                      "\"own\""),
                               defaulted("reference_tolerance", ValueType::number, "", "1e-14",
                                         "relative error of an adaptive step of the reference solution, if the system "
                                         "is nonlinear; its steps are not longer than the smallest of `step_sizes`",
                                         Bound::positive),
                               optional("at", ValueType::number, "s",
                                        "time at which errors are evaluated; default: the end", Bound::positive),
                               defaulted("trajectories", ValueType::boolean, "", "false",
                                         "whether the runs with the steps of [time] are recorded as well"),
                               {.name = "starts",
                                .type = ValueType::integer,
                                .doc =
                                    "number of random starts over which errors are averaged; 1: the start of [system]",
                                .default_value = "1"},
                               defaulted("spread_q", ValueType::number, "m", "0.0",
                                         "largest distance of a random initial position from q0; uniform distribution",
                                         Bound::nonnegative),
                               defaulted("spread_v", ValueType::number, "m/s", "0.0",
                                         "largest distance of a random initial velocity from v0; uniform distribution",
                                         Bound::nonnegative)},
                .notes =
                    "Group convergence, over integrator and step, and for each integrator convergence/<integrator>, "
                    "over step: error_q, error_p, error_energy, order_q, order_p, order_energy; with several starts "
                    "error_* is the mean over them, and least_error_*, largest_error_* are its range; with several "
                    "particles error_q_0 and so on, for each particle; work, the number of force components and of "
                    "entries of second derivatives; reference_error_*, the estimated error of the reference, from a "
                    "second one with ten times the tolerance; used_*, 1 for the points of the fit, which leaves out "
                    "those in round-off, those within ten times the error of the reference, and those where the error "
                    "does not fall with the step. The attributes `points`, `not_fitted` and `fit_warning` of an order "
                    "are the number of points of the fit, why others are left out, and the reasons to doubt the order. "
                    "An environment on the characteristic grid depends on the step: use reference = \"open\"."},
      .make = make_convergence,
      .takes_any_lagrangian = true};
}

}  // namespace bathline
