// The time loop: every case of an experiment from its start to the end, recorded on the way.
#include "study/trajectory.hpp"

#include <algorithm>
#include <cmath>

#include "study/trajectory_recorder.hpp"

namespace bathline {

namespace {

/// The first multiple of `interval` after `step`, and not beyond `end`.
std::int64_t next_multiple(std::int64_t step, std::int64_t interval, std::int64_t end) {
  return std::min(end, (step / interval + 1) * interval);
}

std::optional<Failure> run_case(const Experiment& experiment, const Case& one, ResultFile& file, Progress& progress,
                                std::span<Observer* const> observers) {
  const Section& output = experiment.recipe().output;
  const std::int64_t every = output.integer("every");
  const std::int64_t snapshots = output.has("snapshots") ? output.integer("snapshots") : 0;
  Problem problem = experiment.make_problem(one);
  problem.prepare(static_cast<std::uint64_t>(output.integer("seed")));
  const std::unique_ptr<Stepper> stepper = make_stepper(one.scheme, problem, one.step);
  TrajectoryRecorder recorder(file, one, problem, snapshots > 0 ? output.integer("site_stride") : 0);

  std::int64_t sites = 0;
  for (const auto& environment : problem.environments()) sites += environment->sites();
  progress.begin(one.label, one.steps, sites);
  // A look at the clock at least every second or so, however rare the records are.
  const std::int64_t longest = std::max<std::int64_t>(1, 1000000000 / (sites + 1000));

  for (std::int64_t step = 0;;) {
    const bool at_end = step == one.steps;
    const bool to_record = step % every == 0 || at_end;
    const bool to_snapshot = snapshots > 0 && step % snapshots == 0;
    if (to_record || to_snapshot) {
      problem.share_particles();
      const Moment moment{one, step, static_cast<double>(step) * one.step, problem};
      if (to_record) {
        const EnergyLedger ledger = problem.energies();
        const double size = problem.q.norm() + problem.p.norm() + problem.z + ledger.total();
        if (!std::isfinite(size)) {
          recorder.flush();
          return Failure{step, size, "the state is no longer finite"};
        }
        recorder.record(moment, ledger);
        for (Observer* observer : observers) observer->record(moment, ledger);
      }
      if (to_snapshot) {
        recorder.snapshot(moment);
        for (Observer* observer : observers) observer->snapshot(moment);
      }
    }
    if (at_end) break;
    std::int64_t next = std::min(next_multiple(step, every, one.steps), step + longest);
    if (snapshots > 0) next = std::min(next, next_multiple(step, snapshots, one.steps));
    if (std::optional<Failure> failure = stepper->advance(next - step)) {
      recorder.flush();
      return failure;
    }
    step = next;
    progress.update(step);
  }
  progress.end();
  recorder.flush();
  return std::nullopt;
}

class TrajectoryStudy final : public Study {
 public:
  explicit TrajectoryStudy(const Experiment& experiment) : experiment_(experiment) {}
  std::optional<CaseFailure> run(ResultFile& file, Progress& progress) override {
    return run_trajectories(experiment_, file, progress, {});
  }

 private:
  const Experiment& experiment_;
};

}  // namespace

std::optional<CaseFailure> run_trajectories(const Experiment& experiment, ResultFile& file, Progress& progress,
                                            std::span<Observer* const> observers) {
  for (const Case& one : experiment.cases()) {
    if (std::optional<Failure> failure = run_case(experiment, one, file, progress, observers)) {
      progress.end();
      return CaseFailure{one.label, *failure};
    }
  }
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
          }};
}

}  // namespace bathline
