// The time loop: every case of an experiment from its start to the end, recorded on the way.
// Tested by tests/study/trajectory_test.cpp.
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
#include "driver/state_io.hpp"
#include "driver/poincare_section.hpp"
#include "driver/trajectory_recorder.hpp"

namespace bathline {

namespace {

/// The first multiple of `interval` after `step`, and not beyond `end`.
std::int64_t next_multiple(std::int64_t step, std::int64_t interval, std::int64_t end) {
  return std::min(end, (step / interval + 1) * interval);
}

/// How many steps go by between two looks at clock and signals. The exact flow rounds differently when its steps are
/// taken in other portions, so its portions do not depend on the clock; others are multiples of what they have to be.
class StepBatcher {
 public:
  StepBatcher(const Case& one, const Stepper& stepper, std::int64_t sites, const Communicator& communicator)
      : communicator_(communicator),
        unit_(stepper.block_granularity()),
        most_(std::max<std::int64_t>(1, 1000000000 / (sites + 1000))),
        fixed_(std::holds_alternative<ExactFlow>(one.scheme)),
        now_(fixed_ ? most_ : std::max<std::int64_t>(1, most_ / 256)) {}

  std::int64_t steps() const { return (now_ + unit_ - 1) / unit_ * unit_; }
  /// Takes note of how long a portion took here. @note Collective, where the portion was a full one.
  void took(std::int64_t steps, double seconds) {
    if (fixed_ || steps < this->steps()) return;
    const double slowest = communicator_.max(seconds);
    if (slowest < 0.1) now_ = std::min(most_, 2 * now_);
    if (slowest > 0.5) now_ = std::max<std::int64_t>(1, now_ / 2);
  }

 private:
  Communicator communicator_;
  std::int64_t unit_;
  std::int64_t most_;
  bool fixed_;
  std::int64_t now_;
};

/// One integrator's run within those of an experiment.
struct Run {
  const Experiment& experiment;
  std::size_t index;          ///< of the case
  std::int64_t steps_before;  ///< of the cases before it
  ResultFile& file;
  Progress& progress;
  Checkpoints& checkpoints;
  std::span<Observer* const> observers;
};

/// How the steps of a problem are counted.
ProgressUnit unit_of(const Problem& problem) {
  ProgressUnit unit;
  for (const auto& environment : problem.environments()) {
    const bool is_alike = unit.sites == 0 || unit.site_name == environment->properties().site_name;
    unit.site_name = is_alike ? environment->properties().site_name : "site";
    unit.sites += environment->properties().sites;
  }
  return unit;
}

/// All that look on at a run: the recorder, the watch over its ledger, and the observers.
class ObserverList {
 public:
  /// `from`: where it goes on, if it does not begin. @note Collective.
  ObserverList(const Run& run, const Problem& problem, const OutputPlan& output,
               const std::optional<HeatByEnvironment>& shares, const CheckpointReader* from)
      : one_(run.experiment.cases()[run.index]),
        output_(output),
        observers_(run.observers),
        recorder_(run.file, one_, problem, output, shares, from),
        watch_(one_, problem) {
    if (output.section) section_.emplace(*output.section, run.file, one_.label, problem, from);
  }

  /// Advances to the step `next`, with an eye on the section after every step. @note Collective.
  std::optional<Failure> advance(Problem& problem, Stepper& stepper, std::int64_t step, std::int64_t next,
                                 const AdvanceHints& ahead) {
    if (!section_) return stepper.advance(next - step, ahead);
    if (step == 0) section_->update(problem, 0.0);
    while (step < next) {
      ++step;
      AdvanceHints beyond{.wants_energy = ahead.wants_energy && step == next, .steps_left = ahead.steps_left};
      if (beyond.steps_left) *beyond.steps_left += next - step;
      if (std::optional<Failure> failure = stepper.advance(1, beyond)) return failure;
      section_->update(problem, static_cast<double>(step) * one_.step);
    }
    return std::nullopt;
  }

  /// What is due after so many steps; a failure where the state is no longer finite. @note Collective.
  std::optional<Failure> look(Problem& problem, std::int64_t step) {
    const bool to_record = step % output_.every == 0 || step == one_.steps;
    const bool to_snapshot = output_.snapshots > 0 && step % output_.snapshots == 0;
    if (!to_record && !to_snapshot) return std::nullopt;
    problem.broadcast_particles();
    const StateView moment{one_, step, static_cast<double>(step) * one_.step, problem};
    if (to_record) {
      const bool all = !output_.particles_only;
      const EnergyLedger ledger = all ? problem.energies() : problem.energies_of_particles();
      const double energy = all ? ledger.total() : ledger.particles;
      const double size = problem.q.norm() + problem.p.norm() + problem.z + energy;
      if (!std::isfinite(size)) return Failure{step, size, "the state is no longer finite"};
      if (recorder_.record(moment, ledger) && section_) section_->flush();
      watch_.record(moment, ledger);
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
  /// Says what the watch has found. @note Collective.
  void end() {
    if (const std::optional<std::string> finding = watch_.finding()) spdlog::warn("{}", *finding);
    flush();
  }

  void save(CheckpointWriter& checkpoint) {
    Archive of_recorder(checkpoint, "recorder"), of_watch(checkpoint, "ledger");
    recorder_.serialise(of_recorder);
    watch_.serialise(of_watch);
    if (section_) {
      Archive of_section(checkpoint, PoincareSection::group_of_checkpoint);
      section_->serialise(of_section);
    }
    for (std::size_t i = 0; i < observers_.size(); ++i) {
      Archive of_observer(checkpoint, observer_group(i));
      observers_[i]->serialise(of_observer);
    }
  }
  /// Puts the watch back; recorder and section are when they are made, and the observers are before the first run that
  /// goes on.
  void restore(const CheckpointReader& from) {
    Archive of_watch(from, "ledger");
    watch_.serialise(of_watch);
  }
  static std::string observer_group(std::size_t index) { return fmt::format("observer-{}", index); }

 private:
  const Case& one_;
  const OutputPlan& output_;
  std::span<Observer* const> observers_;
  TrajectoryRecorder recorder_;
  std::optional<PoincareSection> section_;
  LedgerMonitor watch_;
};

/// Saves, and throws Stopped, where it is wanted after so many steps, which took `seconds`; returns whether it has
/// saved.
/// @note Collective.
bool checkpoint_if_due(const Run& run, std::int64_t step, bool is_due, double seconds, ObserverList& onlookers,
                       const std::function<void(CheckpointWriter&)>& save) {
  Checkpoints::Decision decision = run.checkpoints.decide(seconds);
  if (decision == Checkpoints::Decision::proceed && is_due) decision = Checkpoints::Decision::save;
  if (decision == Checkpoints::Decision::proceed) return false;
  const bool stops = decision == Checkpoints::Decision::stop;
  onlookers.flush();
  run.file.flush();
  const std::string path = run.checkpoints.save(run.steps_before + step, stops, save);
  if (stops) throw Stopped{run.checkpoints.why(), run.experiment.cases()[run.index].label, step, path};
  return true;
}

/// `from`: where it goes on, if it does not begin.
std::optional<Failure> run_case(const Run& run, const CheckpointReader* from) {
  const Experiment& experiment = run.experiment;
  const Case& one = experiment.cases()[run.index];
  const OutputPlan& output = experiment.output();
  const std::int64_t saves = run.checkpoints.plan().every;
  Problem problem = experiment.make_problem(one);
  problem.prepare(experiment.seed());
  // The exact motion is the same at whatever steps it is recorded: its second position is that after a step of [time].
  if (problem.initial_q1 && std::holds_alternative<ExactFlow>(one.scheme)) {
    const std::unique_ptr<Stepper> first = make_stepper(one.scheme, problem, experiment.common_step());
    if (const std::optional<Failure> failure = first->advance(0)) return failure;
  }
  std::optional<HeatByEnvironment> shares;
  if (one.noise && !one.closed) shares = heat_by_environment(experiment, one);
  if (shares && !shares->of_environments.empty()) problem.heat = Eigen::VectorXd::Zero(problem.q.size());
  const std::unique_ptr<Stepper> stepper = make_stepper(one.scheme, problem, one.step);
  std::optional<ObserverList> onlookers;
  fit_to_recipe(from, [&] { onlookers.emplace(run, problem, output, shares, from); });

  const ProgressUnit unit = unit_of(problem);
  run.progress.begin(one.label, one.steps, unit);
  StepBatcher portions(one, *stepper, unit.sites, problem.communicator());

  std::int64_t step = 0;
  std::int64_t saved = 0;  // no checkpoint is written twice
  if (from != nullptr) {
    fit_to_recipe(from, [&] {
      restore_state(*from, problem, *stepper);
      onlookers->restore(*from);
      step = saved = from->count("step");
      if (step > one.steps) throw std::out_of_range("step");
    });
  }
  const std::int64_t first_step = step;
  run.progress.known(first_step);
  const auto save = [&](CheckpointWriter& checkpoint) {
    const double numbers[] = {static_cast<double>(run.index), static_cast<double>(step)};
    checkpoint.numbers("case", {&numbers[0], 1});
    checkpoint.numbers("step", {&numbers[1], 1});
    save_state(checkpoint, problem, *stepper);
    onlookers->save(checkpoint);
  };
  double seconds = 0.0;
  while (true) {
    const bool is_recorded = from != nullptr && step == first_step;
    std::optional<Failure> failure;
    if (!is_recorded) failure = onlookers->look(problem, step);
    if (failure) {
      onlookers->flush();
      return failure;
    }
    if (step == one.steps) break;
    const bool is_due = saves > 0 && step > saved && step % saves == 0;
    if (checkpoint_if_due(run, step, is_due, seconds, *onlookers, save)) saved = step;
    std::int64_t next = std::min(next_multiple(step, output.every, one.steps), step + portions.steps());
    if (output.snapshots > 0) next = std::min(next, next_multiple(step, output.snapshots, one.steps));
    if (saves > 0) next = std::min(next, next_multiple(step, saves, one.steps));
    AdvanceHints ahead{.wants_energy = !output.particles_only && (next % output.every == 0 || next == one.steps)};
    if (output.particles_only) ahead.steps_left = one.steps - next;
    const auto begin = std::chrono::steady_clock::now();
    if ((failure = onlookers->advance(problem, *stepper, step, next, ahead))) {
      onlookers->flush();
      return failure;
    }
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    portions.took(next - step, seconds);
    step = next;
    run.progress.update(step);
  }
  run.progress.end();
  onlookers->end();
  return std::nullopt;
}

}  // namespace

std::vector<std::string> first_labels(const Experiment& experiment, std::size_t count) {
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < count; ++i) labels.push_back(experiment.cases().at(i).label);
  return labels;
}

std::optional<CaseFailure> run_trajectories(const Experiment& experiment, ResultFile& file, Progress& progress,
                                            Checkpoints& checkpoints, std::span<Observer* const> observers) {
  const CheckpointReader* from = checkpoints.from();
  std::size_t index = 0;
  if (from != nullptr) {
    index = static_cast<std::size_t>(from->count("case"));
    fit_to_recipe(from, [&] {
      for (std::size_t i = 0; i < observers.size(); ++i) {
        Archive of_observer(*from, ObserverList::observer_group(i));
        observers[i]->serialise(of_observer);
      }
    });
    // What came after the checkpoint is computed anew.
    file.remove_all_but(first_labels(experiment, index + 1));
  }
  std::int64_t steps_before = 0;
  for (std::size_t i = 0; i < experiment.cases().size(); ++i) {
    const Case& one = experiment.cases()[i];
    if (i >= index) {
      const Run run{experiment, i, steps_before, file, progress, checkpoints, observers};
      if (std::optional<Failure> failure = run_case(run, i == index ? from : nullptr)) {
        progress.end();
        return CaseFailure{one.label, *failure};
      }
    }
    steps_before += one.steps;
  }
  StopSignals::begin(StopSignals::Part::unstoppable);
  return std::nullopt;
}

}  // namespace bathline
