// The time loop: runs and records every case of an experiment from its start to its end.
#pragma once  // Public: programs of others may include this header.

#include <span>

#include "driver/archive.hpp"
#include "driver/experiment.hpp"
#include "driver/study.hpp"

namespace bathline {

/// The state of a run at a record or a snapshot.
struct StateView {
  const Case& this_case;
  std::int64_t step;
  double time;
  Problem& problem;  ///< particles up to date on every rank
};

/// Receives the records and snapshots of running trajectories. All members are collective.
class Observer {
 public:
  virtual ~Observer() = default;
  /// At the start, every `[output] every` steps and at the end.
  virtual void record(const StateView&, const EnergyLedger&) {}
  /// Every `[output] snapshots` steps, if asked for.
  virtual void snapshot(const StateView&) {}
  /// Declares the state, which is restored before the first call in a resumed run.
  virtual void serialise(Archive& archive) = 0;
};

/// Runs all cases one after the other, writing each to its group and calling `observers`, up to the first numerical
/// failure. Resumes from the checkpoint of `checkpoints`, if any, and throws Stopped if it decides so. @note
/// Collective.
std::optional<CaseFailure> run_trajectories(const Experiment& experiment, ResultFile& file, Progress& progress,
                                            Checkpoints& checkpoints, std::span<Observer* const> observers);

}  // namespace bathline
