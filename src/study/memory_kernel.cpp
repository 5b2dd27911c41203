// Memory kernel and random force of each environment, measured with clamped particles and compared with their formulas.
//
// The force on particles that are clamped at their initial positions is the random force F(t). If they are clamped one
// unit away, it is F(t) - gamma(t): the kernel is the response to a displacement of the head (farshi2018, eq. (36)).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "driver/certificates.hpp"
#include "driver/output_times.hpp"
#include "solve/larger_or_nan.hpp"
#include "study/catalogue.hpp"
#include "study/memory_check.hpp"
#include "study/memory_kernel.hpp"
#include "study/shared_checks.hpp"

namespace bathline {

namespace {

/// Force on a clamped head, by record, then axis.
using ForceSeries = std::vector<double>;

/// Fills `forces`, on every rank. @note Collective.
std::optional<Failure> record_clamped_force(const Case& this_case, std::span<const std::int64_t> steps,
                                            Problem& problem, ForceSeries& forces) {
  const std::unique_ptr<Stepper> stepper = make_stepper(this_case.scheme, problem, this_case.step);
  const Environment& environment = *problem.environments().front();
  const auto axes = static_cast<std::size_t>(environment.attachment().axes());
  std::vector<double> head(axes), force(axes);
  for (std::size_t record = 0;; ++record) {
    if (problem.communicator().is_root()) {
      problem.head(environment, problem.q, head);
      environment.force(head, force);
      forces.insert(forces.end(), force.begin(), force.end());
    }
    if (record + 1 == steps.size()) break;
    if (std::optional<Failure> failure = stepper->advance(steps[record + 1] - steps[record])) return failure;
  }
  forces.resize(axes * steps.size());
  problem.communicator().broadcast(std::span<double>(forces));
  return std::nullopt;
}

/// `this_case` has a single environment.
std::optional<Failure> measure(const Experiment& experiment, const Case& this_case, ResultFile& file,
                               ResumableTasks& tasks) {
  ForceSeries force_at_start, displaced_force;
  Problem problem = experiment.make_clamped_problem(this_case);
  problem.prepare(experiment.seed());
  Environment& environment = *problem.environments().front();
  prepare_certificate(environment, this_case);
  const auto axes = static_cast<std::size_t>(environment.attachment().axes());
  const std::vector<std::int64_t> steps = record_steps(this_case, experiment.output().every);
  std::vector<double> times;
  for (const std::int64_t step : steps) times.push_back(static_cast<double>(step) * this_case.step);
  const AnalyticKernel analytic = environment.analytic_kernel(times).value_or(AnalyticKernel());
  const std::vector<double>& formula = analytic.kernel;
  const std::vector<double>& limit = analytic.limit;
  const std::vector<double>& force_formula = analytic.random_force;
  const std::size_t size = axes * times.size();
  const auto run_task = [&](Problem& clamped, ForceSeries& forces) {
    return tasks.next(this_case.name, this_case.steps, size, forces,
                      [&](ForceSeries& result) { return record_clamped_force(this_case, steps, clamped, result); });
  };
  if (std::optional<Failure> failure = run_task(problem, force_at_start)) return failure;
  Problem displaced_problem = experiment.make_clamped_problem(this_case);
  displaced_problem.prepare(experiment.seed());
  // The axes of an environment are independent, so only the first of the head has to move by one.
  const Attachment::Term& moved = displaced_problem.environments().front()->attachment().terms().front();
  displaced_problem.q[moved.coordinate] += 1.0 / moved.weight;
  if (std::optional<Failure> failure = run_task(displaced_problem, displaced_force)) return failure;

  std::vector<double> kernel, integral;
  double kernel_error = 0.0, force_error = 0.0;
  for (std::size_t i = 0; i < force_at_start.size() / axes; ++i) {
    kernel.push_back(force_at_start[i * axes] - displaced_force[i * axes]);
    integral.push_back(i == 0 ? 0.0 : integral[i - 1] + 0.5 * (times[i] - times[i - 1]) * (kernel[i - 1] + kernel[i]));
    if (!formula.empty()) kernel_error = larger_or_nan(kernel_error, std::abs(kernel[i] - formula[i]));
    for (std::size_t axis = 0; axis < axes && !force_formula.empty(); ++axis) {
      force_error =
          larger_or_nan(force_error, std::abs(force_at_start[i * axes + axis] - force_formula[i * axes + axis]));
    }
  }
  const GroupWriter out(file, "memory-kernel/" + this_case.name + "/" + environment.name());
  const Dimension time{"time", times, "s", "time"}, axis = counted_dimension("axis", axes, "axis, counted from 0");
  out.array("kernel", "N/m", "measured memory kernel", {time}, kernel);
  if (!formula.empty()) out.array("kernel_formula", "N/m", "memory kernel by its formula", {time}, formula);
  if (!limit.empty()) out.array("kernel_limit", "N/m", "memory kernel of infinitely many sites", {time}, limit);
  out.array("kernel_integral", "kg/s", "integral of the measured kernel from 0", {time}, integral);
  out.array("random_force", "N", "measured force on the clamped particle", {time, axis}, force_at_start);
  if (!formula.empty())
    out.number("kernel_error", "N/m", "largest difference of the measured kernel from its formula", kernel_error);
  if (!force_formula.empty()) {
    out.array("random_force_formula", "N", "random force by its formula", {time, axis}, force_formula);
    out.number("random_force_error", "N", "largest difference of the measured random force from its formula",
               force_error);
  }
  return std::nullopt;
}

class MemoryKernelStudy final : public Study {
 public:
  explicit MemoryKernelStudy(const Experiment& experiment) : experiment_(experiment) {}

  std::optional<CaseFailure> run(ResultFile& file, Progress& progress, Checkpoints& checkpoints) override {
    ResumableTasks tasks(checkpoints, {});
    return measure_memory_kernel(experiment_, file, progress, tasks);
  }

 private:
  const Experiment& experiment_;
};

std::unique_ptr<Study> make_memory_kernel(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  if (recipe.study.has("data_file")) return make_kernel_from_data(recipe, experiment, mistakes);
  for (const Parameter& parameter : kernel_from_data_parameters()) {
    if (!recipe.study.has(parameter.name)) continue;
    mistakes.add(recipe.study.where(parameter.name),
                 fmt::format("`{}` has no meaning without `data_file`", parameter.name));
  }
  bool any_environment = false;
  refuse_nonlinear_couplings(recipe, experiment, mistakes);
  for (const Case& this_case : experiment.cases()) {
    for (const std::size_t index : this_case.environments) {
      any_environment = any_environment || (this_case.closed && !experiment.is_white(index));
    }
    if (this_case.closed && std::holds_alternative<ExactFlow>(this_case.scheme)) {
      mistakes.add(this_case.options.where("method"),
                   "a memory-kernel study clamps the particles, which `exact` does not support; use another method");
    }
  }
  if (!any_environment) {
    mistakes.add(
        recipe.study.where("kind"),
        "a memory-kernel study measures environments, but this recipe has no integrator that is closed with one");
  }
  if (mistakes.empty()) check_memory_of_kernels(recipe, experiment, mistakes);
  return std::make_unique<MemoryKernelStudy>(experiment);
}

}  // namespace

void check_memory_of_kernels(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  double axes = 1.0, environments = 0.0;
  for (const Case& this_case : experiment.cases()) {
    if (!this_case.closed) continue;
    const Problem problem = experiment.make_problem(this_case);
    for (const auto& environment : problem.environments())
      axes = std::max(axes, static_cast<double>(environment->attachment().axes()));
    environments = std::max(environments, static_cast<double>(problem.environments().size()));
  }
  // Steps, times and kernels; forces of one environment, and those of all that checkpoints contain.
  check_memory_of_records(7.0 + axes * (4.0 + 2.0 * environments), false, recipe, experiment, mistakes);
}

std::optional<CaseFailure> measure_memory_kernel(const Experiment& experiment, ResultFile& file, Progress& progress,
                                                 ResumableTasks& tasks) {
  file.remove("memory-kernel");  // of a resumed run, which writes it again
  for (const Case& this_case : experiment.cases()) {
    if (!this_case.closed || std::holds_alternative<ExactFlow>(this_case.scheme)) continue;
    progress.begin(this_case.name + " clamped", static_cast<std::int64_t>(this_case.environments.size()),
                   {.name = "environment"});
    for (std::size_t i = 0; i < this_case.environments.size(); ++i) {
      if (experiment.is_white(this_case.environments[i])) continue;
      Case single = this_case;
      single.environments = {this_case.environments[i]};
      if (std::optional<Failure> failure = measure(experiment, single, file, tasks))
        return CaseFailure{this_case.name, *failure};
      if (tasks.was_restored()) progress.skip(static_cast<std::int64_t>(i + 1));
      progress.update(static_cast<std::int64_t>(i + 1));
    }
    progress.end();
    file.flush();
  }
  return std::nullopt;
}

StudyKind memory_kernel_kind() {
  return {
      {.name = "memory-kernel",
       .summary = "memory kernel and random force of each environment, compared with their formulas; or the kernel of "
                  "measured velocities and forces",
       .equation =
           "particles clamped: force = F(t);  clamped one unit away: force = F(t) - gamma(t)\n"
           "of data: m (C_vv(0) - C_vv(t)) + integral_0^t C_Fv ds = integral_0^t G(t-s) C_vv(s) ds,  G' = gamma",
       .source = "farshi2018, section 4.3, eq. (36); kowalik2019 and lawson1974 for data",
       .keywords = {"mori-zwanzig", "friction kernel", "volterra equation", "memory kernel extraction"},
       .parameters = kernel_from_data_parameters(),
       .notes =
           "Group memory-kernel/<integrator>/<environment>: kernel, kernel_integral (tends to D), random_force and, "
           "where a formula is known, kernel_formula, kernel_error, kernel_limit (infinitely many sites), "
           "random_force_formula, random_force_error. No formula is known for lines of unequal sites. For "
           "semi-infinite lines it is the discrete kernel, by Legendre polynomials, under `gamma` with 0 and 1, "
           "`stoermer-verlet` and `lobatto` with two stages; all others are in continuous time. A `damper`, whose "
           "kernel is 2 D delta(t), is left out. Runs closed integrators only. With `data_file` the recipe has no "
           "system, environments, time and integrators, and the group memory-kernel/data contains, over lags, "
           "velocity_correlation, force_correlation, kernel, kernel_integral, with _error of both by the jackknife "
           "over blocks, kernel_integral_inverted (without the fit, lag by lag, neighbours averaged); stiffness and "
           "rate (term), damping, temperature, with _error, mismatch; and the attribute `environment`, a `memory` with "
           "this kernel for recipes, which the log shows as well. The kernel is a sum of decaying exponentials with "
           "positive stiffnesses, which is passive; oscillating kernels are not represented: `mismatch` is then far "
           "above the errors. The motion must be in equilibrium, and the force must be the one of the potential, "
           "without friction and noise. Errors of the interval of the data are of its square."},
      make_memory_kernel};
}

}  // namespace bathline
