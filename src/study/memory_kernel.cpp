// What an environment does to particles that are held: its memory kernel and its random force, measured beside their
// formulas.
//
// Held at their start, the particles feel the random force F(t). Held elsewhere, one unit away, they feel F(t) -
// gamma(t): the kernel is the reply to a step of the head (farshi2018, eq. (36)).
#include <cmath>
#include <limits>

#include "driver/certificates.hpp"
#include "study/catalogue.hpp"
#include "study/memory_kernel.hpp"

namespace bathline {

namespace {

/// Force on a held head at every record, by time, then axis.
using ForceSeries = std::vector<double>;

/// Fills `forces`, on every rank. @note Collective.
std::optional<Failure> hold(const Case& one, std::int64_t every, Problem& problem, ForceSeries& forces) {
  const std::unique_ptr<Stepper> stepper = make_stepper(one.scheme, problem, one.step);
  const Environment& environment = *problem.environments().front();
  const auto axes = static_cast<std::size_t>(problem.system().axes);
  std::vector<double> head(axes), force(axes);
  for (std::int64_t step = 0;; step += every) {
    if (problem.communicator().is_root()) {
      problem.head(environment, problem.q, head);
      environment.force(head, force);
      forces.insert(forces.end(), force.begin(), force.end());
    }
    if (step + every > one.steps) break;
    if (std::optional<Failure> failure = stepper->advance(every)) return failure;
  }
  forces.resize(axes * static_cast<std::size_t>(one.steps / every + 1));
  problem.communicator().broadcast(std::span<double>(forces));
  return std::nullopt;
}

/// `one` has a single environment.
std::optional<Failure> measure(const Experiment& experiment, const Case& one, ResultFile& file,
                               ResumableTasks& pieces) {
  ForceSeries at_start, displaced;
  Problem problem = experiment.make_clamped_problem(one);
  problem.prepare(experiment.seed());
  Environment& environment = *problem.environments().front();
  prepare_certificate(environment, one);
  const auto axes = static_cast<std::size_t>(problem.system().axes);
  const std::int64_t every = experiment.output().every;
  std::vector<double> times;
  for (std::int64_t step = 0; step <= one.steps; step += every) times.push_back(static_cast<double>(step) * one.step);
  const AnalyticKernel formulas = environment.analytic_kernel(times).value_or(AnalyticKernel());
  const std::vector<double>& formula = formulas.kernel;
  const std::vector<double>& limit = formulas.limit;
  const std::vector<double>& force_formula = formulas.random_force;
  const std::size_t size = axes * times.size();
  const auto hold_as_piece = [&](Problem& held, ForceSeries& forces) {
    return pieces.next(one.label, one.steps, size, forces,
                       [&](ForceSeries& found) { return hold(one, every, held, found); });
  };
  if (std::optional<Failure> failure = hold_as_piece(problem, at_start)) return failure;
  Problem moved = experiment.make_clamped_problem(one);
  moved.prepare(experiment.seed());
  const Attachment::Weight& weight = moved.environments().front()->attachment().weights().front();
  moved.q[static_cast<Eigen::Index>(weight.particle) * moved.system().axes] += 1.0 / weight.weight;
  if (std::optional<Failure> failure = hold_as_piece(moved, displaced)) return failure;

  std::vector<double> kernel, integral;
  double kernel_error = 0.0, force_error = 0.0;
  for (std::size_t i = 0; i < at_start.size() / axes; ++i) {
    kernel.push_back(at_start[i * axes] - displaced[i * axes]);
    integral.push_back(i == 0 ? 0.0 : integral[i - 1] + 0.5 * (times[i] - times[i - 1]) * (kernel[i - 1] + kernel[i]));
    if (!formula.empty()) kernel_error = std::max(kernel_error, std::abs(kernel[i] - formula[i]));
    for (std::size_t axis = 0; axis < axes && !force_formula.empty(); ++axis) {
      force_error = std::max(force_error, std::abs(at_start[i * axes + axis] - force_formula[i * axes + axis]));
    }
  }
  const std::string group = "memory-kernel/" + one.label + "/" + environment.name();
  Dimension axis{"axis", {}, "1", "axis, counted from 0"};
  for (std::size_t i = 0; i < axes; ++i) axis.values.push_back(static_cast<double>(i));
  const Dimension over_time[] = {{"time", times, "s", "time"}};
  const Dimension over_both[] = {over_time[0], axis};
  file.array(group, {"kernel", "N/m", "measured memory kernel", {"time"}}, over_time, kernel);
  if (!formula.empty()) {
    file.array(group, {"kernel_formula", "N/m", "memory kernel by its formula", {"time"}}, over_time, formula);
  }
  if (!limit.empty()) {
    file.array(group, {"kernel_limit", "N/m", "memory kernel of infinitely many sites", {"time"}}, over_time, limit);
  }
  file.array(group, {"kernel_integral", "kg/s", "integral of the measured kernel from 0", {"time"}}, over_time,
             integral);
  file.array(group, {"random_force", "N", "measured force on the held particle", {"time", "axis"}}, over_both,
             at_start);
  if (!formula.empty()) {
    file.number(group, "kernel_error", "N/m", "largest distance of the measured kernel from its formula", kernel_error);
  }
  if (!force_formula.empty()) {
    file.array(group, {"random_force_formula", "N", "random force by its formula", {"time", "axis"}}, over_both,
               force_formula);
    file.number(group, "random_force_error", "N", "largest distance of the measured random force from its formula",
                force_error);
  }
  return std::nullopt;
}

class MemoryKernelStudy final : public Study {
 public:
  explicit MemoryKernelStudy(const Experiment& experiment) : experiment_(experiment) {}

  std::optional<CaseFailure> run(ResultFile& file, Progress& progress, Checkpoints& checkpoints) override {
    if (checkpoints.from() != nullptr) file.remove_all_but({});
    ResumableTasks pieces(checkpoints, file, {});
    return measure_memory_kernel(experiment_, file, progress, pieces);
  }

 private:
  const Experiment& experiment_;
};

std::unique_ptr<Study> make_memory_kernel(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  bool any = false;
  for (const Case& one : experiment.cases()) {
    any = any || (one.closed && !one.environments.empty());
    if (one.closed && std::holds_alternative<ExactFlow>(one.scheme)) {
      mistakes.add(one.options.where("method"),
                   "the memory study holds the particles, which the exact flow cannot; measure with `gamma`, "
                   "`stoermer-verlet` or `rk4`");
    }
  }
  if (!any) {
    mistakes.add(recipe.study.where("kind"),
                 "the memory study measures environments; this recipe has no integrator that is closed with one");
  }
  return std::make_unique<MemoryKernelStudy>(experiment);
}

}  // namespace

std::optional<CaseFailure> measure_memory_kernel(const Experiment& experiment, ResultFile& file, Progress& progress,
                                                 ResumableTasks& pieces) {
  for (const Case& one : experiment.cases()) {
    if (!one.closed || std::holds_alternative<ExactFlow>(one.scheme)) continue;
    progress.begin(one.label + " held", static_cast<std::int64_t>(one.environments.size()), {.name = "environment"});
    for (std::size_t i = 0; i < one.environments.size(); ++i) {
      Case single = one;
      single.environments = {one.environments[i]};
      if (std::optional<Failure> failure = measure(experiment, single, file, pieces))
        return CaseFailure{one.label, *failure};
      if (pieces.was_restored()) progress.skip(static_cast<std::int64_t>(i + 1));
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
       .summary = "memory kernel and random force of each environment, measured beside their formulas",
       .equation = "particles held: force = F(t);  held one unit away: force = F(t) - gamma(t)",
       .source = "farshi2018, section 4.3, eq. (36)",
       .keywords = {"mori-zwanzig", "friction kernel"},
       .notes =
           "Group memory-kernel/<integrator>/<environment>: kernel, kernel_integral (tends to D), random_force and, "
           "where a "
           "formula is known, kernel_formula, kernel_error, kernel_limit (infinitely many sites), "
           "random_force_formula, random_force_error. No formula is known of lines of unequal sites. Of lines without "
           "end it is that of the steps, by Legendre polynomials, under `gamma` with 0 and 1, `stoermer-verlet` "
           "and `lobatto` with two stages; all others are of continuous time. Runs closed integrators only."},
      make_memory_kernel};
}

}  // namespace bathline
