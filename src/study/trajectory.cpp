// Runs every integrator and records its trajectory.
#include "driver/time_loop.hpp"
#include "study/catalogue.hpp"

namespace bathline {

namespace {

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

StudyKind trajectory_kind() {
  return {.entry = {.name = "trajectory",
                    .summary = "runs every integrator and records paths, energies and snapshots",
                    .equation = "one group per integrator: time, q, p, the energy ledger, observables of the system",
                    .source = "method: limebeer2020, Theorem III.1 for the ledger",
                    .notes = "Most of the other studies record trajectories in the same way."},
          .make = [](const Recipe&, const Experiment& experiment, Mistakes&) -> std::unique_ptr<Study> {
            return std::make_unique<TrajectoryStudy>(experiment);
          },
          .allows_own_ends = true,
          .looks_at_particles = true,
          .takes_any_lagrangian = true,
          .takes_noise = true};
}

}  // namespace bathline
