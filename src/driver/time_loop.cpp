// The time loop: every case of an experiment from its start to the end, recorded on the way.
#include "driver/time_loop.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <optional>
#include <stdexcept>

#include "driver/ledger_watch.hpp"
#include "driver/trajectory_recorder.hpp"
#include "study/catalogue.hpp"

namespace bathline {

namespace {

/// The first multiple of `interval` after `step`, and not beyond `end`.
std::int64_t next_multiple(std::int64_t step, std::int64_t interval, std::int64_t end) {
  return std::min(end, (step / interval + 1) * interval);
}

/// Puts a problem, whose stepper has been made, into the state of a checkpoint. @note Collective.
void restore_state(const CheckpointReader& from, Problem& problem, Stepper& stepper) {
  const auto vector = [&](const char* path) {
    const std::vector<double> values = from.numbers(path);
    if (static_cast<Eigen::Index>(values.size()) != problem.q.size()) throw std::out_of_range(path);
    return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(values.data(), problem.q.size()));
  };
  problem.q = vector("particles/q");
  problem.p = vector("particles/p");
  problem.dissipated = from.numbers("particles/dissipated").at(0);
  problem.z = from.numbers("particles/z").at(0);
  for (std::size_t e = 0; e < problem.environments().size(); ++e) {
    Environment& environment = *problem.environments()[e];
    for (int axis = 0; axis < problem.system().axes; ++axis) {
      const auto count = static_cast<std::int64_t>(environment.displacement(axis).size());
      const auto piece = [&](const char* what) {
        return from.piece(fmt::format("environment-{}/{}_axis{}", e, what, axis), environment.first_site(), count);
      };
      const std::vector<double> w = piece("w");
      environment.restore(axis, w, piece("p"));
    }
    environment.carry_on(from.numbers(fmt::format("environment-{}/carried", e)));
  }
  const std::vector<double> memory = from.numbers("stepper");
  if (memory.size() > 1) throw std::out_of_range("stepper");
  stepper.remember(memory);
}

/// The converse. @note Collective.
void save_state(CheckpointWriter& checkpoint, const Problem& problem, const Stepper& stepper) {
  const auto size = static_cast<std::size_t>(problem.q.size());
  checkpoint.numbers("particles/q", {problem.q.data(), size});
  checkpoint.numbers("particles/p", {problem.p.data(), size});
  checkpoint.numbers("particles/dissipated", {&problem.dissipated, 1});
  checkpoint.numbers("particles/z", {&problem.z, 1});
  for (std::size_t e = 0; e < problem.environments().size(); ++e) {
    const Environment& environment = *problem.environments()[e];
    for (int axis = 0; axis < problem.system().axes; ++axis) {
      const auto write = [&](const char* what, std::span<const double> values) {
        checkpoint.file().pieces(fmt::format("environment-{}/{}_axis{}", e, what, axis), values,
                                 environment.first_site(), environment.sites());
      };
      write("w", environment.displacement(axis));
      write("p", environment.momentum(axis));
    }
    checkpoint.numbers(fmt::format("environment-{}/carried", e), environment.carried());
  }
  checkpoint.numbers("stepper", stepper.memory());
}

/// How many steps go by between two looks at clock and signals. The exact flow rounds differently when its steps are
/// taken in other portions, so its portions do not depend on the clock; others are multiples of what they have to be.
class Portions {
 public:
  Portions(const Case& one, const Stepper& stepper, std::int64_t sites, const Communicator& communicator)
      : communicator_(communicator),
        unit_(stepper.portion()),
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

/// `from`: where it goes on, if it does not begin.
std::optional<Failure> run_case(const Run& run, const CheckpointReader* from) {
  const Experiment& experiment = run.experiment;
  const Case& one = experiment.cases()[run.index];
  const Section& output = experiment.recipe().output;
  const std::int64_t every = output.integer("every");
  const std::int64_t snapshots = output.has("snapshots") ? output.integer("snapshots") : 0;
  const std::int64_t saves = run.checkpoints.plan().every;
  const bool particles_only = output.boolean("particles_only");
  Problem problem = experiment.make_problem(one);
  problem.prepare(static_cast<std::uint64_t>(output.integer("seed")));
  // The exact motion is the same at whatever steps it is recorded: its second position is that after a step of [time].
  if (problem.second_q && std::holds_alternative<ExactFlow>(one.scheme)) {
    const double step = experiment.recipe().time.number("step");
    if (const std::optional<Failure> failure = make_stepper(one.scheme, problem, step)->advance(0)) return failure;
  }
  const std::unique_ptr<Stepper> stepper = make_stepper(one.scheme, problem, one.step);
  std::optional<TrajectoryRecorder> opened;
  fit_to_recipe(from, [&] { opened.emplace(run.file, one, problem, output, from); });
  TrajectoryRecorder& recorder = *opened;
  LedgerWatch watch(one, problem);

  ProgressUnit unit;
  for (const auto& environment : problem.environments()) {
    const bool is_alike = unit.sites == 0 || unit.site_name == environment->site_name();
    unit.site_name = is_alike ? environment->site_name() : "site";
    unit.sites += environment->sites();
  }
  run.progress.begin(one.label, one.steps, unit);
  Portions portions(one, *stepper, unit.sites, problem.communicator());

  std::int64_t step = 0;
  std::int64_t saved = 0;  // no checkpoint is written twice
  if (from != nullptr) {
    fit_to_recipe(from, [&] {
      restore_state(*from, problem, *stepper);
      if (!from->names("ledger").empty()) watch.remember(from->numbers("ledger/seen"));
      step = saved = from->count("step");
      if (step > one.steps) throw std::out_of_range("step");
    });
  }
  const std::int64_t first_step = step;
  run.progress.known(first_step);
  bool is_recorded = from != nullptr;
  double seconds = 0.0;
  while (true) {
    const bool at_end = step == one.steps;
    const bool to_record = !is_recorded && (step % every == 0 || at_end);
    const bool to_snapshot = !is_recorded && snapshots > 0 && step % snapshots == 0;
    is_recorded = false;
    if (to_record || to_snapshot) {
      problem.share_particles();
      const Moment moment{one, step, static_cast<double>(step) * one.step, problem};
      if (to_record) {
        const EnergyLedger ledger = particles_only ? problem.energies_of_particles() : problem.energies();
        const double energy = particles_only ? ledger.particles : ledger.total();
        const double size = problem.q.norm() + problem.p.norm() + problem.z + energy;
        if (!std::isfinite(size)) {
          recorder.flush();
          return Failure{step, size, "the state is no longer finite"};
        }
        recorder.record(moment, ledger);
        watch.record(moment, ledger);
        for (Observer* observer : run.observers) observer->record(moment, ledger);
      }
      if (to_snapshot) {
        recorder.snapshot(moment);
        for (Observer* observer : run.observers) observer->snapshot(moment);
      }
    }
    if (at_end) break;
    Checkpoints::Wish wish = run.checkpoints.wish(seconds);
    if (wish == Checkpoints::Wish::go_on && saves > 0 && step > saved && step % saves == 0) {
      wish = Checkpoints::Wish::save;
    }
    if (wish != Checkpoints::Wish::go_on) {
      const bool stops = wish == Checkpoints::Wish::stop;
      recorder.flush();
      run.file.flush();
      const auto save = [&](CheckpointWriter& checkpoint) {
        const double numbers[] = {static_cast<double>(run.index), static_cast<double>(step)};
        checkpoint.numbers("case", {&numbers[0], 1});
        checkpoint.numbers("step", {&numbers[1], 1});
        save_state(checkpoint, problem, *stepper);
        recorder.save(checkpoint);
        checkpoint.numbers("ledger/seen", watch.memory());
        for (std::size_t i = 0; i < run.observers.size(); ++i) {
          run.observers[i]->save(checkpoint, fmt::format("observer-{}", i));
        }
      };
      const std::string path = run.checkpoints.save(run.steps_before + step, stops, save);
      if (stops) throw Stopped{run.checkpoints.why(), one.label, step, path};
      saved = step;
    }
    std::int64_t next = std::min(next_multiple(step, every, one.steps), step + portions.steps());
    if (snapshots > 0) next = std::min(next, next_multiple(step, snapshots, one.steps));
    if (saves > 0) next = std::min(next, next_multiple(step, saves, one.steps));
    if (particles_only) {
      for (const auto& environment : problem.environments()) environment->foresee_end(one.steps - step);
    }
    const auto begin = std::chrono::steady_clock::now();
    if (std::optional<Failure> failure = stepper->advance(next - step)) {
      recorder.flush();
      failure->step += first_step;  // the stepper counts its own
      return failure;
    }
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    portions.took(next - step, seconds);
    step = next;
    run.progress.update(step);
  }
  run.progress.end();
  if (const std::optional<std::string> finding = watch.finding()) spdlog::warn("{}", *finding);
  recorder.flush();
  return std::nullopt;
}

class TrajectoryStudy final : public Study {
 public:
  explicit TrajectoryStudy(const Experiment& experiment) : experiment_(experiment) {}
  std::optional<CaseFailure> run(ResultFile& file, Progress& progress, Checkpoints& checkpoints) override {
    return run_trajectories(experiment_, file, progress, checkpoints, {});
  }

 private:
  const Experiment& experiment_;
};

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
      for (std::size_t i = 0; i < observers.size(); ++i) observers[i]->restore(*from, fmt::format("observer-{}", i));
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
  StopSignals::stop_runs(false);
  return std::nullopt;
}

StudyKind trajectory_kind() {
  return {{.name = "trajectory",
           .summary = "runs every integrator and records path, energies and snapshots",
           .equation = "one group per label: time, q, p, the energy ledger, observables of the system",
           .source = "method: limebeer2020, Theorem III.1 for the ledger",
           .notes = "The other studies record trajectories in the same way, except for convergence."},
          [](const Experiment&, Mistakes&) {},
          [](const Experiment& experiment) -> std::unique_ptr<Study> {
            return std::make_unique<TrajectoryStudy>(experiment);
          },
          true,
          true};
}

}  // namespace bathline
