// Optimal controls: the numbers of the controls, and the end time where it is free, that make a cost least and meet
// conditions at the end.
//
// Each evaluation is one run, each gradient one co-run; PETSc's TAO minimises on rank 0 (solve/minimiser.hpp), which
// tells the other ranks what to run. Unknowns are the numbers times the roots of their weights in time, so that norms
// are those of functions of time. Discretised first, the optimum is that of the discrete equations of Pontryagin: the
// costates satisfy the adjoint scheme, and the control at the steps follows from them to the order of the method.
// Source: oberbloebaum2011, section 3; sanzserna2016, section 4.
// Tested by tests/costates/gradient_test.cpp.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include <Eigen/Cholesky>

#include "driver/resumable_tasks.hpp"
#include "driver/trajectory_recorder.hpp"
#include "random/counter_rng.hpp"
#include "random/streams.hpp"
#include "solve/minimiser.hpp"
#include "study/with_costates/adjoint_run.hpp"
#include "study/with_costates/kinds.hpp"
#include "text/printable_text.hpp"
#include "text/spelling.hpp"

namespace bathline {

namespace {

using Eigen::Index;
using Eigen::VectorXd;

/// A condition at the end: a coordinate or a velocity has a value.
struct EndCondition {
  std::string name;
  Index variable;  ///< among the positions and velocities
  double value;
};

struct Plan {
  PathCost cost;
  std::vector<EndCondition> conditions;
  std::optional<std::pair<double, double>> free_end;  ///< lowest and highest end time, s
  int starts = 1;
  double spread = 1.0;  ///< N
  SearchLimits limits;
};

/// What rank 0 asks all ranks for.
enum class Task : int { run, pull_back, checkpoint, done };

/// The cost of one case as a function of its unknowns. All ranks construct it; rank 0 evaluates, the others `follow`.
class ControlProblem final : public ConstrainedFunction {
 public:
  ControlProblem(const Experiment& experiment, const Case& this_case, const Plan& plan)
      : experiment_(experiment),
        case_(this_case),
        plan_(plan),
        run_(experiment, this_case, plan.cost, experiment.output().every),
        numbers_(controls_of(experiment.system())->numbers().size()) {
    const auto drive = controls_of(experiment.system())->with(side_of(this_case.scheme));
    const ControlledDrive& controls = *drive;
    VectorXd weights = VectorXd::Zero(numbers_);
    const VectorXd ones = VectorXd::Ones(static_cast<Index>(controls.controls().size()));
    for (std::int64_t step = 0; step < this_case.steps; ++step) {
      for (const StepPoint& point : points_of_step(this_case.scheme)) {
        const double weight = point.weight * this_case.step;
        controls.pull_back((static_cast<double>(step) + point.node) * this_case.step, weight * ones, weights);
      }
    }
    // Numbers without any effect, such as that at the start where no force is evaluated, stay where they are.
    scale_ = weights.cwiseMax(1e-3 * weights.mean()).cwiseSqrt();
  }

  Index size() const { return numbers_ + (plan_.free_end ? 1 : 0); }

  /// The unknowns of the recipe's controls, of every start after the first with random numbers added.
  VectorXd start(int index) const {
    const ControlledDrive& controls = *controls_of(experiment_.system());
    VectorXd numbers = controls.numbers();
    const RngKey key = streams::convergence_starts.key(experiment_.seed(), static_cast<std::uint32_t>(index));
    Index first = 0;
    for (const Control& control : controls.controls()) {
      // Splines of few random numbers: rough controls are no better starts than none.
      const SplineBasis rough(3, 4, control.basis.end());
      VectorXd bumps(rough.size());
      for (Index i = 0; i < bumps.size(); ++i) {
        bumps[i] = index == 0 ? 0.0 : plan_.spread * normal_pair(key, static_cast<std::uint64_t>(first + i)).first;
      }
      const Control added{"", 0, rough, bumps};
      for (Index i = 0; i < control.numbers.size(); ++i) {
        double& number = numbers[first + i];
        number += added.value(control.basis.node(static_cast<int>(i)));
        number = std::clamp(number, control.lower, control.upper);
      }
      first += control.numbers.size();
    }
    VectorXd x(size());
    x.head(numbers_) = numbers.cwiseProduct(scale_);
    if (plan_.free_end) x[numbers_] = std::clamp(case_.end, plan_.free_end->first, plan_.free_end->second);
    return x;
  }

  Bounds bounds() const {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Bounds bounds{VectorXd::Constant(size(), -infinity), VectorXd::Constant(size(), infinity)};
    Index first = 0;
    for (const Control& control : controls_of(experiment_.system())->controls()) {
      const Index count = control.numbers.size();
      bounds.lower.segment(first, count) = control.lower * scale_.segment(first, count);
      bounds.upper.segment(first, count) = control.upper * scale_.segment(first, count);
      first += count;
    }
    if (plan_.free_end) {
      bounds.lower[numbers_] = plan_.free_end->first;
      bounds.upper[numbers_] = plan_.free_end->second;
    }
    return bounds;
  }

  double value(const VectorXd& x, VectorXd& constraints) override {
    ask(Task::run, x);
    const bool has_failed = run(x).has_value();
    constraints.setZero(static_cast<Index>(plan_.conditions.size()));
    if (has_failed) return std::numeric_limits<double>::infinity();
    const PathRecord& end = run_.records().back();
    const Index n = end.q.size();
    for (std::size_t c = 0; c < plan_.conditions.size(); ++c) {
      const EndCondition& condition = plan_.conditions[c];
      const double actual = condition.variable < n ? end.q[condition.variable] : end.v[condition.variable - n];
      constraints[static_cast<Index>(c)] = actual - condition.value;
    }
    return run_.cost();
  }

  void gradient(const VectorXd& weights, VectorXd& slopes) override {
    const Index n = experiment_.system().size();
    VectorXd at_end = VectorXd::Zero(2 * n);
    for (std::size_t c = 0; c < plan_.conditions.size(); ++c) {
      at_end[plan_.conditions[c].variable] += weights[static_cast<Index>(c)];
    }
    ask(Task::pull_back, at_end);
    CostGradient gradient;
    if (run_.pull_back(at_end, gradient)) gradient.controls.setZero(numbers_);
    slopes.resize(size());
    slopes.head(numbers_) = gradient.controls.cwiseQuotient(scale_);
    if (plan_.free_end) slopes[numbers_] = gradient.end;
  }

  /// On the ranks other than 0, until rank 0 is done; `checkpoint` is its counterpart there. @note Collective.
  void follow(const std::function<void()>& checkpoint) {
    while (true) {
      const auto task = static_cast<Task>(shared(0));
      if (task == Task::done) return;
      if (task == Task::checkpoint) {
        checkpoint();
        continue;
      }
      const VectorXd numbers = received();
      CostGradient ignored;
      if (task == Task::run) {
        run(numbers);
      } else {
        run_.pull_back(numbers, ignored);
      }
    }
  }
  void ask(Task task, const VectorXd& numbers = {}) const {
    shared(static_cast<std::int64_t>(task));
    if (task == Task::done || task == Task::checkpoint) return;
    shared(numbers.size());
    VectorXd copy = numbers;
    communicator().broadcast(std::span<double>(copy.data(), static_cast<std::size_t>(copy.size())));
  }

  /// @note Collective.
  std::optional<Failure> run(const VectorXd& x) {
    ParticleSystem system = experiment_.system();
    system.drive = controls_of(system)->with(numbers_of(x));
    return run_.run(system, end_of(x) / static_cast<double>(case_.steps));
  }
  VectorXd numbers_of(const VectorXd& x) const { return x.head(numbers_).cwiseQuotient(scale_); }
  double end_of(const VectorXd& x) const {
    return plan_.free_end ? x[numbers_] : case_.step * static_cast<double>(case_.steps);
  }
  const AdjointRun& last_run() const { return run_; }
  const Communicator& communicator() const { return experiment_.communicator(); }

 private:
  /// The number of rank 0.
  std::int64_t shared(std::int64_t number) const {
    communicator().broadcast(std::span<std::int64_t>(&number, 1));
    return number;
  }
  VectorXd received() const {
    VectorXd numbers(shared(0));
    communicator().broadcast(std::span<double>(numbers.data(), static_cast<std::size_t>(numbers.size())));
    return numbers;
  }

  const Experiment& experiment_;
  const Case& case_;
  const Plan& plan_;
  AdjointRun run_;
  Index numbers_;
  VectorXd scale_;
};

/// The searches of one case, which checkpoints save between iterations.
struct CaseSearch {
  std::size_t index = 0;                        ///< of the case
  int start = 0;                                ///< of the search that goes on
  std::vector<double> costs = {};               ///< of the starts that have ended; NaN without convergence
  std::vector<double> best = {}, current = {};  ///< packed reports; empty where there are none yet
};

/// A report as a list of numbers.
std::vector<double> packed(const SearchReport& report) {
  std::vector<double> numbers = {report.value,
                                 report.residual,
                                 report.infeasibility,
                                 static_cast<double>(report.iterations),
                                 static_cast<double>(report.evaluations),
                                 report.converged ? 1.0 : 0.0,
                                 report.point.penalty};
  numbers.insert(numbers.end(), report.point.multipliers.begin(), report.point.multipliers.end());
  numbers.insert(numbers.end(), report.point.x.begin(), report.point.x.end());
  return numbers;
}

SearchReport unpacked(const std::vector<double>& numbers, Index multipliers, Index unknowns) {
  constexpr Index first = 7;
  if (static_cast<Index>(numbers.size()) != first + multipliers + unknowns) throw std::out_of_range("search");
  SearchReport report;
  report.value = numbers[0];
  report.residual = numbers[1];
  report.infeasibility = numbers[2];
  report.iterations = static_cast<int>(numbers[3]);
  report.evaluations = static_cast<int>(numbers[4]);
  report.converged = numbers[5] != 0.0;
  report.point.penalty = numbers[6];
  report.point.multipliers = Eigen::Map<const VectorXd>(numbers.data() + first, multipliers);
  report.point.x = Eigen::Map<const VectorXd>(numbers.data() + first + multipliers, unknowns);
  return report;
}

class OptimalControlStudy final : public Study {
 public:
  OptimalControlStudy(const Experiment& experiment, Plan plan) : experiment_(experiment), plan_(std::move(plan)) {}

  std::optional<CaseFailure> run(ResultFile& file, Progress& progress, Checkpoints& checkpoints) override {
    CheckpointPoints points(checkpoints);
    CaseSearch search;
    if (const CheckpointReader* from = checkpoints.from()) {
      restore_from(from, [&] {
        search.index = static_cast<std::size_t>(from->count("case"));
        search.start = static_cast<int>(from->count("start"));
        search.costs = from->numbers("costs");
        search.best = from->numbers("best");
        search.current = from->numbers("current");
      });
    }
    for (; search.index < experiment_.cases().size(); search = {.index = search.index + 1}) {
      const Case& this_case = experiment_.cases()[search.index];
      progress.begin(this_case.name, plan_.starts, {.name = "start"});
      progress.skip(search.start);
      ControlProblem problem(experiment_, this_case, plan_);
      const std::optional<Failure> failure = search_case(this_case, problem, search, file, progress, points);
      progress.end();
      if (failure) return CaseFailure{this_case.name, *failure};
    }
    return std::nullopt;
  }

 private:
  std::optional<Failure> search_case(const Case& this_case, ControlProblem& problem, CaseSearch& search,
                                     ResultFile& file, Progress& progress, CheckpointPoints& points) {
    const auto conditions = static_cast<Index>(plan_.conditions.size());
    std::int64_t steps_done = 0;
    const auto checkpoint = [&] {
      points.checkpoint_if_due(this_case.name, steps_done, 4 * this_case.steps, [&](CheckpointWriter& to) {
        const double numbers[] = {static_cast<double>(search.index), static_cast<double>(search.start)};
        to.numbers("case", {&numbers[0], 1});
        to.numbers("start", {&numbers[1], 1});
        to.numbers("costs", search.costs);
        to.numbers("best", search.best);
        to.numbers("current", search.current);
      });
    };
    if (!problem.communicator().is_root()) {
      problem.follow(checkpoint);
    } else {
      SearchReport best;
      best.value = std::numeric_limits<double>::quiet_NaN();
      if (!search.best.empty()) best = unpacked(search.best, conditions, problem.size());
      for (; search.start < plan_.starts; ++search.start) {
        SearchReport before;
        before.point = {problem.start(search.start), VectorXd::Zero(conditions)};
        if (!search.current.empty()) before = unpacked(search.current, conditions, problem.size());
        auto shown = std::chrono::steady_clock::now();
        std::vector<Iteration> history;
        const auto go_on = [&](const SearchReport& report) {
          SearchReport now = report;
          now.iterations += before.iterations;
          now.evaluations += before.evaluations;
          history.push_back({now.value, now.infeasibility, now.residual, static_cast<double>(now.evaluations)});
          search.current = packed(now);
          steps_done += this_case.steps;
          problem.ask(Task::checkpoint);
          checkpoint();
          const auto time = std::chrono::steady_clock::now();
          if (time - shown > std::chrono::seconds(2)) {
            shown = time;
            spdlog::info("{}: {} evaluations, cost {:.10g}, end conditions to {:.1e}, residual {:.1e}", this_case.name,
                         now.evaluations, now.value, now.infeasibility, now.residual);
          }
          return true;
        };
        SearchReport report = minimise(problem, before.point, problem.bounds(), plan_.limits, go_on);
        report.iterations += before.iterations;
        report.evaluations += before.evaluations;
        search.current.clear();
        search.costs.push_back(report.converged ? report.value : std::numeric_limits<double>::quiet_NaN());
        progress.update(search.start + 1);
        const bool is_better = report.converged && !(best.converged && best.value <= report.value);
        if (!is_better && best.point.x.size() > 0) continue;
        best = report;
        search.best = packed(best);
        history_ = history;
      }
      if (!best.converged) {
        spdlog::warn("{}: no optimum was found: {} after {} evaluations, end conditions to {:.1e}, residual {:.1e}",
                     this_case.name, best.reason, best.evaluations, best.infeasibility, best.residual);
      }
      // The path and the costates of the best.
      VectorXd constraints, slopes;
      best_ = best;
      problem.value(best.point.x, constraints);
      if (std::isfinite(best.value)) problem.gradient(best.point.multipliers, slopes);
      problem.ask(Task::done);
    }
    const bool is_finite = problem.communicator().broadcast(std::isfinite(best_.value));
    if (!is_finite) return Failure{this_case.steps, 0.0, "the run with the first controls has no finite cost"};
    write(file, this_case, problem, search);
    return std::nullopt;
  }

  void write(ResultFile& file, const Case& this_case, const ControlProblem& problem, const CaseSearch& search) const;
  void write_history(ResultFile& file, const std::string& group) const;

  const Experiment& experiment_;
  Plan plan_;
  /// A state of a search.
  struct Iteration {
    double cost, infeasibility, residual, evaluations;
  };

  SearchReport best_;  // on rank 0
  std::vector<Iteration> history_;
};

/// The controls at a record that make the running cost plus costate times force stationary, within their bounds; empty
/// where it is not a quadratic function of the controls that has a minimum.
VectorXd control_of_costate(const Plan& plan, const std::vector<Control>& controls, const PathRecord& record) {
  const auto count = static_cast<Index>(controls.size());
  if (!plan.cost.running) return {};
  VectorXd slopes;
  const auto slopes_at = [&](const VectorXd& u) {
    plan.cost.running->gradient(plan.cost.variables.at(record.q, record.v, record.time, u), slopes);
    return VectorXd(slopes.segment(plan.cost.variables.controls(), count));
  };
  VectorXd right = -slopes_at(VectorXd::Zero(count));
  Eigen::MatrixXd matrix(count, count);
  for (Index c = 0; c < count; ++c) {
    matrix.col(c) = slopes_at(VectorXd::Unit(count, c)) + right;
    right[c] -= record.costate.beta[controls[static_cast<std::size_t>(c)].coordinate];
  }
  const Eigen::LLT<Eigen::MatrixXd> factors(matrix);
  if (factors.info() != Eigen::Success) return {};
  VectorXd u = factors.solve(right);
  for (Index c = 0; c < u.size(); ++c) {
    u[c] = std::clamp(u[c], controls[static_cast<std::size_t>(c)].lower, controls[static_cast<std::size_t>(c)].upper);
  }
  return u;
}

void OptimalControlStudy::write(ResultFile& file, const Case& this_case, const ControlProblem& problem,
                                const CaseSearch& search) const {
  const std::string group = "optimal-control/" + this_case.name;
  const auto number = [&](const std::string& name, const std::string& units, const std::string& long_name,
                          double value) { file.number(group, name, units, long_name, value); };
  number("cost", "1", "least cost", best_.value);
  number("residual", "1", "2-norm of the gradient of the Lagrangian, within the bounds", best_.residual);
  number("infeasibility", "1", "largest error of an end condition", best_.infeasibility);
  number("evaluations", "1", "runs of the search that found it", best_.evaluations);
  number("iterations", "1", "iterations of this search", best_.iterations);
  number("converged", "1", "1 where both limits were met, else 0", best_.converged ? 1.0 : 0.0);
  number("growth", "1", "largest norm of a costate over that at the end", problem.last_run().growth());
  const bool is_root = problem.communicator().is_root();
  number("end", "s", "end of the run", is_root ? problem.end_of(best_.point.x) : 0.0);
  for (std::size_t c = 0; c < plan_.conditions.size(); ++c) {
    number("multiplier_" + plan_.conditions[c].name, "1", "multiplier of the end condition",
           is_root ? best_.point.multipliers[static_cast<Index>(c)] : 0.0);
  }
  warn_of_growth(this_case.name, problem.last_run().growth());
  Dimension start{"start", {}, "1", "start of a search, from 0"};
  for (int i = 0; i < plan_.starts; ++i) start.values.push_back(i);
  file.array(group, {"cost_of_start", "1", "least cost by start; NaN where none was found", {}}, std::span(&start, 1),
             search.costs);
  write_history(file, group);
  ControlledDrive controls = *controls_of(experiment_.system());
  if (is_root) controls = *controls.with(problem.numbers_of(best_.point.x))->with(side_of(this_case.scheme));
  Dimension time{"time", {}, "s", "time"};
  std::vector<double> q, p, alpha, beta, work;
  std::vector<std::vector<double>> values(controls.controls().size()), of_costates(values);
  const VectorXd& mass = experiment_.system().mass;
  for (const PathRecord& record : problem.last_run().records()) {
    const double now = static_cast<double>(record.step) / static_cast<double>(this_case.steps);
    time.values.push_back(record.time);
    const auto add = [](std::vector<double>& to, const VectorXd& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    if (!is_root) continue;
    work.push_back(record.work);
    add(q, record.q);
    add(p, mass.cwiseProduct(record.v));
    add(alpha, record.costate.alpha);
    add(beta, record.costate.beta);
    const VectorXd from_costate = control_of_costate(plan_, controls.controls(), record);
    for (std::size_t c = 0; c < values.size(); ++c) {
      const Control& control = controls.controls()[c];
      values[c].push_back(control.value(now * control.basis.end()));
      if (from_costate.size() > 0) of_costates[c].push_back(from_costate[static_cast<Index>(c)]);
    }
  }
  std::vector<Dimension> over_time = {time};
  for (const Dimension& dimension : phase_dimensions(experiment_.system())) over_time.push_back(dimension);
  file.array(group, {"q", "m", "position", {}}, over_time, q);
  file.array(group, {"p", "kg m/s", "momentum", {}}, over_time, p);
  file.array(group, {"alpha", "1/m", "costate of the positions", {}}, over_time, alpha);
  file.array(group, {"beta", "s/(kg m)", "costate of the momenta", {}}, over_time, beta);
  file.array(group, {"work", "J", "work of controls and other external forces since the start", {}},
             std::span(&time, 1), work);
  for (std::size_t c = 0; c < values.size(); ++c) {
    const Control& control = controls.controls()[c];
    const Index size = control.numbers.size();
    file.array(group, {control.name + "_spline", "N", "control", {}}, std::span(&time, 1), values[c]);
    const bool has_costates = problem.communicator().broadcast(!of_costates[c].empty());
    if (has_costates) {
      file.array(group, {control.name, "N", "control that the costates imply", {}}, std::span(&time, 1),
                 of_costates[c]);
    }
    Dimension index{control.name + "_number", {}, "1", "number of the control, from 0"};
    for (Index i = 0; i < size; ++i) index.values.push_back(static_cast<double>(i));
    file.array(group, {control.name + "_numbers", "N", "numbers of the control, as `initial` takes them", {}},
               std::span(&index, 1), {control.numbers.data(), static_cast<std::size_t>(size)});
  }
  file.flush();
}

void OptimalControlStudy::write_history(ResultFile& file, const std::string& group) const {
  auto count = static_cast<std::int64_t>(history_.size());
  experiment_.communicator().broadcast(std::span<std::int64_t>(&count, 1));
  Dimension iteration{"iteration", {}, "1", "iteration of the search that found the best"};
  for (std::int64_t i = 0; i < count; ++i) iteration.values.push_back(static_cast<double>(i));
  const auto write = [&](const std::string& name, const std::string& long_name, double Iteration::*member) {
    std::vector<double> values;
    for (const Iteration& each : history_) values.push_back(each.*member);
    file.array(group, {"history_" + name, "1", long_name, {}}, std::span(&iteration, 1), values);
  };
  write("cost", "cost", &Iteration::cost);
  write("infeasibility", "largest error of an end condition", &Iteration::infeasibility);
  write("residual", "2-norm of the gradient of the Lagrangian, within the bounds", &Iteration::residual);
  write("evaluations", "runs until then", &Iteration::evaluations);
}

std::vector<EndCondition> read_conditions(const Section& study, const ParticleSystem& system, Mistakes& mistakes) {
  std::vector<EndCondition> conditions;
  if (!study.has("end")) return conditions;
  std::vector<std::string> names = system.coordinate_names();
  const std::size_t count = names.size();
  for (std::size_t i = 0; i < count; ++i) names.push_back(names[i] + "_dot");
  const Section& table = study.table("end");
  for (const std::string& key : table.keys()) {
    const auto name = std::find(names.begin(), names.end(), key);
    if (name == names.end()) {
      mistakes.add(table.where(key), fmt::format("end: `{}` is no coordinate and no velocity{}", printable(key),
                                                 spelling_advice(key, names, '`')));
    } else if (table.is_readable(key)) {
      conditions.push_back({key, name - names.begin(), table.number(key)});
    }
  }
  return conditions;
}

/// A free end needs the derivative by the step, which is known for autonomous problems without sites.
void check_free_end(const Recipe& recipe, const Experiment& experiment, const PathCost& cost, Mistakes& mistakes) {
  const Location where = recipe.study.where("end_bounds");
  const std::vector<double>& bounds = recipe.study.numbers("end_bounds");
  if (bounds.size() != 2 || !(bounds[0] > 0.0) || bounds[1] < bounds[0]) {
    mistakes.add(where, "end_bounds must be two positive times, [lowest, highest]");
  }
  if (cost.depends_on_time()) {
    mistakes.add(where, "end_bounds: with a free end no cost and no force may depend on the time `t`");
  }
  for (const Case& this_case : experiment.cases()) {
    if (experiment.make_problem(this_case).stepped_environments().empty()) continue;
    mistakes.add(
        this_case.options.where("on"),
        fmt::format("{}: a free end is for open runs and white dampers, as the derivative of other environments "
                    "by the step is not known",
                    this_case.name));
  }
}

std::unique_ptr<Study> make_optimal_control(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  const Section& study = recipe.study;
  if (!controls_of(experiment.system())) {
    mistakes.add(study.where("kind"), "an optimal-control study needs [[controls]]");
    return nullptr;
  }
  refuse_without_costates(recipe, experiment, mistakes);
  std::optional<PathCost> cost = PathCost::read(study, recipe.system, experiment.system(), true, mistakes);
  std::vector<EndCondition> conditions = read_conditions(study, experiment.system(), mistakes);
  if (!cost) return nullptr;
  Plan plan{std::move(*cost),
            std::move(conditions),
            {},
            static_cast<int>(study.integer("starts")),
            study.number("spread"),
            {}};
  if (study.has("end_bounds")) {
    check_free_end(recipe, experiment, plan.cost, mistakes);
    const std::vector<double>& bounds = study.numbers("end_bounds");
    if (bounds.size() == 2) plan.free_end = {bounds[0], bounds[1]};
  }
  plan.limits = {.residual = study.number("residual"),
                 .infeasibility = study.number("infeasibility"),
                 .evaluations = static_cast<int>(study.integer("evaluations"))};
  return std::make_unique<OptimalControlStudy>(experiment, std::move(plan));
}

}  // namespace

StudyKind optimal_control_kind() {
  std::vector<Parameter> parameters = cost_parameters();
  parameters.push_back({.name = "end",
                        .type = ValueType::table,
                        .doc = "values of coordinates and velocities at the end, such as { x = 1.0, x_dot = 0.0 }",
                        .members = {optional(wildcard_key, ValueType::number, "", "its value at the end")}});
  parameters.push_back(optional("end_bounds", ValueType::numbers, "s",
                                "lowest and highest time of the end, which is then free: the steps keep their number "
                                "and have another length, and controls stretch with them"));
  parameters.push_back(defaulted("starts", ValueType::integer, "", "1",
                                 "number of searches, of which the best is recorded: the first from the recipe's "
                                 "controls, the others from random ones, as optima are several in general",
                                 Bound::positive));
  parameters.push_back(defaulted("spread", ValueType::number, "N", "1.0",
                                 "standard deviation of the controls of the other starts", Bound::positive));
  parameters.push_back(defaulted("residual", ValueType::number, "", "1e-7",
                                 "2-norm of the gradient of the Lagrangian at which a search ends", Bound::positive));
  parameters.push_back(defaulted("infeasibility", ValueType::number, "", "1e-10",
                                 "largest error of an end condition at which a search ends", Bound::positive));
  parameters.push_back(
      defaulted("evaluations", ValueType::integer, "", "10000", "most runs of a search", Bound::positive));
  return {
      .entry =
          {.name = "optimal-control",
           .summary = "the controls of least cost that meet conditions at the end, by exact discrete gradients",
           .equation = "min J = final_cost + sum of w h running_cost,  q, v at the end given\n"
                       "u = -R^-1 B^T beta where the running cost is u^T R u/2",
           .source = "oberbloebaum2011, section 3; sanzserna2016, section 4; nocedal2006, section 17.4",
           .keywords = {"dmoc", "pontryagin", "trajectory optimisation", "direct single shooting"},
           .parameters = std::move(parameters),
           .notes =
               "Minimised by an augmented Lagrangian around PETSc's TAO (`blmvm`, with the bounds of the controls); "
               "options such as `-- -tao_gatol 1e-9` reach it. Group optimal-control/<integrator>: cost, residual, "
               "infeasibility, evaluations, iterations, converged, end, growth, multiplier_<name>, cost_of_start; over "
               "time q, p, the costates alpha and beta, <control>_spline, and <control>, the control that the costates "
               "imply, which has the order of the method where the numbers of the spline need not; <control>_numbers "
               "can be `initial` of another recipe. Checkpoints are written between iterations. What the study "
               "`gradient` refuses is refused here. Nonlinear problems have several optima: `starts` tries several."},
      .make = make_optimal_control,
      .takes_any_lagrangian = true};
}

}  // namespace bathline
