// The gradient of a cost by controls, start, masses and parameters.
//
// One run and one co-run give the derivatives by all of them (steppers/co_stepper.hpp), which are exact for the method:
// those of the numbers that the run computes, not of the differential equations.
// Tested by tests/costates/gradient_test.cpp.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <utility>

#include "driver/live_problem.hpp"
#include "driver/trajectory_recorder.hpp"
#include "driver/resumable_tasks.hpp"
#include "study/with_costates/adjoint_run.hpp"
#include "study/with_costates/kinds.hpp"
#include "text/printable_text.hpp"
#include "text/spelling.hpp"

namespace bathline {

namespace {

using Eigen::VectorXd;

/// What a cost is differentiated by: controls, starts, masses and parameters by name, and constants of environments.
struct Variables {
  std::vector<std::string> names;
  std::vector<EnvironmentConstant> constants = {};
};

/// All that the cost can be differentiated by.
std::vector<std::string> known_names(const Experiment& experiment, const PathCost& cost) {
  std::vector<std::string> names = {"q0", "v0", "mass"};
  if (controls_of(experiment.system())) {
    for (const Control& control : controls_of(experiment.system())->controls()) names.push_back(control.name);
  }
  const auto& parameters = cost.variables.parameter_names();
  names.insert(names.end(), parameters.begin(), parameters.end());
  return names;
}

/// The numbers of "environment.key", one or those of a list; none where the name is of no such number.
std::vector<EnvironmentConstant> constants_of(const Recipe& recipe, const std::string& name) {
  std::vector<EnvironmentConstant> constants;
  for (std::size_t i = 0; i < recipe.environments.size(); ++i) {
    const Section& section = recipe.environments[i];
    const std::string prefix = section.text("name") + ".";
    if (!name.starts_with(prefix)) continue;
    const std::string key = name.substr(prefix.size());
    const std::string others[] = {"kT", "tolerance", "horizon", "hbar", "around"};
    if (std::find(std::begin(others), std::end(others), key) != std::end(others)) continue;
    if (section.holds<double>(key)) constants.push_back({section.text("name"), key, i, {}, section.number(key)});
    if (!section.holds<std::vector<double>>(key)) continue;
    const std::vector<double>& list = section.numbers(key);
    for (std::size_t element = 0; element < list.size(); ++element) {
      constants.push_back({section.text("name"), key, i, element, list[element]});
    }
  }
  return constants;
}

/// What the cost is differentiated by.
Variables read_by(const Recipe& recipe, const Experiment& experiment, const PathCost& cost, Mistakes& mistakes) {
  const std::vector<std::string> known = known_names(experiment, cost);
  Variables variables{known};
  std::vector<std::string>& by = variables.names;
  if (recipe.study.has("by")) {
    by.clear();
    for (const std::string& name : recipe.study.texts("by")) {
      const std::vector<EnvironmentConstant> constants = constants_of(recipe, name);
      variables.constants.insert(variables.constants.end(), constants.begin(), constants.end());
      if (!constants.empty()) {
        const bool is_zero = std::any_of(constants.begin(), constants.end(),
                                         [](const EnvironmentConstant& constant) { return constant.value == 0.0; });
        if (is_zero || recipe.system.has("magnetic_field")) {
          mistakes.add(recipe.study.where("by"),
                       fmt::format("by: the derivative by `{}` is known for numbers other than 0, without a magnetic "
                                   "field",
                                   printable(name)));
        }
        continue;
      }
      by.push_back(name);
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      mistakes.add(recipe.study.where("by"),
                   fmt::format("by: `{}` is no control, no parameter of the system, none of `q0`, `v0`, `mass`, and no "
                               "number of an environment, such as \"line.damping\"{}",
                               printable(name), spelling_advice(name, known, '"')));
    }
  }
  const auto is_mass = std::find(by.begin(), by.end(), "mass");
  const bool is_weighted = recipe.system.has("uniform_field") || recipe.system.has("magnetic_field") ||
                           recipe.system.text("kind") == "kepler";
  if (is_mass != by.end() && is_weighted) {
    if (recipe.study.has("by")) {
      mistakes.add(recipe.study.where("by"),
                   "by: forces of this system contain the masses, by which they are not "
                   "differentiated: leave `mass` out");
    }
    by.erase(is_mass);
  }
  return variables;
}

/// The numbers that costs are differentiated by, in the form of their gradient.
CostGradient numbers_of(const ParticleSystem& system, const CostVariables& variables) {
  CostGradient numbers;
  if (const auto controls = controls_of(system)) numbers.controls = controls->numbers();
  numbers.q0 = system.q0;
  numbers.v0 = system.v0;
  numbers.mass = system.mass;
  const std::vector<double>& parameters = variables.parameter_values();
  numbers.parameters = Eigen::Map<const VectorXd>(parameters.data(), std::ssize(parameters));
  return numbers;
}

/// The control with a name and the index of its first number; nullptr without one.
std::pair<const Control*, Eigen::Index> control_of(const std::string& name, const ParticleSystem& system) {
  Eigen::Index first = 0;
  const auto* const drive = dynamic_cast<const ControlledDrive*>(system.drive.get());
  if (drive == nullptr) return {nullptr, 0};
  for (const Control& control : drive->controls()) {
    if (control.name == name) return {&control, first};
    first += control.numbers.size();
  }
  return {nullptr, 0};
}

/// Those of a name.
Eigen::VectorBlock<VectorXd> part_of(CostGradient& numbers, const std::string& name, const ParticleSystem& system,
                                     const CostVariables& variables) {
  for (const auto& [key, all] : {std::pair("q0", &numbers.q0), {"v0", &numbers.v0}, {"mass", &numbers.mass}}) {
    if (name == key) return all->segment(0, all->size());
  }
  if (const auto [control, first] = control_of(name, system); control != nullptr) {
    return numbers.controls.segment(first, control->numbers.size());
  }
  const std::vector<std::string>& names = variables.parameter_names();
  return numbers.parameters.segment(std::find(names.begin(), names.end(), name) - names.begin(), 1);
}

/// A recipe whose numbers are the unknowns. Those of `parameters` are part of formulas, which are read again where
/// they have changed.
class LiveGradient final {
 public:
  LiveGradient(const Recipe& recipe, const Experiment& experiment)
      : recipe_(recipe), program_(experiment.program()), experiment_(&experiment) {
    Mistakes none;
    read_cost();
    by_ = read_by(recipe, experiment, *cost_, none).names;
  }

  std::vector<LiveProblem::Part> parts() const {
    CostGradient numbers = numbers_of(experiment_->system(), cost_->variables);
    std::vector<LiveProblem::Part> parts;
    for (const std::string& name : by_) parts.push_back({name, part(numbers, name)});
    return parts;
  }

  std::optional<Failure> evaluate(const VectorXd& unknowns, LiveProblem::Evaluation& result) {
    CostGradient numbers = numbers_of(experiment_->system(), cost_->variables);
    const VectorXd parameters = numbers.parameters;
    Eigen::Index first = 0;
    for (const std::string& name : by_) {
      auto values = part(numbers, name);
      values = unknowns.segment(first, values.size());
      first += values.size();
    }
    if (numbers.parameters != parameters) change_parameters(numbers.parameters);
    ParticleSystem system = experiment_->system();
    system.q0 = numbers.q0;
    system.v0 = numbers.v0;
    system.mass = numbers.mass;
    if (const auto controls = controls_of(system)) system.drive = controls->with(numbers.controls);
    if (std::optional<Failure> failure = run_->run(system)) return failure;
    CostGradient gradient;
    if (std::optional<Failure> failure = run_->pull_back({}, gradient)) return failure;
    if (!experiment_->communicator().is_root()) return std::nullopt;
    result.cost = run_->cost();
    result.gradient.resize(unknowns.size());
    first = 0;
    for (const std::string& name : by_) {
      const auto slopes = part(gradient, name);
      result.gradient.segment(first, slopes.size()) = slopes;
      first += slopes.size();
    }
    return std::nullopt;
  }

 private:
  Eigen::VectorBlock<VectorXd> part(CostGradient& numbers, const std::string& name) const {
    return part_of(numbers, name, experiment_->system(), cost_->variables);
  }

  void read_cost() {
    Mistakes none;
    run_.reset();
    cost_ = PathCost::read(recipe_, *experiment_, none);
    run_.emplace(*experiment_, experiment_->cases().front(), *cost_, experiment_->cases().front().steps);
  }

  void change_parameters(const VectorXd& values) {
    Section table = recipe_.system.table("parameters");
    const std::vector<std::string>& names = cost_->variables.parameter_names();
    for (std::size_t i = 0; i < names.size(); ++i) {
      table.set(names[i], values[static_cast<Eigen::Index>(i)], table.where(names[i]));
    }
    recipe_.system.set("parameters", std::vector<Section>{table}, recipe_.system.where("parameters"));
    Mistakes mistakes;
    auto changed = std::make_unique<Experiment>(recipe_, program_, mistakes);
    if (!mistakes.empty()) throw UsageError(mistakes.report());
    own_ = std::move(changed);
    experiment_ = own_.get();
    read_cost();
  }

  Recipe recipe_;
  const Program& program_;
  const Experiment* experiment_;
  std::unique_ptr<Experiment> own_;  // with other parameters than the recipe's
  std::optional<PathCost> cost_;
  std::optional<AdjointRun> run_;
  std::vector<std::string> by_;
};

class GradientStudy final : public Study, public LiveProblem {
 public:
  GradientStudy(const Recipe& recipe, const Experiment& experiment, PathCost cost, Variables by)
      : recipe_(recipe), experiment_(experiment), cost_(std::move(cost)), by_(std::move(by)) {}

  std::optional<CaseFailure> run(ResultFile& file, Progress& progress, Checkpoints& checkpoints) override {
    const CheckpointPoints points(checkpoints);
    for (const Case& this_case : experiment_.cases()) {
      progress.begin(this_case.name, 2, {.name = "run"});
      AdjointRun run(experiment_, this_case, cost_, experiment_.output().every);
      CostGradient gradient;
      run.differentiate_by(recipe_, by_.constants);
      std::optional<Failure> failure = run.run(experiment_.system());
      progress.update(1);
      if (!failure) failure = run.pull_back({}, gradient);
      progress.end();
      if (failure) return CaseFailure{this_case.name, *failure};
      write(file, this_case, run, gradient);
    }
    return std::nullopt;
  }

  std::vector<Part> parts() override { return live().parts(); }
  std::optional<Failure> evaluate(const VectorXd& unknowns, Evaluation& result) override {
    return live().evaluate(unknowns, result);
  }

 private:
  LiveGradient& live() {
    if (!live_) live_ = std::make_unique<LiveGradient>(recipe_, experiment_);
    return *live_;
  }

  void write(ResultFile& file, const Case& this_case, const AdjointRun& run, CostGradient& gradient) const {
    const std::string group = "gradient/" + this_case.name;
    file.number(group, "cost", "1", "cost of the run", run.cost());
    file.number(group, "growth", "1", "largest norm of a costate over that at the end", run.growth());
    warn_of_growth(this_case.name, run.growth());
    const auto array = [&](const std::string& name, const std::string& units, const std::string& what,
                           std::span<const Dimension> dimensions, const auto& values) {
      file.array(group, {"by_" + name, units, "derivative of the cost by " + what, {}}, dimensions,
                 {values.data(), static_cast<std::size_t>(values.size())});
    };
    for (std::size_t i = 0; i < by_.constants.size(); ++i) {
      const EnvironmentConstant& constant = by_.constants[i];
      std::string name = constant.environment + "_" + constant.key;
      if (constant.element) name += fmt::format("_{}", *constant.element);
      array(name, "1", name, {}, std::span(&gradient.constants[static_cast<Eigen::Index>(i)], 1));
    }
    const ParticleSystem& system = experiment_.system();
    const std::map<std::string, std::string> units = {{"q0", "1/m"}, {"v0", "s/m"}, {"mass", "1/kg"}};
    for (const std::string& name : by_.names) {
      const VectorXd slopes = part_of(gradient, name, system, cost_.variables);
      if (const auto by_dof = units.find(name); by_dof != units.end()) {
        array(name, by_dof->second, name, phase_dimensions(system), slopes);
      } else if (const auto [control, first] = control_of(name, system); control != nullptr) {
        const Dimension number = number_dimension(*control);
        array(name, "1/N", "the numbers of " + name, std::span(&number, 1), slopes);
      } else {
        array(name, "1", "the parameter " + name, {}, slopes);
      }
    }
    write_costates(file, group, run);
    file.flush();
  }

  Recipe recipe_;
  const Experiment& experiment_;
  PathCost cost_;
  Variables by_;
  std::unique_ptr<LiveGradient> live_;
};

std::unique_ptr<Study> make_gradient(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  refuse_without_costates(recipe, experiment, mistakes);
  std::optional<PathCost> cost = PathCost::read(recipe, experiment, mistakes);
  if (!cost) return nullptr;
  Variables by = read_by(recipe, experiment, *cost, mistakes);
  return std::make_unique<GradientStudy>(recipe, experiment, std::move(*cost), std::move(by));
}

}  // namespace

StudyKind gradient_kind() {
  std::vector<Parameter> parameters = cost_parameters();
  for (const Parameter& parameter : data_parameters(false)) parameters.push_back(parameter);
  parameters.push_back(optional("by", ValueType::texts, "",
                                "what it is differentiated by: names of controls and of `parameters` of the system, "
                                "\"q0\", \"v0\" and \"mass\", and numbers of environments, such as \"line.damping\"; "
                                "default: all but these numbers"));
  return {
      .entry =
          {.name = "gradient",
           .summary = "the exact gradient of a cost by controls, start, masses and parameters, from one backward run",
           .equation = "J = final_cost(q, v, t) + sum of w h running_cost(q, v, u, t) + |(f - data)/sigma|^2/2\n"
                       "co-run: alpha = dJ/dq, beta = dJ/dp, pulled back through the steps, last first",
           .source = "sanzserna2016, section 3",
           .keywords = {"adjoint", "sensitivity", "costate", "backpropagation"},
           .parameters = std::move(parameters),
           .notes =
               "The gradient is that of the numbers of the run, to round-off. The costates move as a linear problem "
               "under the reversed method with the same environments, cold: only the particles' path is stored, 16 "
               "bytes per coordinate and evaluation of forces. For splittings, `gamma`, `time-centred`, `gauss`, "
               "`lobatto` and `implicit-euler`; open and closed, with every environment that is linear. Refused are "
               "`exact`, `herglotz`, `rk4` and `explicit-euler`, typed Lagrangians, contact systems, nonlinear "
               "environments and couplings, matched ends, noise, and formulas that are not smooth. Group "
               "gradient/<integrator>: cost, growth, by_<name>; over time alpha, beta and, in the plane, "
               "costate_moment, the sum of q x alpha + p x beta. A warning where costates "
               "grow by 1e8: then the motion is chaotic, and the gradient right but useless."},
      .make = make_gradient,
      .takes_any_lagrangian = true};
}

}  // namespace bathline
