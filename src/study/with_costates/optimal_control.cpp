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
#include <array>
#include <chrono>
#include <cmath>
#include <limits>

#include "driver/resumable_tasks.hpp"
#include "driver/trajectory_recorder.hpp"
#include "solve/dense.hpp"
#include "study/with_costates/control_problem.hpp"
#include "study/with_costates/kinds.hpp"
#include "study/with_costates/optimum_orders.hpp"
#include "text/printable_text.hpp"
#include "text/spelling.hpp"

namespace bathline {

namespace {

using Eigen::Index;
using Eigen::VectorXd;

/// Steps with which the optima are searched as well, and the integrator whose optimum with the smallest is the
/// reference of their errors.
struct OrderPlan {
  std::vector<double> steps = {};  ///< from the largest to the smallest, s
  std::string reference = {};
};

/// A state of a search: the cost, the infeasibility, the residual and the number of evaluations.
using Iteration = std::array<double, 4>;

/// The best of several searches.
struct Optimum {
  SearchReport report = {.point = {}, .value = std::numeric_limits<double>::quiet_NaN(), .reason = {}};
  std::vector<double> costs = {};       ///< by start; NaN without convergence
  std::vector<Iteration> history = {};  ///< on rank 0
};

class OptimalControlStudy final : public Study {
 public:
  OptimalControlStudy(const Experiment& experiment, ControlPlan plan, OrderPlan orders)
      : experiment_(experiment), plan_(std::move(plan)), orders_(std::move(orders)) {}

  std::optional<CaseFailure> run(ResultFile& file, Progress& progress, Checkpoints& checkpoints) override {
    file.remove("optimal-control");  // of a resumed run, which writes it again
    ResumableTasks tasks(checkpoints, {});
    const VectorXd no_multipliers = VectorXd::Zero(plan_.conditions.size());
    std::vector<std::vector<SteppedOptimum>> stepped;  // of the cases, on rank 0
    for (const Case& this_case : experiment_.cases()) {
      ControlProblem problem(experiment_, this_case, plan_, experiment_.output().every, tasks);
      std::vector<SearchPoint> starts;
      for (int i = 0; i < plan_.starts; ++i) starts.push_back({problem.start(i), no_multipliers});
      const Optimum optimum = search(problem, this_case.name, starts, progress);
      SearchPoint last = optimum.report.point;
      if (auto failure = problem.run_at(last)) return CaseFailure{this_case.name, *failure};
      write(file, this_case, problem, optimum);
      last.x = problem.unscaled(last.x);
      stepped.emplace_back();
      for (const double h : orders_.steps) {
        Case sized = this_case;
        sized.steps = std::llround(static_cast<double>(this_case.steps) * this_case.step / h);
        sized.step = h;
        const std::string label = fmt::format("{}, step {:.4g}", this_case.name, h);
        ControlProblem other(experiment_, sized, plan_, std::llround(orders_.steps.front() / h), tasks);
        const SearchReport found = search(other, label, {{other.scaled(last.x), last.multipliers}}, progress).report;
        if (auto failure = other.run_at(found.point)) return CaseFailure{label, *failure};
        stepped.back().push_back(measure(other, found));
        last = {other.unscaled(found.point.x), found.point.multipliers};
      }
    }
    if (!orders_.steps.empty()) write_all_orders(file, stepped);
    return std::nullopt;
  }

 private:
  Optimum search(ControlProblem& problem, const std::string& label, const std::vector<SearchPoint>& starts,
                 Progress& progress) const {
    Optimum best;
    progress.begin(label, std::ssize(starts), {.name = "start"});
    for (const SearchPoint& start : starts) {
      std::vector<Iteration> history;
      auto shown = std::chrono::steady_clock::now();
      const SearchReport report = problem.search(start, [&](const SearchReport& now) {
        history.push_back({now.value, now.infeasibility, now.residual, static_cast<double>(now.evaluations)});
        const auto time = std::chrono::steady_clock::now();
        if (time - shown <= std::chrono::seconds(2)) return;
        shown = time;
        spdlog::info("{}: {} evaluations, cost {:.10g}, end conditions to {:.1e}, residual {:.1e}", label,
                     now.evaluations, now.value, now.infeasibility, now.residual);
      });
      best.costs.push_back(report.converged ? report.value : std::numeric_limits<double>::quiet_NaN());
      progress.update(std::ssize(best.costs));
      const bool is_better = report.converged && !(best.report.converged && best.report.value <= report.value);
      if (!is_better && best.report.point.x.size() > 0) continue;
      best.report = report;
      best.history = history;
    }
    progress.end();
    const SearchReport& report = best.report;
    if (!report.converged) {
      spdlog::warn("{}: no optimum was found: {} after {} evaluations, end conditions to {:.1e}, residual {:.1e}",
                   label, report.reason, report.evaluations, report.infeasibility, report.residual);
    }
    return best;
  }

  void write(ResultFile& file, const Case& this_case, const ControlProblem& problem, const Optimum& optimum) const;
  void write_history(ResultFile& file, const std::string& group, const std::vector<Iteration>& history) const;
  SteppedOptimum measure(const ControlProblem& problem, const SearchReport& report) const;
  void write_all_orders(ResultFile& file, const std::vector<std::vector<SteppedOptimum>>& stepped) const;

  const Experiment& experiment_;
  ControlPlan plan_;
  OrderPlan orders_;
};

/// The controls at a record that make the running cost plus costate times force stationary, within their bounds; empty
/// where it is not a quadratic function of the controls that has a minimum.
VectorXd control_of_costate(const ControlPlan& plan, const ParticleSystem& system, const ControlledDrive& drive,
                            const PathRecord& record) {
  const std::vector<Control>& controls = drive.controls();
  const auto count = static_cast<Index>(controls.size());
  if (!plan.cost.running || controls.empty()) return {};
  VectorXd slopes;
  const auto slopes_at = [&](const VectorXd& u) {
    plan.cost.running->gradient(plan.cost.variables.at(record.q, record.v, record.time, u), slopes);
    VectorXd by_control = slopes.segment(plan.cost.variables.controls(), count);
    pull_back_to_controls(system, drive, record.q, record.v, record.time, u, record.costate.beta, by_control);
    return by_control;
  };
  const VectorXd right = -slopes_at(VectorXd::Zero(count));
  Eigen::MatrixXd matrix(count, count);
  for (Index c = 0; c < count; ++c) {
    matrix.col(c) = slopes_at(VectorXd::Unit(count, c)) + right;
  }
  if (!is_positive_definite(matrix)) return {};
  VectorXd u = Lu(matrix).solve(right);
  constexpr double roundoff = 1e-9;
  const double scale = matrix.cwiseAbs().maxCoeff() * u.cwiseAbs().maxCoeff() + right.cwiseAbs().maxCoeff();
  if (!(slopes_at(u).cwiseAbs().maxCoeff() <= roundoff * scale)) return {};  // not quadratic
  for (Index c = 0; c < u.size(); ++c) {
    u[c] = std::clamp(u[c], controls[static_cast<std::size_t>(c)].lower, controls[static_cast<std::size_t>(c)].upper);
  }
  return u;
}

void OptimalControlStudy::write(ResultFile& file, const Case& this_case, const ControlProblem& problem,
                                const Optimum& optimum) const {
  const SearchReport& best = optimum.report;
  const std::string group = "optimal-control/" + this_case.name;
  const auto number = [&](const std::string& name, const std::string& units, const std::string& long_name,
                          double value) { file.number(group, name, units, long_name, value); };
  number("cost", "1", "least cost", best.value);
  number("residual", "1", "2-norm of the gradient of the Lagrangian, within the bounds", best.residual);
  number("infeasibility", "1", "largest error of an end condition", best.infeasibility);
  number("evaluations", "1", "runs of the search that found it", best.evaluations);
  number("iterations", "1", "iterations of this search", best.iterations);
  number("converged", "1", "1 where both limits were met, else 0", best.converged ? 1.0 : 0.0);
  number("growth", "1", "largest norm of a costate over that at the end", problem.last_run().growth());
  number("end", "s", "end of the run", problem.end_of(best.point.x));
  const std::vector<std::string> conditions = plan_.conditions.names();
  for (std::size_t c = 0; c < conditions.size(); ++c) {
    number("multiplier_" + conditions[c], "1", "multiplier of the end condition",
           best.point.multipliers[static_cast<Index>(c)]);
  }
  for (std::size_t i = 0; i < plan_.free_start.size(); ++i) {
    number("start_" + plan_.free_start[i].name, "1", "free part of the start",
           problem.start_of(best.point.x)[static_cast<Index>(i)]);
  }
  warn_of_growth(this_case.name, problem.last_run().growth());
  Dimension start{"start", {}, "1", "start of a search, from 0"};
  for (int i = 0; i < plan_.starts; ++i) start.values.push_back(i);
  file.array(group, {"cost_of_start", "1", "least cost by start; NaN where none was found", {}}, std::span(&start, 1),
             optimum.costs);
  write_history(file, group, optimum.history);
  const auto drive = problem.controls_with(best.point.x);
  const std::vector<Control>& controls = drive->controls();
  std::vector<double> q, p, work;
  std::vector<std::vector<double>> values(controls.size()), of_costates(values);
  const VectorXd& mass = experiment_.system().mass;
  for (const PathRecord& record : problem.last_run().records()) {
    if (!experiment_.communicator().is_root()) break;
    const VectorXd momentum = mass.cwiseProduct(record.v);
    work.push_back(record.work);
    q.insert(q.end(), record.q.begin(), record.q.end());
    p.insert(p.end(), momentum.begin(), momentum.end());
    const VectorXd from_costate = control_of_costate(plan_, experiment_.system(), *drive, record);
    for (std::size_t c = 0; c < values.size(); ++c) {
      values[c].push_back(controls[c].value(record.time));
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
    const Control& control = controls[c];
    const std::string units = control.units();
    at_records(control.name + "_spline", units, "control", values[c]);
    const bool has_costates = experiment_.communicator().broadcast(!of_costates[c].empty());
    if (has_costates) at_records(control.name, units, "control that the costates imply", of_costates[c]);
    const Dimension index = number_dimension(control);
    file.array(group, {control.name + "_numbers", units, "numbers of the control, as `initial` takes them", {}},
               std::span(&index, 1), {control.numbers.data(), static_cast<std::size_t>(control.numbers.size())});
  }
  file.flush();
}

void OptimalControlStudy::write_history(ResultFile& file, const std::string& group,
                                        const std::vector<Iteration>& history) const {
  auto count = static_cast<std::int64_t>(history.size());
  experiment_.communicator().broadcast(std::span<std::int64_t>(&count, 1));
  Dimension iteration{"iteration", {}, "1", "iteration of the search that found the best"};
  for (std::int64_t i = 0; i < count; ++i) iteration.values.push_back(static_cast<double>(i));
  const std::pair<const char*, const char*> columns[] = {
      {"cost", "cost"},
      {"infeasibility", "largest error of an end condition"},
      {"residual", "2-norm of the gradient of the Lagrangian, within the bounds"},
      {"evaluations", "runs until then"}};
  for (std::size_t column = 0; column < std::size(columns); ++column) {
    std::vector<double> values;
    for (const Iteration& each : history) values.push_back(each[column]);
    file.array(group, {fmt::format("history_{}", columns[column].first), "1", columns[column].second, {}},
               std::span(&iteration, 1), values);
  }
}

/// Its controls are those of the costates, or the controls themselves where these are not known, at the records.
SteppedOptimum OptimalControlStudy::measure(const ControlProblem& problem, const SearchReport& report) const {
  if (!experiment_.communicator().is_root()) return {};
  SteppedOptimum optimum{report.value + report.point.multipliers.dot(problem.errors()), report.residual, {}};
  const auto controls = problem.controls_with(report.point.x);
  std::vector<double> values;
  for (const PathRecord& record : problem.last_run().records()) {
    VectorXd here = control_of_costate(plan_, experiment_.system(), *controls, record);
    if (here.size() == 0) here = controls->values(record.time);
    values.insert(values.end(), here.begin(), here.end());
  }
  optimum.controls = Eigen::Map<const VectorXd>(values.data(), std::ssize(values));
  return optimum;
}

void OptimalControlStudy::write_all_orders(ResultFile& file,
                                           const std::vector<std::vector<SteppedOptimum>>& stepped) const {
  const std::vector<Case>& cases = experiment_.cases();
  const auto reference = static_cast<std::size_t>(experiment_.find_case(orders_.reference) - cases.data());
  const double end = static_cast<double>(cases.front().steps) * cases.front().step;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    write_orders(file, cases[i].name, orders_.steps, end, stepped[i], stepped[reference]);
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
  for (const std::string& name : study.texts("free_start")) {
    if (auto variable = state_variable(name, variables, "free_start", study.where("free_start"), mistakes)) {
      free.push_back({name, *variable});
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
    const bool is_free = study.has("free_start") || study.has("end_bounds");
    if (!is_free) {
      mistakes.add(study.where("kind"),
                   "nothing is free: give [[controls]], or a start (`free_start`) or an end (`end_bounds`)");
    } else if (study.has("step_sizes")) {
      mistakes.add(study.where("step_sizes"), "step_sizes: orders are those of [[controls]], and there are none");
    }
    if (!is_free || study.has("step_sizes")) return nullptr;
  }
  check_minimiser_options();
  refuse_without_costates(recipe, experiment, false, mistakes);
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
               "options such as `-- -tao_gatol 1e-9` reach it, and `-tao_type` may be bncg, bqnls, bqnkls, bqnktr or "
               "bqnktl, which need gradients alone and keep bounds. Group optimal-control/<integrator>: cost, "
               "residual, "
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
