// Writes one trajectory to its group of the result file.
#pragma once

#include <chrono>
#include <vector>

#include "driver/heat_by_environment.hpp"
#include "driver/time_loop.hpp"
#include "driver/work_quadrature.hpp"
#include "record/checkpoint_file.hpp"
#include "record/result_file.hpp"

namespace bathline {

/// The dimensions of what is recorded of positions and momenta.
std::vector<Dimension> phase_dimensions(const ParticleSystem& system);

/// Records path, momenta, energy ledger, forces of the environments and observables, and snapshots of the
/// environments. All members are collective.
class TrajectoryRecorder {
 public:
  /// `shares`: of an open run with noise, else nothing. `from`: goes on after the records that the checkpoint knows of;
  /// those behind them are cut off.
  TrajectoryRecorder(ResultFile& file, const Case& one, const Problem& problem, const OutputPlan& output,
                     const std::optional<HeatByEnvironment>& shares, const CheckpointReader* from);
  /// Returns whether it has flushed.
  bool record(const StateView& moment, const EnergyLedger& ledger);
  void snapshot(const StateView& moment);
  void flush();
  /// Declares its state. What belongs to the file must have been flushed.
  void serialise(Archive& archive);

 private:
  struct Snapshots {
    SnapshotWriter writer;
    std::size_t environment;
    int axis;
    std::int64_t first;         // first written site of this rank, in units of the stride
    std::int64_t local_offset;  // where that site lies in the rank's piece
    std::int64_t count;
  };
  /// Puts the state back, if there is one; how many records the file has then.
  std::optional<std::int64_t> restore(const CheckpointReader* from);
  /// Forces, powers and energies of the environments.
  static void add_environments(const Problem& problem, const EnergyLedger& ledger, std::vector<double>& row);
  /// What damping and noise have done since the last record, by environment where that is known.
  void add_power_of_noise(const StateView& moment, std::vector<double>& row);
  void add_observables(const StateView& moment, std::vector<double>& row);

  std::int64_t site_stride_;  // 0: no snapshots; else every so many sites
  bool work_rules_;
  // Time integrals of the observables by the trapezoidal rule over the records.
  std::vector<Eigen::VectorXd> integrals_, integrands_;
  double last_time_ = 0.0;
  std::optional<HeatByEnvironment> shares_;
  std::vector<double> heats_;  // at the last record, J
  WorkQuadrature work_;
  std::int64_t records_ = 0, snapshots_taken_ = 0;
  SeriesWriter series_;
  std::vector<Snapshots> snapshots_;
  bool is_root_;
  std::chrono::steady_clock::time_point flushed_;
  std::vector<double> row_, values_;
};

}  // namespace bathline
