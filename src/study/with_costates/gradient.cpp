// The gradient of a cost by controls, start, masses and parameters.
//
// One run and one co-run give the derivatives by all of them (steppers/co_stepper.hpp), which are exact for the method:
// those of the numbers that the run computes, not of the differential equations.
// Tested by tests/costates/gradient_test.cpp.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

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
    std::vector<LiveProblem::Part> parts;
    for (const std::string& name : by_) parts.push_back({name, *part_of(name, experiment_->system(), nullptr)});
    return parts;
  }

  std::optional<Failure> evaluate(const VectorXd& unknowns, LiveProblem::Evaluation& result) {
    Recipe changed = recipe_;
    Eigen::Index first = 0;
    for (const std::string& name : by_) {
      const auto& parameters = cost_->variables.parameter_names();
      if (std::find(parameters.begin(), parameters.end(), name) != parameters.end()) {
        Section table = changed.system.table("parameters");
        table.set(name, unknowns[first], table.where(name));
        changed.system.set("parameters", std::vector<Section>{table}, changed.system.where("parameters"));
      }
      first += part_of(name, experiment_->system(), nullptr)->size();
    }
    if (changed_parameters(changed)) {
      Mistakes mistakes;
      recipe_ = changed;
      own_ = std::make_unique<Experiment>(recipe_, program_, mistakes);
      if (!mistakes.empty()) throw UsageError(mistakes.report());
      experiment_ = own_.get();
      read_cost();
    }
    ParticleSystem system = experiment_->system();
    VectorXd controls = controls_of(system) ? controls_of(system)->numbers() : VectorXd();
    first = 0;
    for (const std::string& name : by_) {
      const Eigen::Index size = part_of(name, system, nullptr)->size();
      const VectorXd values = unknowns.segment(first, size);
      first += size;
      if (name == "q0") system.q0 = values;
      if (name == "v0") system.v0 = values;
      if (name == "mass") system.mass = values;
      if (const auto range = range_of(name, system)) controls.segment(range->first, range->second) = values;
    }
    if (controls_of(system)) system.drive = controls_of(system)->with(controls);
    if (std::optional<Failure> failure = run_->run(system)) return failure;
    CostGradient gradient;
    if (std::optional<Failure> failure = run_->pull_back({}, gradient)) return failure;
    if (!experiment_->communicator().is_root()) return std::nullopt;
    result.cost = run_->cost();
    result.gradient.resize(unknowns.size());
    first = 0;
    for (const std::string& name : by_) {
      const VectorXd values = *part_of(name, system, &gradient);
      result.gradient.segment(first, values.size()) = values;
      first += values.size();
    }
    return std::nullopt;
  }

 private:
  void read_cost() {
    Mistakes none;
    run_.reset();
    cost_ = PathCost::read(recipe_, *experiment_, none);
    run_.emplace(*experiment_, experiment_->cases().front(), *cost_, experiment_->cases().front().steps);
  }

  bool changed_parameters(const Recipe& changed) const {
    if (!recipe_.system.has("parameters")) return false;
    const Section &before = recipe_.system.table("parameters"), &after = changed.system.table("parameters");
    const std::vector<std::string> names = before.keys();
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return before.number(name) != after.number(name); });
  }

  /// Place and number of a control's numbers among all; nothing for other names.
  static std::optional<std::pair<Eigen::Index, Eigen::Index>> range_of(const std::string& name,
                                                                       const ParticleSystem& system) {
    Eigen::Index first = 0;
    if (!controls_of(system)) return std::nullopt;
    for (const Control& control : controls_of(system)->controls()) {
      if (control.name == name) return std::pair(first, control.numbers.size());
      first += control.numbers.size();
    }
    return std::nullopt;
  }

  /// The values of a part, or its part of a gradient.
  std::optional<VectorXd> part_of(const std::string& name, const ParticleSystem& system,
                                  const CostGradient* gradient) const {
    if (name == "q0") return gradient != nullptr ? gradient->q0 : system.q0;
    if (name == "v0") return gradient != nullptr ? gradient->v0 : system.v0;
    if (name == "mass") return gradient != nullptr ? gradient->mass : system.mass;
    if (const auto range = range_of(name, system)) {
      return VectorXd((gradient != nullptr ? gradient->controls : controls_of(system)->numbers())
                          .segment(range->first, range->second));
    }
    const auto& names = cost_->variables.parameter_names();
    const auto index = std::find(names.begin(), names.end(), name) - names.begin();
    return VectorXd::Constant(1, gradient != nullptr
                                     ? gradient->parameters[index]
                                     : cost_->variables.parameter_values()[static_cast<std::size_t>(index)]);
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

  void write(ResultFile& file, const Case& this_case, const AdjointRun& run, const CostGradient& gradient) const {
    const std::string group = "gradient/" + this_case.name;
    file.number(group, "cost", "1", "cost of the run", run.cost());
    file.number(group, "growth", "1", "largest norm of a costate over that at the end", run.growth());
    warn_of_growth(this_case.name, run.growth());
    const ParticleSystem& system = experiment_.system();
    const std::vector<Dimension> phase = phase_dimensions(system);
    const auto by_dof = [&](const std::string& name, const std::string& units, const VectorXd& values) {
      file.array(group, {"by_" + name, units, "derivative of the cost by " + name, {}}, phase,
                 {values.data(), static_cast<std::size_t>(values.size())});
    };
    for (std::size_t i = 0; i < by_.constants.size(); ++i) {
      const EnvironmentConstant& constant = by_.constants[i];
      std::string name = constant.environment + "_" + constant.key;
      if (constant.element) name += fmt::format("_{}", *constant.element);
      file.number(group, "by_" + name, "1", "derivative of the cost by " + name,
                  gradient.constants.size() > 0 ? gradient.constants[static_cast<Eigen::Index>(i)] : 0.0);
    }
    for (const std::string& name : by_.names) {
      const auto& parameters = cost_.variables.parameter_names();
      const auto parameter = std::find(parameters.begin(), parameters.end(), name);
      if (name == "q0") {
        by_dof(name, "1/m", gradient.q0);
      } else if (name == "v0") {
        by_dof(name, "s/m", gradient.v0);
      } else if (name == "mass") {
        by_dof(name, "1/kg", gradient.mass);
      } else if (parameter != parameters.end()) {
        const auto index = parameter - parameters.begin();
        file.number(group, "by_" + name, "1", "derivative of the cost by the parameter " + name,
                    gradient.parameters.size() > index ? gradient.parameters[index] : 0.0);
      } else {
        write_by_control(file, group, name, gradient);
      }
    }
    write_records(file, group, phase, run);
    file.flush();
  }

  void write_by_control(ResultFile& file, const std::string& group, const std::string& name,
                        const CostGradient& gradient) const {
    Eigen::Index first = 0;
    for (const Control& control : controls_of(experiment_.system())->controls()) {
      const Eigen::Index size = control.numbers.size();
      if (control.name == name) {
        Dimension number{name + "_number", {}, "1", "number of the control, from 0"};
        for (Eigen::Index i = 0; i < size; ++i) number.values.push_back(static_cast<double>(i));
        std::vector<double> values;
        if (gradient.controls.size() > 0) {
          values.assign(gradient.controls.data() + first, gradient.controls.data() + first + size);
        }
        file.array(group, {"by_" + name, "1/N", "derivative of the cost by the numbers of " + name, {}},
                   std::span(&number, 1), values);
      }
      first += size;
    }
  }

  static void write_records(ResultFile& file, const std::string& group, const std::vector<Dimension>& phase,
                            const AdjointRun& run) {
    Dimension time{"time", {}, "s", "time"};
    std::vector<double> alpha, beta;
    for (const PathRecord& record : run.records()) {
      time.values.push_back(record.time);
      alpha.insert(alpha.end(), record.costate.alpha.begin(), record.costate.alpha.end());
      beta.insert(beta.end(), record.costate.beta.begin(), record.costate.beta.end());
    }
    std::vector<Dimension> over_time = {time};
    over_time.insert(over_time.end(), phase.begin(), phase.end());
    file.array(group, {"alpha", "1/m", "costate of the positions", {}}, over_time, alpha);
    file.array(group, {"beta", "s/(kg m)", "costate of the momenta", {}}, over_time, beta);
    write_costate_moment(file, group, over_time, run);
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
