// Optimal controls: the numbers of the controls, and the end time where it is free, that make a cost least and meet
// conditions at the end.
//
// Each evaluation is one run, each gradient one co-run; PETSc's TAO minimises on rank 0 (solve/minimiser.hpp), which
// tells the other ranks what to run. Unknowns are the numbers times the roots of their weights in time, so that norms
// are those of functions of time. Discretised first, the optimum is that of the discrete equations of Pontryagin: the
// costates satisfy the adjoint scheme, and the control at the steps follows from them to the order of the method.
// Source: oberbloebaum2011, section 3; sanzserna2016, section 4.
// Tested by tests/costates/optimal_control_test.cpp.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include <Eigen/Cholesky>

#include "driver/resumable_tasks.hpp"
#include "driver/trajectory_recorder.hpp"
#include "study/with_costates/control_problem.hpp"
#include "study/with_costates/kinds.hpp"
#include "study/with_costates/optimum_orders.hpp"
#include "text/printable_text.hpp"
#include "text/spelling.hpp"

namespace bathline {

namespace {

using Eigen::Index;
using Eigen::VectorXd;

using Task = ControlProblem::Task;

/// Steps with which the optima are searched as well, and the integrator whose optimum with the smallest is the
/// reference of their errors.
struct OrderPlan {
  std::vector<double> steps = {};  ///< from the largest to the smallest, s
  std::string reference = {};
};

/// The searches, which checkpoints save between iterations: one for each case with its own step, then one for each case
/// and step of the orders.
struct SearchState {
  std::size_t index = 0;                        ///< of the search that goes on
  int start = 0;                                ///< likewise, of its starts
  std::vector<double> costs = {};               ///< of the starts that have ended; NaN without convergence
  std::vector<double> best = {}, current = {};  ///< packed reports; empty where there are none yet
  std::vector<double> optima = {};              ///< the last of each case: unknowns without scales, then multipliers
  std::vector<double> measured = {};            ///< of each search of the orders
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
  OptimalControlStudy(const Experiment& experiment, ControlPlan plan, OrderPlan orders)
      : experiment_(experiment), plan_(std::move(plan)), orders_(std::move(orders)) {}

  std::optional<CaseFailure> run(ResultFile& file, Progress& progress, Checkpoints& checkpoints) override {
    CheckpointPoints points(checkpoints);
    if (const CheckpointReader* from = checkpoints.from()) {
      restore_from(from, [&] {
        search_.index = static_cast<std::size_t>(from->count("search"));
        search_.start = static_cast<int>(from->count("start"));
        search_.costs = from->numbers("costs");
        search_.best = from->numbers("best");
        search_.current = from->numbers("current");
        search_.optima = from->numbers("optima");
        search_.measured = from->numbers("measured");
        steps_done_ = from->count("steps");
      });
    }
    const std::vector<Case>& cases = experiment_.cases();
    const std::size_t count = cases.size() * (1 + orders_.steps.size());
    while (search_.index < count) {
      const Case& this_case = cases[case_of(search_.index)];
      const bool has_own_step = search_.index < cases.size();
      const double h = has_own_step ? this_case.step : orders_.steps[(search_.index - cases.size()) % steps()];
      const Case sized = with_step(this_case, h);
      const std::string label = has_own_step ? this_case.name : fmt::format("{}, step {:.4g}", this_case.name, h);
      progress.begin(label, starts_here(), {.name = "start"});
      progress.skip(search_.start);
      const std::int64_t every = has_own_step ? experiment_.output().every : std::llround(orders_.steps.front() / h);
      ControlProblem problem(experiment_, sized, plan_, every);
      const std::optional<Failure> failure = search_case(sized, label, problem, progress, points);
      progress.end();
      if (failure) return CaseFailure{label, *failure};
      if (has_own_step) {
        write(file, sized, problem);
      } else {
        measure(problem);
      }
      search_.start = 0;
      search_.costs.clear();
      search_.best.clear();
      ++search_.index;
    }
    write_all_orders(file);
    return std::nullopt;
  }

 private:
  std::size_t steps() const { return orders_.steps.size(); }
  std::size_t case_of(std::size_t index) const {
    const std::size_t cases = experiment_.cases().size();
    return index < cases ? index : (index - cases) / steps();
  }
  /// One for orders, which are those of the optimum with the integrator's own step.
  int starts_here() const { return search_.index < experiment_.cases().size() ? plan_.starts : 1; }
  static Case with_step(const Case& this_case, double h) {
    Case sized = this_case;
    if (h == this_case.step) return sized;
    sized.steps = std::llround(static_cast<double>(this_case.steps) * this_case.step / h);
    sized.step = h;
    return sized;
  }

  /// Where a search begins, on rank 0.
  SearchReport first_report(const ControlProblem& problem, int start) const {
    const Index conditions = plan_.conditions.size();
    if (!search_.current.empty()) return unpacked(search_.current, conditions, problem.size());
    SearchReport first;
    first.point = {problem.start(start), VectorXd::Zero(conditions)};
    if (search_.index < experiment_.cases().size()) return first;
    const Index size = problem.size() + conditions;
    const Eigen::Map<const VectorXd> last(&search_.optima[case_of(search_.index) * static_cast<std::size_t>(size)],
                                          size);
    first.point = {problem.scaled(last.head(problem.size())), last.tail(conditions)};
    return first;
  }

  /// Searches from all starts; the best and its path are in `best_` and `problem` afterwards.
  std::optional<Failure> search_case(const Case& this_case, const std::string& label, ControlProblem& problem,
                                     Progress& progress, CheckpointPoints& points) {
    const Index conditions = plan_.conditions.size();
    const auto checkpoint = [&] {
      problem.communicator().broadcast(std::span<std::int64_t>(&steps_done_, 1));
      points.checkpoint_if_due(label, steps_done_, 4 * this_case.steps, [&](CheckpointWriter& to) {
        const double numbers[] = {static_cast<double>(search_.index), static_cast<double>(search_.start)};
        to.numbers("search", {&numbers[0], 1});
        to.numbers("start", {&numbers[1], 1});
        to.numbers("costs", search_.costs);
        to.numbers("best", search_.best);
        to.numbers("current", search_.current);
        to.numbers("optima", search_.optima);
        to.numbers("measured", search_.measured);
        const auto steps = static_cast<double>(steps_done_);
        to.numbers("steps", {&steps, 1});
      });
    };
    if (!problem.communicator().is_root()) {
      problem.follow(checkpoint);
    } else {
      SearchReport best;
      best.value = std::numeric_limits<double>::quiet_NaN();
      if (!search_.best.empty()) best = unpacked(search_.best, conditions, problem.size());
      for (; search_.start < starts_here(); ++search_.start) {
        const SearchReport before = first_report(problem, search_.start);
        auto shown = std::chrono::steady_clock::now();
        std::vector<Iteration> history;
        const auto go_on = [&](const SearchReport& report) {
          SearchReport now = report;
          now.iterations += before.iterations;
          now.evaluations += before.evaluations;
          history.push_back({now.value, now.infeasibility, now.residual, static_cast<double>(now.evaluations)});
          search_.current = packed(now);
          steps_done_ += this_case.steps;
          problem.ask(Task::checkpoint);
          checkpoint();
          const auto time = std::chrono::steady_clock::now();
          if (time - shown > std::chrono::seconds(2)) {
            shown = time;
            spdlog::info("{}: {} evaluations, cost {:.10g}, end conditions to {:.1e}, residual {:.1e}", label,
                         now.evaluations, now.value, now.infeasibility, now.residual);
          }
          return true;
        };
        SearchReport report = minimise(problem, before.point, problem.bounds(), plan_.limits, go_on);
        report.iterations += before.iterations;
        report.evaluations += before.evaluations;
        search_.current.clear();
        search_.costs.push_back(report.converged ? report.value : std::numeric_limits<double>::quiet_NaN());
        progress.update(search_.start + 1);
        const bool is_better = report.converged && !(best.converged && best.value <= report.value);
        if (!is_better && best.point.x.size() > 0) continue;
        best = report;
        search_.best = packed(best);
        history_ = history;
      }
      if (!best.converged) {
        spdlog::warn("{}: no optimum was found: {} after {} evaluations, end conditions to {:.1e}, residual {:.1e}",
                     label, best.reason, best.evaluations, best.infeasibility, best.residual);
      }
      // The path and the costates of the best.
      VectorXd slopes;
      best_ = best;
      problem.value(best.point.x, errors_);
      if (std::isfinite(best.value)) problem.gradient(best.point.multipliers, slopes);
      problem.ask(Task::done);
      keep_optimum(problem);
    }
    const bool is_finite = problem.communicator().broadcast(std::isfinite(best_.value));
    if (!is_finite) return Failure{this_case.steps, 0.0, "the run with the first controls has no finite cost"};
    return std::nullopt;
  }

  /// As the start of the next search of its case.
  void keep_optimum(const ControlProblem& problem) {
    const std::size_t index = case_of(search_.index);
    VectorXd optimum(problem.size() + plan_.conditions.size());
    optimum << problem.unscaled(best_.point.x), best_.point.multipliers;
    const auto size = static_cast<std::size_t>(optimum.size());
    search_.optima.resize(std::max(search_.optima.size(), (index + 1) * size));
    std::copy(optimum.begin(), optimum.end(), &search_.optima[index * size]);
  }

  void write(ResultFile& file, const Case& this_case, const ControlProblem& problem) const;
  void write_history(ResultFile& file, const std::string& group) const;
  void measure(const ControlProblem& problem);
  void write_all_orders(ResultFile& file) const;

  const Experiment& experiment_;
  ControlPlan plan_;
  OrderPlan orders_;
  /// A state of a search.
  struct Iteration {
    double cost, infeasibility, residual, evaluations;
  };

  SearchState search_;
  std::int64_t steps_done_ = 0;  // in all searches, of the runs at iterations
  SearchReport best_;            // on rank 0
  VectorXd errors_;              // of its conditions, likewise
  std::vector<Iteration> history_;
};

/// The controls at a record that make the running cost plus costate times force stationary, within their bounds; empty
/// where it is not a quadratic function of the controls that has a minimum.
VectorXd control_of_costate(const ControlPlan& plan, const std::vector<Control>& controls, const PathRecord& record) {
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

void OptimalControlStudy::write(ResultFile& file, const Case& this_case, const ControlProblem& problem) const {
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
  const std::vector<std::string> conditions = plan_.conditions.names();
  for (std::size_t c = 0; c < conditions.size(); ++c) {
    number("multiplier_" + conditions[c], "1", "multiplier of the end condition",
           is_root ? best_.point.multipliers[static_cast<Index>(c)] : 0.0);
  }
  for (std::size_t i = 0; i < plan_.free_start.size(); ++i) {
    number("start_" + plan_.free_start[i].name, "1", "free part of the start",
           is_root ? problem.start_of(best_.point.x)[static_cast<Index>(i)] : 0.0);
  }
  warn_of_growth(this_case.name, problem.last_run().growth());
  Dimension start{"start", {}, "1", "start of a search, from 0"};
  for (int i = 0; i < plan_.starts; ++i) start.values.push_back(i);
  file.array(group, {"cost_of_start", "1", "least cost by start; NaN where none was found", {}}, std::span(&start, 1),
             search_.costs);
  write_history(file, group);
  ControlledDrive controls = *controls_of(experiment_.system());
  if (is_root) controls = *controls.with(problem.numbers_of(best_.point.x))->with(side_of(this_case.scheme));
  std::vector<double> q, p, work;
  std::vector<std::vector<double>> values(controls.controls().size()), of_costates(values);
  const VectorXd& mass = experiment_.system().mass;
  for (const PathRecord& record : problem.last_run().records()) {
    if (!is_root) break;
    const double now = static_cast<double>(record.step) / static_cast<double>(this_case.steps);
    const VectorXd momentum = mass.cwiseProduct(record.v);
    work.push_back(record.work);
    q.insert(q.end(), record.q.begin(), record.q.end());
    p.insert(p.end(), momentum.begin(), momentum.end());
    const VectorXd from_costate = control_of_costate(plan_, controls.controls(), record);
    for (std::size_t c = 0; c < values.size(); ++c) {
      const Control& control = controls.controls()[c];
      values[c].push_back(control.value(now * control.basis.end()));
      if (from_costate.size() > 0) of_costates[c].push_back(from_costate[static_cast<Index>(c)]);
    }
  }
  const std::vector<Dimension> over_time = record_dimensions(problem.last_run());
  const auto at_records = [&](const std::string& name, const std::string& units, const std::string& what,
                              const std::vector<double>& numbers) {
    file.array(group, {name, units, what, {}}, std::span(over_time).first(1), numbers);
  };
  file.array(group, {"q", "m", "position", {}}, over_time, q);
  file.array(group, {"p", "kg m/s", "momentum", {}}, over_time, p);
  write_costates(file, group, problem.last_run());
  at_records("work", "J", "work of controls and other external forces since the start", work);
  for (std::size_t c = 0; c < values.size(); ++c) {
    const Control& control = controls.controls()[c];
    at_records(control.name + "_spline", "N", "control", values[c]);
    const bool has_costates = problem.communicator().broadcast(!of_costates[c].empty());
    if (has_costates) at_records(control.name, "N", "control that the costates imply", of_costates[c]);
    const Dimension index = number_dimension(control);
    file.array(group, {control.name + "_numbers", "N", "numbers of the control, as `initial` takes them", {}},
               std::span(&index, 1), {control.numbers.data(), static_cast<std::size_t>(control.numbers.size())});
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

/// The controls of the costates, or the controls themselves where these are not known, at the records.
std::vector<double> controls_at_records(const ControlPlan& plan, const ControlProblem& problem,
                                        const ControlledDrive& controls) {
  std::vector<double> values;
  for (const PathRecord& record : problem.last_run().records()) {
    VectorXd here = control_of_costate(plan, controls.controls(), record);
    if (here.size() == 0) here = controls.values(record.time);
    values.insert(values.end(), here.begin(), here.end());
  }
  return values;
}

void OptimalControlStudy::measure(const ControlProblem& problem) {
  if (!problem.communicator().is_root()) return;
  const ControlledDrive& controls = *controls_of(experiment_.system())->with(problem.numbers_of(best_.point.x));
  const std::vector<double> values = controls_at_records(plan_, problem, controls);
  search_.measured.push_back(best_.value + best_.point.multipliers.dot(errors_));
  search_.measured.push_back(best_.residual);
  search_.measured.insert(search_.measured.end(), values.begin(), values.end());
}

void OptimalControlStudy::write_all_orders(ResultFile& file) const {
  if (orders_.steps.empty()) return;
  const std::vector<Case>& cases = experiment_.cases();
  std::vector<SteppedOptimum> optima(cases.size() * steps(), SteppedOptimum{0.0, 0.0, {}});
  const std::size_t size = search_.measured.size() / optima.size();  // none but on rank 0, which writes
  for (std::size_t i = 0; i < optima.size() && size > 0; ++i) {
    const auto first = search_.measured.begin() + static_cast<std::ptrdiff_t>(i * size);
    optima[i] = {first[0], first[1], {first + 2, first + static_cast<std::ptrdiff_t>(size)}};
  }
  const auto of_case = [&](std::size_t index) { return std::span(optima).subspan(index * steps(), steps()); };
  const Case* reference = experiment_.find_case(orders_.reference);
  const auto index = static_cast<std::size_t>(reference - cases.data());
  const double end = static_cast<double>(cases.front().steps) * cases.front().step;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    write_orders(file, cases[i].name, orders_.steps, end, of_case(i), of_case(index));
  }
}

/// A free end needs the derivative by the step, which is known for autonomous problems without sites.
void check_free_end(const Recipe& recipe, const Experiment& experiment, const ControlPlan& plan, Mistakes& mistakes) {
  const Location where = recipe.study.where("end_bounds");
  const std::vector<double>& bounds = recipe.study.numbers("end_bounds");
  if (bounds.size() != 2 || !(bounds[0] > 0.0) || bounds[1] < bounds[0]) {
    mistakes.add(where, "end_bounds must be two positive times, [lowest, highest]");
  }
  if (plan.cost.depends_on_time() || plan.conditions.depends_on_time()) {
    mistakes.add(where, "end_bounds: with a free end no cost, no condition and no force may depend on the time `t`");
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

std::vector<FreeStart> read_free_start(const Section& study, const CostVariables& variables, Mistakes& mistakes) {
  std::vector<FreeStart> free;
  if (!study.has("free_start")) return free;
  std::vector<std::string> names = variables.names();
  names.resize(static_cast<std::size_t>(variables.time()));
  for (const std::string& name : study.texts("free_start")) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      mistakes.add(study.where("free_start"), fmt::format("free_start: `{}` is no coordinate and no velocity{}",
                                                          printable(name), spelling_advice(name, names, '"')));
    } else {
      free.push_back({name, found - names.begin()});
    }
  }
  return free;
}

/// Steps that divide the largest of them and have pieces of whole steps.
OrderPlan read_orders(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  const Section& study = recipe.study;
  OrderPlan plan;
  if (!study.has("step_sizes")) {
    if (study.has("reference")) mistakes.add(study.where("reference"), "`reference` belongs to `step_sizes`");
    return plan;
  }
  const Location where = study.where("step_sizes");
  plan.steps = study.numbers("step_sizes");
  std::sort(plan.steps.begin(), plan.steps.end(), std::greater<>());
  if (plan.steps.size() < 2) mistakes.add(where, "an order needs at least two steps");
  if (study.has("end_bounds")) mistakes.add(where, "step_sizes: orders need an end that is not free");
  for (const double h : plan.steps) {
    const double quotient = plan.steps.front() / h;
    if (std::abs(quotient - std::round(quotient)) > 1e-9 * quotient) {
      mistakes.add(where, fmt::format("step {} does not divide the largest, {}: controls are compared at its multiples",
                                      h, plan.steps.front()));
    }
    for (const Case& this_case : experiment.cases()) {
      for (const Section& control : recipe.system.tables("controls")) {
        check_pieces(control, experiment.end_time(), h, this_case.scheme,
                     fmt::format("{} with the step {}", this_case.name, h), mistakes);
      }
    }
  }
  if (!study.has("reference")) {
    mistakes.add(where,
                 "step_sizes: give `reference`, the name of the integrator whose optimum with the smallest step "
                 "is the reference of errors");
    return plan;
  }
  plan.reference = study.text("reference");
  if (experiment.find_case(plan.reference) == nullptr) {
    std::vector<std::string> names;
    for (const Case& this_case : experiment.cases()) names.push_back(this_case.name);
    mistakes.add(study.where("reference"),
                 fmt::format("reference: no integrator has the name `{}`{}", printable(plan.reference),
                             spelling_advice(plan.reference, names, '"')));
  }
  return plan;
}

std::unique_ptr<Study> make_optimal_control(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  const Section& study = recipe.study;
  if (!controls_of(experiment.system())) {
    mistakes.add(study.where("kind"), "an optimal-control study needs [[controls]]");
    return nullptr;
  }
  refuse_without_costates(recipe, experiment, mistakes);
  std::optional<PathCost> cost = PathCost::read(recipe, experiment, mistakes);
  const CostVariables variables(experiment.system(), recipe.system);
  EndConditions conditions = EndConditions::read(study, variables, experiment.system(), mistakes);
  std::vector<FreeStart> free_start = read_free_start(study, variables, mistakes);
  OrderPlan orders = read_orders(recipe, experiment, mistakes);
  if (!cost) return nullptr;
  ControlPlan plan{.cost = std::move(*cost),
                   .conditions = std::move(conditions),
                   .free_start = std::move(free_start),
                   .starts = static_cast<int>(study.integer("starts")),
                   .spread = study.number("spread")};
  if (study.has("end_bounds")) {
    check_free_end(recipe, experiment, plan, mistakes);
    const std::vector<double>& bounds = study.numbers("end_bounds");
    if (bounds.size() == 2) plan.free_end = {bounds[0], bounds[1]};
  }
  plan.limits = {.residual = study.number("residual"),
                 .infeasibility = study.number("infeasibility"),
                 .evaluations = static_cast<int>(study.integer("evaluations"))};
  return std::make_unique<OptimalControlStudy>(experiment, std::move(plan), std::move(orders));
}

}  // namespace

StudyKind optimal_control_kind() {
  std::vector<Parameter> parameters = cost_parameters();
  for (const Parameter& parameter : end_condition_parameters()) parameters.push_back(parameter);
  parameters.push_back(optional("free_start", ValueType::texts, "",
                                "coordinates and velocities such as [\"x\", \"y_dot\"] whose values at the start are "
                                "unknowns as the controls are; the search begins with those of [system]"));
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
  parameters.push_back(optional("step_sizes", ValueType::numbers, "s",
                                "steps with which optima are searched as well, to measure the order of their costs and "
                                "controls; each divides the largest",
                                Bound::positive));
  parameters.push_back(optional("reference", ValueType::text, "",
                                "name of the integrator whose optimum with the smallest of `step_sizes` is the "
                                "reference of errors"));
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
               "time q, p, the costates alpha and beta, in the plane costate_moment, q x alpha + p x beta, which is "
               "constant where forces and costs do not change with rotations; <control>_spline, and <control>, the "
               "control that the costates "
               "imply, which has the order of the method where the numbers of the spline need not; <control>_numbers "
               "can be `initial` of another recipe; start_<name>, free parts of the start. With `step_sizes`, over "
               "step: "
               "error_cost and error_control, the latter the largest at multiples of the largest step, "
               "reference_error_*, used_* and order_*, as in the study `convergence`; costs are those where the "
               "conditions hold, to first order by their multipliers. Where a method has negative weights, as yoshida4 "
               "has, take pieces of two steps and more: with rougher controls its cost has no minimum. Checkpoints are "
               "written between iterations. What "
               "the study "
               "`gradient` refuses is refused here. Nonlinear problems have several optima: `starts` tries several."},
      .make = make_optimal_control,
      .takes_any_lagrangian = true};
}

}  // namespace bathline
