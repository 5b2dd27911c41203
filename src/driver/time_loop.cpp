// The time loop: runs and records every case of an experiment from its start to its end.
// Tested by tests/study/trajectory_test.cpp.
// Tested by tests/command_line/resume_test.py.
#include "driver/time_loop.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <optional>
#include <stdexcept>

#include "driver/heat_by_environment.hpp"
#include "driver/ledger_monitor.hpp"
#include "driver/poincare_section.hpp"
#include "driver/serialise_state.hpp"
#include "driver/trajectory_recorder.hpp"
#include "formula/outside_tables.hpp"

namespace bathline {

namespace {

/// The first multiple of `interval` after `step`, and not beyond `end`.
std::int64_t next_multiple(std::int64_t step, std::int64_t interval, std::int64_t end) {
  return std::min(end, (step / interval + 1) * interval);
}

/// The number of steps between two checks of the clock and of signals, adapted to take 0.1 to 0.5 s and rounded up to a
/// multiple of the stepper's block granularity. Steps that are taken as one have a fixed number, since their round-off
/// depends on it.
class StepBatcher {
 public:
  /// Steps of an exact flow may each take long.
  StepBatcher(const Case& this_case, const Stepper& stepper, std::int64_t sites, const Communicator& communicator)
      : communicator_(communicator),
        granularity_(stepper.block_granularity()),
        max_steps_(std::max<std::int64_t>(1, 1000000000 / (sites + 1000))),
        is_fixed_(granularity_ == 0),
        steps_(is_fixed_                                             ? max_steps_
               : std::holds_alternative<ExactFlow>(this_case.scheme) ? 1
                                                                     : std::max<std::int64_t>(1, max_steps_ / 256)) {}

  std::int64_t steps() const { return is_fixed_ ? steps_ : (steps_ + granularity_ - 1) / granularity_ * granularity_; }
  /// Adapts the number to the time that a batch took. @note Collective, unless the batch was cut short.
  void adapt(std::int64_t steps, double seconds) {
    if (is_fixed_ || steps < this->steps()) return;
    const double slowest = communicator_.max(seconds);
    if (slowest < 0.1) steps_ = std::min(max_steps_, 2 * steps_);
    if (slowest > 0.5) steps_ = std::max<std::int64_t>(1, steps_ / 2);
  }

 private:
  Communicator communicator_;
  std::int64_t granularity_;
  std::int64_t max_steps_;
  bool is_fixed_;
  std::int64_t steps_;
};

/// The run of one case of an experiment.
struct Run {
  const Experiment& experiment;
  std::size_t index;          ///< of the case
  std::int64_t steps_before;  ///< of the cases before it
  ResultFile& file;
  Progress& progress;
  Checkpoints& checkpoints;
  std::span<Observer* const> observers;
};

/// The progress unit of a problem: a step of all its sites.
ProgressUnit unit_of(const Problem& problem) {
  ProgressUnit unit;
  for (const Environment* environment : problem.stepped_environments()) {
    const bool is_same_name = unit.sites == 0 || unit.site_name == environment->properties().site_name;
    unit.site_name = is_same_name ? environment->properties().site_name : "site";
    unit.sites += environment->properties().sites;
  }
  return unit;
}

/// The receivers of the states of a run: recorder, ledger monitor, Poincare section and observers.
class ObserverList {
 public:
  /// @note Collective.
  ObserverList(const Run& run, const Problem& problem, const OutputPlan& output,
               const std::optional<HeatByEnvironment>& heat)
      : case_(run.experiment.cases()[run.index]),
        output_(output),
        observers_(run.observers),
        recorder_(run.file, case_, problem, output, heat),
        ledger_monitor_(case_, problem) {
    if (output.section) section_.emplace(*output.section, run.file, case_.name, problem);
  }

  /// Advances to the step `next`, passing every step to the Poincare section, if any. @note Collective.
  std::optional<Failure> advance(Problem& problem, Stepper& stepper, std::int64_t step, std::int64_t next,
                                 const AdvanceHints& hints) {
    if (!section_) return stepper.advance(next - step, hints);
    if (step == 0) section_->update(problem, 0.0);
    const std::function<void()> update_section = [&] { section_->update(problem, problem.clock.at(0.0)); };
    std::optional<Failure> failure;
    if (stepper.observes_steps()) {
      AdvanceHints observed_hints = hints;
      observed_hints.after_step = &update_section;
      failure = stepper.advance(next - step, observed_hints);
    } else {
      failure = advance_step_by_step(problem, stepper, step, next, hints);
    }
    if (!failure) section_->flush_if_full(problem.communicator());
    return failure;
  }

  /// Records and takes snapshots if due after `step` steps; a failure if the state is no longer finite. @note
  /// Collective.
  std::optional<Failure> record_if_due(Problem& problem, std::int64_t step) {
    const bool to_record = step % output_.every == 0 || step == case_.steps;
    const bool to_snapshot = output_.snapshots > 0 && step % output_.snapshots == 0;
    if (!to_record && !to_snapshot) return std::nullopt;
    problem.broadcast_particles();
    const StateView moment{case_, step, static_cast<double>(step) * case_.step, problem};
    if (to_record) {
      const bool has_environments = !output_.particles_only;
      const EnergyLedger ledger = has_environments ? problem.energies() : problem.energies_of_particles();
      const double energy = has_environments ? ledger.total() : ledger.particles;
      const double size = problem.q.norm() + problem.p.norm() + problem.z + energy;
      if (problem.communicator().any(!std::isfinite(size))) return Failure{step, size, "the state is no longer finite"};
      take_place_outside_tables();  // those that a search left and found back into
      if (recorder_.record(moment, ledger) && section_) section_->flush();
      ledger_monitor_.record(moment, ledger);
      for (Observer* observer : observers_) observer->record(moment, ledger);
    }
    if (to_snapshot) {
      recorder_.snapshot(moment);
      for (Observer* observer : observers_) observer->snapshot(moment);
    }
    return std::nullopt;
  }
  void flush() {
    recorder_.flush();
    if (section_) section_->flush();
  }
  /// Flushes and logs the warning of the ledger monitor. @note Collective.
  void end() {
    if (const std::optional<std::string> warning = ledger_monitor_.warning()) spdlog::warn("{}", *warning);
    flush();
  }

  /// Saves to a `CheckpointWriter`, or restores from a `CheckpointReader`.
  template <class Checkpoint>
  void serialise(Checkpoint& checkpoint) {
    const auto visit = [&](const std::string& group, auto& part) {
      Archive archive(checkpoint, group);
      part.serialise(archive);
    };
    visit("recorder", recorder_);
    visit("ledger", ledger_monitor_);
    if (section_) visit("section", *section_);
    for (std::size_t i = 0; i < observers_.size(); ++i) visit(fmt::format("observer-{}", i), *observers_[i]);
  }

 private:
  /// For steppers that do not observe their steps.
  std::optional<Failure> advance_step_by_step(Problem& problem, Stepper& stepper, std::int64_t step, std::int64_t next,
                                              const AdvanceHints& hints) {
    while (step < next) {
      ++step;
      AdvanceHints step_hints{.wants_energy = hints.wants_energy && step == next, .steps_left = hints.steps_left};
      if (step_hints.steps_left) *step_hints.steps_left += next - step;
      if (std::optional<Failure> failure = stepper.advance(1, step_hints)) return failure;
      section_->update(problem, static_cast<double>(step) * case_.step);
    }
    return std::nullopt;
  }

  const Case& case_;
  const OutputPlan& output_;
  std::span<Observer* const> observers_;
  TrajectoryRecorder recorder_;
  std::optional<PoincareSection> section_;
  LedgerMonitor ledger_monitor_;
};

/// `from`: the checkpoint of a resumed run, else null.
std::optional<Failure> run_case(const Run& run, const CheckpointReader* from) {
  const Experiment& experiment = run.experiment;
  const Case& this_case = experiment.cases()[run.index];
  const OutputPlan& output = experiment.output();
  const std::int64_t checkpoint_every = run.checkpoints.plan().every;
  Problem problem = experiment.make_problem(this_case);
  problem.prepare(experiment.seed());
  // The exact motion must not depend on the step of recording: q1 is the position after one step of [time].
  if (problem.initial_q1 && std::holds_alternative<ExactFlow>(this_case.scheme)) {
    const std::unique_ptr<Stepper> first = make_stepper(this_case.scheme, problem, experiment.common_step());
    if (const std::optional<Failure> failure = first->advance(0)) return failure;
  }
  std::optional<HeatByEnvironment> heat;
  if (this_case.noise && !this_case.closed) heat = heat_by_environment(experiment, this_case);
  if (heat && !heat->damped_coordinates.empty()) problem.heat = Eigen::VectorXd::Zero(problem.q.size());
  const std::unique_ptr<Stepper> stepper = make_stepper(this_case.scheme, problem, this_case.step);
  ObserverList observers(run, problem, output, heat);

  const ProgressUnit unit = unit_of(problem);
  run.progress.begin(this_case.name, this_case.steps, unit);
  StepBatcher batcher(this_case, *stepper, unit.sites, problem.communicator());

  std::int64_t step = 0;
  std::int64_t saved = 0;  // step of the last checkpoint
  if (from != nullptr) {
    restore_from(from, [&] {
      step = saved = from->count("step");
      serialise_state(Archive(*from, ""), step, problem, *stepper, problem.communicator());
      observers.serialise(*from);
      if (step > this_case.steps) throw std::out_of_range("step");
    });
  }
  const std::int64_t first_step = step;
  run.progress.skip(first_step);
  const auto save = [&](CheckpointWriter& checkpoint) {
    observers.flush();
    const double numbers[] = {static_cast<double>(run.index), static_cast<double>(step)};
    checkpoint.numbers("case", {&numbers[0], 1});
    checkpoint.numbers("step", {&numbers[1], 1});
    serialise_state(Archive(checkpoint, ""), step, problem, *stepper, problem.communicator());
    observers.serialise(checkpoint);
  };
  double seconds = 0.0;
  while (true) {
    const bool was_recorded = from != nullptr && step == first_step;
    std::optional<Failure> failure;
    if (!was_recorded) failure = observers.record_if_due(problem, step);
    if (failure) {
      observers.flush();
      return failure;
    }
    if (step == this_case.steps) break;
    const bool is_due = checkpoint_every > 0 && step > saved && step % checkpoint_every == 0;
    if (run.checkpoints.save_if_due({this_case.name, step, run.steps_before + step}, is_due, seconds, save))
      saved = step;
    std::int64_t next = std::min(next_multiple(step, output.every, this_case.steps), step + batcher.steps());
    if (output.snapshots > 0) next = std::min(next, next_multiple(step, output.snapshots, this_case.steps));
    if (checkpoint_every > 0) next = std::min(next, next_multiple(step, checkpoint_every, this_case.steps));
    AdvanceHints hints{.wants_energy = !output.particles_only && (next % output.every == 0 || next == this_case.steps)};
    if (output.particles_only) hints.steps_left = this_case.steps - next;
    const auto begin = std::chrono::steady_clock::now();
    if ((failure = observers.advance(problem, *stepper, step, next, hints))) {
      observers.flush();
      return failure;
    }
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    batcher.adapt(next - step, seconds);
    step = next;
    run.progress.update(step);
  }
  run.progress.end();
  observers.end();
  return std::nullopt;
}

}  // namespace

std::optional<CaseFailure> run_trajectories(const Experiment& experiment, ResultFile& file, Progress& progress,
                                            Checkpoints& checkpoints, std::span<Observer* const> observers) {
  const CheckpointReader* from = checkpoints.from();
  std::size_t index = 0;
  if (from != nullptr) {
    index = static_cast<std::size_t>(from->count("case"));
    restore_from(from, [&] {
      if (index >= experiment.cases().size()) throw std::out_of_range("case");
    });
  }
  std::int64_t steps_before = 0;
  for (std::size_t i = 0; i < experiment.cases().size(); ++i) {
    const Case& this_case = experiment.cases()[i];
    if (i >= index) {
      const Run run{experiment, i, steps_before, file, progress, checkpoints, observers};
      if (std::optional<Failure> failure = run_case(run, i == index ? from : nullptr)) {
        progress.end();
        return CaseFailure{this_case.name, *failure};
      }
    }
    steps_before += this_case.steps;
  }
  StopSignals::begin(StopSignals::Part::unstoppable);
  return std::nullopt;
}

}  // namespace bathline
