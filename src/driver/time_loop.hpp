// The time loop: every case of an experiment from its start to the end, recorded on the way.
#pragma once  // Public: programs of others may include this header.

#include <functional>
#include <span>

#include "driver/archive.hpp"
#include "driver/experiment.hpp"
#include "driver/study.hpp"

namespace bathline {

/// The state at a moment worth looking at.
struct StateView {
  const Case& one;
  std::int64_t step;
  double time;
  Problem& problem;  ///< particles up to date on every rank
};

/// Looks on while a trajectory runs. All members are collective.
class Observer {
 public:
  virtual ~Observer() = default;
  /// At the start, every `[output] every` steps and at the end.
  virtual void record(const StateView&, const EnergyLedger&) {}
  /// Every `[output] snapshots` steps, if asked for.
  virtual void snapshot(const StateView&) {}
  /// Declares all that was seen so far; it is put back before anything else is seen.
  virtual void serialise(Archive& archive) = 0;
};

/// The labels of the first `count` cases, which are the groups of their records.
std::vector<std::string> first_labels(const Experiment& experiment, std::size_t count);

/// Runs all cases one after the other, writing each to its group; `observers` look on at every case.
/// Stops at the first numerical failure. Goes on where `checkpoints` begins, and throws Stopped where it ends.
/// @note Collective.
std::optional<CaseFailure> run_trajectories(const Experiment& experiment, ResultFile& file, Progress& progress,
                                            Checkpoints& checkpoints, std::span<Observer* const> observers);

}  // namespace bathline
