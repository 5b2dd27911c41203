// The gradient of a cost by controls, start, masses and parameters.
//
// One run and one co-run give the derivatives by all of them (steppers/transposed/co_stepper.hpp), which are exact for
// the method: those of the numbers that the run computes, not of the differential equations.
// Tested by tests/costates/gradient_test.cpp.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>
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

/// Numbers that a cost is differentiated by: a start, the masses, a control or a parameter.
struct NumberList {
  std::string name, units, what;  ///< `units` and `what` of the derivatives
  std::vector<Dimension> dimensions;
  VectorXd CostGradient::*all;  ///< has them
  Eigen::Index first, count;    ///< there
  Eigen::VectorBlock<VectorXd> in(CostGradient& numbers) const { return (numbers.*all).segment(first, count); }
};

struct Variables {
  std::vector<NumberList> lists;
  std::vector<NumberAt> constants = {};  ///< of environments
};

/// All that the cost can be differentiated by, but for constants of environments.
std::vector<NumberList> known_lists(const ParticleSystem& system, const CostVariables& variables) {
  const std::vector<Dimension> by_dof = phase_dimensions(system);
  const Eigen::Index size = system.size();
  std::vector<NumberList> lists = {{"q0", "1/m", "q0", by_dof, &CostGradient::q0, 0, size},
                                   {"v0", "s/m", "v0", by_dof, &CostGradient::v0, 0, size},
                                   {"mass", "1/kg", "mass", by_dof, &CostGradient::mass, 0, size}};
  Eigen::Index first = 0;
  if (const auto drive = controls_of(system)) {
    for (const Control& control : drive->controls()) {
      lists.push_back({control.name,
                       "1/N",
                       "the numbers of " + control.name,
                       {number_dimension(control)},
                       &CostGradient::controls,
                       first,
                       control.numbers.size()});
      first += control.numbers.size();
    }
  }
  first = 0;
  for (const std::string& name : variables.parameter_names()) {
    lists.push_back({name, "1", "the parameter " + name, {}, &CostGradient::parameters, first++, 1});
  }
  return lists;
}

/// The numbers of "environment.key", one or those of a list; none where the name is of no such number.
std::vector<NumberAt> constants_of(const Recipe& recipe, const Program& program, const std::string& name) {
  std::vector<NumberAt> constants;
  const std::string others[] = {"kT", "tolerance", "horizon", "hbar", "around"};
  if (std::ranges::find(others, name.substr(name.find('.') + 1)) != std::end(others)) return constants;
  const std::string path = "environments." + name;
  try {
    constants.emplace_back(path, recipe, program.catalogue_schema());
  } catch (const std::runtime_error&) {
    try {
      while (true) {
        constants.emplace_back(fmt::format("{}.{}", path, constants.size()), recipe, program.catalogue_schema());
      }
    } catch (const std::runtime_error&) {  // the list has ended, or there is none
    }
  }
  return constants;
}

/// What the cost is differentiated by.
Variables read_by(const Recipe& recipe, const Experiment& experiment, const PathCost& cost, Mistakes& mistakes) {
  const std::vector<NumberList> known = known_lists(experiment.system(), cost.variables);
  std::vector<std::string> names;
  for (const NumberList& list : known) names.push_back(list.name);
  Variables variables{known};
  if (recipe.study.has("by")) {
    variables.lists.clear();
    for (const std::string& name : recipe.study.texts("by")) {
      const auto list = std::ranges::find(known, name, &NumberList::name);
      if (list != known.end()) {
        variables.lists.push_back(*list);
        continue;
      }
      const std::vector<NumberAt> constants = constants_of(recipe, experiment.program(), name);
      variables.constants.insert(variables.constants.end(), constants.begin(), constants.end());
      if (constants.empty()) {
        mistakes.add(
            recipe.study.where("by"),
            fmt::format("by: `{}` is no control, no parameter of the system, none of `q0`, `v0`, `mass`, and no "
                        "number of an environment, such as \"line.damping\"{}",
                        printable(name), spelling_advice(name, names, '"')));
      } else if (recipe.system.has("magnetic_field")) {
        mistakes.add(recipe.study.where("by"),
                     fmt::format("by: the derivative by `{}` is known without a magnetic field", printable(name)));
      }
    }
  }
  const bool is_weighted = recipe.system.has("uniform_field") || recipe.system.has("magnetic_field") ||
                           recipe.system.text("kind") == "kepler";
  const bool has_masses =
      std::erase_if(variables.lists, [&](const NumberList& list) { return is_weighted && list.name == "mass"; }) > 0;
  if (has_masses && recipe.study.has("by")) {
    mistakes.add(recipe.study.where("by"),
                 "by: forces of this system contain the masses, by which they are not differentiated: leave `mass` "
                 "out");
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

class GradientStudy final : public Study, public LiveProblem {
 public:
  GradientStudy(const Recipe& recipe, const Experiment& experiment, PathCost cost, Variables by)
      : recipe_(recipe), experiment_(&experiment), cost_(std::move(cost)), by_(std::move(by)) {}

  std::optional<CaseFailure> run(ResultFile& file, Progress& progress, Checkpoints& checkpoints) override {
    const CheckpointPoints points(checkpoints);
    for (const Case& this_case : experiment_->cases()) {
      progress.begin(this_case.name, 2, {.name = "run"});
      AdjointRun run(*experiment_, this_case, *cost_, experiment_->output().every);
      CostGradient gradient;
      run.differentiate_by(recipe_, by_.constants);
      std::optional<Failure> failure = run.run(experiment_->system());
      progress.update(1);
      if (!failure) failure = run.pull_back({}, gradient);
      progress.end();
      if (failure) return CaseFailure{this_case.name, *failure};
      write(file, this_case, run, gradient);
    }
    return std::nullopt;
  }

  std::vector<Part> parts() override {
    CostGradient numbers = numbers_of(experiment_->system(), cost_->variables);
    std::vector<Part> parts;
    for (const NumberList& list : by_.lists) parts.push_back({list.name, list.in(numbers)});
    return parts;
  }

  std::optional<Failure> evaluate(const VectorXd& unknowns, Evaluation& result) override {
    CostGradient numbers = numbers_of(experiment_->system(), cost_->variables), gradient;
    const VectorXd parameters = numbers.parameters;
    Eigen::Index next = 0;
    for (const NumberList& list : by_.lists) {
      list.in(numbers) = unknowns.segment(next, list.count);
      next += list.count;
    }
    if (numbers.parameters != parameters) change_parameters(numbers.parameters);
    const Case& first_case = experiment_->cases().front();
    if (!live_) live_.emplace(*experiment_, first_case, *cost_, first_case.steps);
    ParticleSystem system = experiment_->system();
    system.q0 = numbers.q0;
    system.v0 = numbers.v0;
    system.mass = numbers.mass;
    if (const auto controls = controls_of(system)) set_controls(system, controls->with(numbers.controls));
    if (std::optional<Failure> failure = live_->run(system)) return failure;
    if (std::optional<Failure> failure = live_->pull_back({}, gradient)) return failure;
    if (!experiment_->communicator().is_root()) return std::nullopt;
    result.cost = live_->cost();
    result.gradient.resize(unknowns.size());
    next = 0;
    for (const NumberList& list : by_.lists) {
      result.gradient.segment(next, list.count) = list.in(gradient);
      next += list.count;
    }
    return std::nullopt;
  }

 private:
  /// Parameters are part of formulas, which are read again.
  void change_parameters(const VectorXd& values) {
    Section table = recipe_.system.table("parameters");
    const std::vector<std::string>& names = cost_->variables.parameter_names();
    for (std::size_t i = 0; i < names.size(); ++i) {
      table.set(names[i], values[static_cast<Eigen::Index>(i)], table.where(names[i]));
    }
    recipe_.system.set("parameters", std::vector<Section>{table}, recipe_.system.where("parameters"));
    Mistakes mistakes;
    auto changed = std::make_unique<Experiment>(recipe_, experiment_->program(), mistakes);
    if (!mistakes.empty()) throw UsageError(mistakes.report());
    live_.reset();
    own_ = std::move(changed);
    experiment_ = own_.get();
    cost_ = PathCost::read(recipe_, *experiment_, mistakes);
  }

  void write(ResultFile& file, const Case& this_case, const AdjointRun& run, CostGradient& gradient) const {
    const std::string group = "gradient/" + this_case.name;
    file.number(group, "cost", "1", "cost of the run", run.cost());
    file.number(group, "growth", "1", "largest norm of a costate over that at the end", run.growth(), true);
    warn_of_growth(this_case.name, run.growth());
    for (std::size_t i = 0; i < by_.constants.size(); ++i) {
      const std::vector<std::string>& path = by_.constants[i].path();
      const std::string name = fmt::format("{}", fmt::join(std::span(path).subspan(1), "_"));
      file.number(group, "by_" + name, "1", "derivative of the cost by " + name,
                  gradient.constants[static_cast<Eigen::Index>(i)]);
    }
    for (const NumberList& list : by_.lists) {
      const VectorXd slopes = list.in(gradient);
      file.array(group, {"by_" + list.name, list.units, "derivative of the cost by " + list.what, {}}, list.dimensions,
                 {slopes.data(), static_cast<std::size_t>(slopes.size())});
    }
    write_costates(file, group, run);
    file.flush();
  }

  Recipe recipe_;
  const Experiment* experiment_;
  std::unique_ptr<Experiment> own_;  // with other parameters than the recipe's
  std::optional<PathCost> cost_;
  Variables by_;
  std::optional<AdjointRun> live_;  // of the first case
};

std::unique_ptr<Study> make_gradient(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  std::optional<PathCost> cost = PathCost::read(recipe, experiment, mistakes);
  Variables by;
  if (cost) by = read_by(recipe, experiment, *cost, mistakes);
  refuse_without_costates(recipe, experiment, !by.constants.empty(), mistakes);
  if (!cost) return nullptr;
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
