// Runs that remember the path of their particles, and the co-runs of their costates.
// Tested by tests/costates/gradient_test.cpp.
#include "study/with_costates/adjoint_run.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "driver/output_times.hpp"
#include "driver/trajectory_recorder.hpp"
#include "model/lumped/lumped.hpp"
#include "parallel/memory_budget.hpp"
#include "steppers/transposed/tangent_run.hpp"
#include "study/fit/model.hpp"
#include "study/shared_checks.hpp"

namespace bathline {

using Eigen::MatrixXd;
using Eigen::VectorXd;

std::optional<PathCost> PathCost::read(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  const std::size_t before = mistakes.count();
  const Section& study = recipe.study;
  const CostVariables variables(experiment.system(), recipe.system);
  PathCost cost{variables, ParameterForces(recipe.system, variables, mistakes), {}, {}};
  const auto read_key = [&](const char* key, std::optional<CostFormula>& formula) {
    if (study.has(key)) formula = CostFormula::read(study, key, variables, experiment.system(), mistakes);
  };
  read_key("final_cost", cost.final);
  read_key("running_cost", cost.running);
  if (study.has("data_file")) {
    completes([&] {
      MeasuredValues values = read_measured_values(study, experiment, variables, true, mistakes);
      refuse_times_between_steps(values, study, experiment, mistakes);
      cost.mismatch = std::move(values);
    });
  }
  if (!study.has("final_cost") && !study.has("running_cost") && !study.has("data_file")) {
    mistakes.add(study.where("kind"),
                 "give `final_cost`, `running_cost` or `data_file`, the cost that is to be differentiated");
  }
  const double available = memory_budget(experiment.communicator(), 0.0).available;
  cost.path_memory = study.has("path_memory") ? 1e9 * study.number("path_memory") : 0.5 * available;
  if (mistakes.count() > before) return std::nullopt;
  return cost;
}

namespace {

/// What the whole path of a case takes, bytes.
double bytes_of_path(const Case& this_case, const ParticleSystem& system) {
  return (system.magnetic_field != 0.0 ? 24.0 : 16.0) * static_cast<double>(system.size()) *
         static_cast<double>(points_of_step(this_case.scheme).size()) * static_cast<double>(this_case.steps);
}

/// Steps of a segment of a path that does not fit.
std::int64_t segment_of(const Case& this_case) {
  return static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(this_case.steps))));
}

}  // namespace

std::vector<Parameter> cost_parameters() {
  return {optional("final_cost", ValueType::text, "",
                   "cost of the end of the run: a formula in the coordinates (own names, or `x`, `y`, `z`, for several "
                   "particles `x0`, `y0`, `x1`), the velocities (`x_dot`), the time `t`, the controls and the "
                   "`parameters` of the system"),
          optional("running_cost", ValueType::text, "",
                   "cost per second, likewise, integrated over the run by the weights of the method"),
          optional("path_memory", ValueType::number, "GB",
                   "memory for the stored path of the particles; of a longer run the path is stored in segments of "
                   "sqrt(N) of its N steps, each of which is run twice, but whole for gradients by numbers of "
                   "environments; default: half of what is available",
                   Bound::positive)};
}

AdjointRun::AdjointRun(const Experiment& experiment, const Case& this_case, const PathCost& cost, std::int64_t every)
    : experiment_(experiment),
      case_(this_case),
      cost_(cost),
      stops_(record_steps(this_case, every)),
      every_(every),
      segment_(std::max<std::int64_t>(this_case.steps, 1)) {
  const bool is_long = bytes_of_path(this_case, experiment.system()) > cost.path_memory;
  if (experiment.communicator().broadcast(is_long)) segment_ = segment_of(this_case);
  if (!cost.mismatch) return;
  measured_ = cost.mismatch->steps(this_case.step);
  std::vector<std::int64_t> both;
  std::set_union(stops_.begin(), stops_.end(), measured_.begin(), measured_.end(), std::back_inserter(both));
  stops_ = both;
}

std::optional<std::size_t> AdjointRun::measured_at(std::int64_t step) const {
  const auto found = std::lower_bound(measured_.begin(), measured_.end(), step);
  if (found == measured_.end() || *found != step) return std::nullopt;
  return static_cast<std::size_t>(found - measured_.begin());
}

VectorXd AdjointRun::variables(double t, const VectorXd& q, const VectorXd& v) const {
  return cost_.variables.at(q, v, t, controls_ ? controls_->values(t) : VectorXd());
}

std::optional<Failure> AdjointRun::run(const ParticleSystem& system, std::optional<double> step) {
  step_ = step.value_or(case_.step);
  problem_.emplace(experiment_.make_problem(case_, step_, case_.closed, system));
  controls_ = controls_of(problem_->system());
  const bool is_root = problem_->communicator().is_root();
  if (!path_) path_.emplace(problem_->q.size(), problem_->system().magnetic_field != 0.0);
  problem_->prepare(experiment_.seed());
  snapshots_.clear();
  running_sum_ = 0.0;
  const std::unique_ptr<Stepper> stepper = make_recording_stepper(case_.scheme, *problem_, step_, *path_);
  states_.clear();
  for (std::size_t i = 0; i < stops_.size(); ++i) {
    if (i > 0) {
      if (std::optional<Failure> failure = advance(*stepper, stops_[i - 1], stops_[i])) return failure;
    }
    const bool is_finite = problem_->q.allFinite() && problem_->p.allFinite();
    if (!problem_->communicator().broadcast(is_finite)) {
      return Failure{stops_[i], problem_->q.norm(), "the state is no longer finite"};
    }
    states_.push_back(
        {stops_[i], static_cast<double>(stops_[i]) * step_, problem_->q, problem_->velocity(), problem_->work});
  }
  if (is_root) sum_costs();
  return std::nullopt;
}

std::vector<PathRecord> AdjointRun::records() const {
  std::vector<PathRecord> records;
  for (const PathRecord& state : states_) {
    if (state.step % every_ == 0 || state.step == case_.steps) records.push_back(state);
  }
  return records;
}

std::optional<Failure> AdjointRun::advance(Stepper& stepper, std::int64_t from, std::int64_t to) {
  while (from < to) {
    if (from % segment_ == 0) begin_segment(from, stepper);
    const std::int64_t next = std::min(to, (from / segment_ + 1) * segment_);
    if (std::optional<Failure> failure = stepper.advance(next - from)) return failure;
    if (problem_->communicator().is_root()) sum_running_cost(from, next);
    from = next;
  }
  return std::nullopt;
}

void AdjointRun::begin_segment(std::int64_t step, const Stepper& stepper) {
  begin_path(step / segment_);
  if (segment_ >= case_.steps) return;
  Snapshot snapshot{problem_->q, problem_->p, {}, stepper.internal_state()};
  for (const auto& environment : problem_->environments()) {
    for (const StateField& field : environment->fields()) {
      snapshot.fields.emplace_back(field.values.begin(), field.values.end());
    }
  }
  snapshots_.push_back(std::move(snapshot));
}

void AdjointRun::begin_path(std::int64_t segment) {
  segment_here_ = segment;
  if (!problem_->communicator().is_root()) return;
  const std::size_t in_step = points_of_step(case_.scheme).size();
  const std::int64_t first = segment * segment_, steps = std::min(segment_, case_.steps - first);
  path_->begin_at(static_cast<std::size_t>(first) * in_step, static_cast<std::size_t>(steps) * in_step + 1);
  path_->add(problem_->q, problem_->velocity());
}

std::optional<Failure> AdjointRun::recall(std::int64_t segment) {
  if (segment == segment_here_) return std::nullopt;
  const Snapshot& snapshot = snapshots_[static_cast<std::size_t>(segment)];
  const std::int64_t first = segment * segment_;
  problem_->q = snapshot.q;
  problem_->p = snapshot.p;
  problem_->clock.steps = first;
  std::size_t next = 0;
  for (const auto& environment : problem_->environments()) {
    for (const StateField& field : environment->fields()) {
      std::copy(snapshot.fields[next].begin(), snapshot.fields[next].end(), field.values.begin());
      ++next;
    }
    environment->fields_changed();
  }
  begin_path(segment);
  const std::unique_ptr<Stepper> stepper = make_recording_stepper(case_.scheme, *problem_, step_, *path_);
  stepper->set_internal_state(snapshot.stepper);
  return stepper->advance(std::min(segment_, case_.steps - first));
}

void AdjointRun::sum_running_cost(std::int64_t from, std::int64_t to) {
  if (!cost_.running) return;
  PathPoints path(finished());
  while (from < to) {
    const std::int64_t steps = std::min(path.steps_at_once(), to - from);
    const ForcePoints& points = path.of_steps(from, steps);
    cost_.variables.set(points.q, points.v, points.t, controls_.get(), variables_);
    cost_.running->values(variables_, running_);
    for (Eigen::Index i = 0; i < points.t.size(); ++i) running_sum_ += points.weight[i] * running_[i];
    from += steps;
  }
}

void AdjointRun::sum_costs() {
  cost_value_ = running_sum_;
  if (cost_.final) cost_value_ += cost_.final->value(variables(end().time, end().q, end().v));
  for (const PathRecord& state : states_) {
    const std::optional<std::size_t> measured = measured_at(state.step);
    if (measured) cost_value_ += cost_.mismatch->cost(*measured, variables(state.time, state.q, state.v));
  }
}

std::optional<Failure> AdjointRun::pull_back(const VectorXd& at_end, CostGradient& gradient) {
  const Eigen::Index size = problem_->q.size();
  const bool is_root = problem_->communicator().is_root();
  const ControlledDrive* controls = controls_.get();
  const VectorXd& mass = problem_->system().mass;
  gradient = {};
  gradient.controls.setZero(controls != nullptr ? controls->numbers().size() : 0);
  gradient.parameters.setZero(static_cast<Eigen::Index>(cost_.variables.parameter_names().size()));
  gradient.q0 = gradient.v0 = gradient.mass = VectorXd::Zero(size);
  gradient_ = &gradient;
  Costate costate;
  VectorXd mass_slopes = VectorXd::Zero(size);
  // A function of the state at a stop adds its derivatives to costates, and others to the gradient.
  const auto add = [&](const PathRecord& state, const VectorXd& slopes) {
    const VectorXd by_p = slopes.segment(size, size).cwiseQuotient(mass);
    costate.alpha += slopes.head(size);
    costate.beta += by_p;
    mass_slopes -= by_p.cwiseProduct(state.v);
    gradient.parameters += slopes.tail(gradient.parameters.size());
    if (controls == nullptr) return;
    const Eigen::Index first = cost_.variables.controls();
    controls->pull_back(state.time, slopes.segment(first, cost_.variables.parameters() - first), gradient.controls);
  };
  if (is_root) {
    costate = {VectorXd::Zero(size), VectorXd::Zero(size)};
    if (at_end.size() > 0) add(end(), at_end);
  }
  if (is_root && !constants_.empty()) {
    last_point_ = static_cast<Eigen::Index>(path_->points()) - 1;
    by_force_.resize(size, last_point_);
  }
  Problem environments = experiment_.make_problem(case_, step_, case_.closed, experiment_.system());
  environments.prepare(experiment_.seed());
  const std::unique_ptr<CoStepper> co_stepper = make_co_stepper(finished(), environments, *this);
  growth_ = 0.0;
  double scale = 0.0;
  for (std::size_t i = stops_.size(); i-- > 0;) {
    if (is_root) {
      if (const VectorXd slopes = slopes_at(i); slopes.size() > 0) add(states_[i], slopes);
      states_[i].costate = costate;
      const double norm = std::hypot(costate.alpha.norm(), costate.beta.norm());
      if (i + 1 == stops_.size()) scale = norm;
      if (scale > 0.0) growth_ = std::max(growth_, norm / scale);
    }
    if (i == 0) break;
    for (std::int64_t to = stops_[i]; to > stops_[i - 1];) {
      const std::int64_t segment = (to - 1) / segment_, from = std::max(stops_[i - 1], segment * segment_);
      if (std::optional<Failure> failure = recall(segment)) return failure;
      if (std::optional<Failure> failure = co_stepper->pull_back(to - from, costate)) return failure;
      to = from;
    }
  }
  gradient.constants.setZero(static_cast<Eigen::Index>(constants_.size()));
  for (Eigen::Index i = 0; i < gradient.constants.size(); ++i) {
    auto failure = find_slope(constants_[static_cast<std::size_t>(i)], costate, gradient.constants[i]);
    if (failure) return failure;
  }
  gradient_ = nullptr;
  if (!is_root) return std::nullopt;
  const ConstantSlopes& constants = co_stepper->slopes();
  gradient.q0 = costate.alpha + constants.origin;
  gradient.v0 = experiment_.system().mass.cwiseProduct(costate.beta);
  gradient.mass = mass_slopes + constants.mass + costate.beta.cwiseProduct(problem_->system().v0);
  gradient.end = (constants.step + running_sum_ / step_) / static_cast<double>(case_.steps);
  return std::nullopt;
}

VectorXd AdjointRun::slopes_at(std::size_t stop) const {
  const PathRecord& state = states_[stop];
  const bool is_end = cost_.final && stop + 1 == states_.size();
  const std::optional<std::size_t> measured = measured_at(state.step);
  if (!is_end && !measured) return {};
  const VectorXd here = variables(state.time, state.q, state.v);
  VectorXd slopes = VectorXd::Zero(here.size());
  if (is_end) cost_.final->gradient(here, slopes);
  if (measured) cost_.mismatch->add_gradient(*measured, here, slopes);
  return slopes;
}

bool AdjointRun::slopes(const ForcePoints& points, MatrixXd& by_q, MatrixXd& by_v) {
  if (cost_.running || gradient_->parameters.size() > 0) {
    cost_.variables.set(points.q, points.v, points.t, controls_.get(), variables_);
  }
  if (!cost_.running) return false;
  cost_.running->gradients(variables_, slopes_);
  by_q = slopes_.leftCols(points.q.rows()).transpose();
  by_v = slopes_.middleCols(points.q.rows(), points.q.rows()).transpose();
  return true;
}

void AdjointRun::collect(const ForcePoints& points, const MatrixXd& by_force) {
  const ControlledDrive* controls = controls_.get();
  const Eigen::Index parameters = gradient_->parameters.size(), count = points.t.size();
  if (!constants_.empty()) {
    last_point_ -= count;
    by_force_.middleCols(last_point_, count) = by_force;
  }
  if (controls != nullptr) by_control_.resize(static_cast<Eigen::Index>(controls->controls().size()));
  for (Eigen::Index i = count; controls != nullptr && i-- > 0;) {
    for (Eigen::Index c = 0; c < by_control_.size(); ++c) {
      by_control_[c] = cost_.running ? points.weight[i] * slopes_(i, cost_.variables.controls() + c) : 0.0;
    }
    pull_back_to_controls(problem_->system(), *controls, points.q.col(i), points.v.col(i), points.t[i],
                          controls->values(points.t[i]), by_force.col(i), by_control_);
    controls->pull_back(points.t[i], by_control_, gradient_->controls);
  }
  if (parameters == 0) return;
  cost_.forces.pull_back(variables_, by_force, gradient_->parameters);
  for (Eigen::Index i = count; cost_.running && i-- > 0;) {
    gradient_->parameters += points.weight[i] * slopes_.row(i).tail(parameters).transpose();
  }
}

void AdjointRun::differentiate_by(const Recipe& recipe, std::vector<NumberAt> constants) {
  if (constants.empty()) return;
  recipe_ = recipe_of(recipe, case_);
  constants_ = std::move(constants);
  segment_ = std::max<std::int64_t>(case_.steps, 1);  // their forces are those along all of the path
}

double AdjointRun::size_beside(const NumberAt& constant) const {
  const auto list_of = [](const NumberAt& number) { return std::span(number.path()).first(number.path().size() - 1); };
  double size = 0.0;
  for (const NumberAt& other : constants_) {
    if (std::ranges::equal(list_of(other), list_of(constant))) size = std::max(size, std::abs(other.value()));
  }
  return size > 0.0 ? size : 1.0;
}

std::optional<Failure> AdjointRun::find_slope(const NumberAt& constant, const Costate& at_start, double& slope) {
  const auto [lower, upper] = constant.limits();
  const ChangedNumber number{.value = constant.value(),
                             .size = constant.value() == 0.0 ? size_beside(constant) : 0.0,
                             .environment = constant.environment(),
                             .is_of_system = false,
                             .lower = lower,
                             .upper = upper};
  const std::optional<PathChange> change = change_on_path(finished(), number, [&](double value) {
    Recipe changed = *recipe_;
    constant.set(changed, value);
    return preparation_of(std::move(changed), experiment_.program(), 1);
  });
  if (!change) return Failure{0, 0.0, "a number beside that of " + constant.environment() + " is invalid"};
  if (!problem_->communicator().is_root()) return std::nullopt;
  slope = change->forces.cwiseProduct(by_force_).sum() +
          at_start.beta.dot(problem_->system().mass.cwiseProduct(change->v0));
  return std::nullopt;
}

std::vector<Dimension> record_dimensions(const AdjointRun& run) {
  Dimension time{"time", {}, "s", "time"};
  for (const PathRecord& record : run.records()) time.values.push_back(record.time);
  std::vector<Dimension> dimensions = phase_dimensions(run.system());
  dimensions.insert(dimensions.begin(), std::move(time));
  return dimensions;
}

Dimension number_dimension(const Control& control) {
  Dimension number{control.name + "_number", {}, "1", "number of the control, from 0"};
  for (Eigen::Index i = 0; i < control.numbers.size(); ++i) number.values.push_back(static_cast<double>(i));
  return number;
}

void write_costates(ResultFile& file, const std::string& group, const AdjointRun& run) {
  const VectorXd& mass = run.system().mass;
  std::vector<double> alpha, beta, moments;
  for (const PathRecord& record : run.records()) {
    const Costate& costate = record.costate;
    alpha.insert(alpha.end(), costate.alpha.begin(), costate.alpha.end());
    beta.insert(beta.end(), costate.beta.begin(), costate.beta.end());
    double moment = 0.0;
    for (Eigen::Index x = 0; x + 1 < costate.alpha.size(); x += 2) {
      moment += record.q[x] * costate.alpha[x + 1] - record.q[x + 1] * costate.alpha[x] +
                mass[x] * record.v[x] * costate.beta[x + 1] - mass[x + 1] * record.v[x + 1] * costate.beta[x];
    }
    moments.push_back(moment);
  }
  const std::vector<Dimension> over_time = record_dimensions(run);
  file.array(group, {"alpha", "1/m", "costate of the positions", {}}, over_time, alpha);
  file.array(group, {"beta", "s/(kg m)", "costate of the momenta", {}}, over_time, beta);
  if (run.system().axes != 2) return;
  file.array(group, {"costate_moment", "1", "sum of q x alpha + p x beta over all particles", {}},
             std::span(over_time).first(1), moments);
}

void warn_of_growth(const std::string& name, double growth) {
  if (growth < 1e8) return;
  spdlog::warn("{}: its costates grow by a factor of {:.1g}: the motion is chaotic, and the gradient true but useless",
               name, growth);
}

namespace {

/// Why an environment has no co-run, a sentence without its subject; empty where it has.
std::string why_no_co_run(const Environment& environment, const Scheme& backwards) {
  const EnvironmentProperties& properties = environment.properties();
  if (!properties.is_linear) return "is not linear, and costates would need its whole path";
  if (properties.loses_energy && properties.sites > 0 &&
      dynamic_cast<const LumpedEnvironment*>(&environment) == nullptr) {
    return "has dashpots at its sites, as at a matched end, which costates do not support";
  }
  if (const auto reason = environment.unsupported_reason(backwards)) return "cannot be run backwards: " + *reason;
  return "";
}

}  // namespace

void refuse_without_costates(const Recipe& recipe, const Experiment& experiment, bool is_by_constants,
                             Mistakes& mistakes) {
  const std::string& study = recipe.study.text("kind");
  if (experiment.system().lagrangian || experiment.system().contact) {
    mistakes.add(recipe.system.where("kind"),
                 fmt::format("a study of the kind `{}` is for masses and a potential, not for a typed Lagrangian or a "
                             "contact system: write the equations as a system of the kind `formula`, with masses, `V` "
                             "and a `force` that may contain controls",
                             study));
    return;
  }
  if (experiment.system().start != ParticleSystem::Start::given) {
    mistakes.add(recipe.system.where("start"),
                 fmt::format("a study of the kind `{}` needs a given start, not one drawn at random", study));
  }
  const std::size_t before = mistakes.count();
  refuse_nonlinear_couplings(recipe, experiment, mistakes);
  if (mistakes.count() > before) return;
  for (const Case& this_case : experiment.cases()) {
    if (const auto reason = why_no_pull_back(this_case.scheme)) {
      mistakes.add(this_case.options.where("method"),
                   fmt::format("{}: `{}` {}; splittings, `gamma`, `gauss` and `lobatto` have costates", this_case.name,
                               this_case.method->entry.name, *reason));
      continue;
    }
    const Problem problem = experiment.make_problem(this_case);
    const Scheme backwards = reversed(this_case.scheme);
    for (const Environment* environment : problem.stepped_environments()) {
      const std::string reason = why_no_co_run(*environment, backwards);
      if (reason.empty()) continue;
      mistakes.add(this_case.options.where("name"),
                   fmt::format("{}: `{}` {}", this_case.name, environment->name(), reason));
    }
    const double share = static_cast<double>(segment_of(this_case)) / static_cast<double>(this_case.steps);
    double bytes = bytes_of_path(this_case, problem.system());
    if (is_by_constants) {
      bytes *= 2.0;  // the derivatives by forces and their changes, at all points
    } else if (this_case.steps > 0) {
      bytes *= std::min(1.0, 2.0 * share);
    }
    const MemoryBudget budget =
        memory_budget(experiment.communicator(), experiment.communicator().is_root() ? bytes : 0.0);
    if (budget.needed <= budget.available) continue;
    mistakes.add(this_case.options.where("name"),
                 fmt::format("{}: the path of its particles, which costates need, takes {:.2g} GB{}, and {:.2g} GB are "
                             "available: take fewer steps",
                             this_case.name, budget.needed * 1e-9,
                             is_by_constants ? " with the forces on all of it by constants of environments" : "",
                             budget.available * 1e-9));
  }
}

}  // namespace bathline
