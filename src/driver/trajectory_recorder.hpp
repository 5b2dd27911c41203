// Recording one trajectory in its group of the result file.
#pragma once

#include <chrono>
#include <vector>

#include "driver/heat_by_environment.hpp"
#include "driver/time_loop.hpp"
#include "driver/work_quadrature.hpp"
#include "record/checkpoint_file.hpp"
#include "record/result_file.hpp"

namespace bathline {

/// The dimensions of recorded positions and momenta.
std::vector<Dimension> phase_dimensions(const ParticleSystem& system);

/// The variables that a case records in its group, apart from snapshots and sections. `noisy`: the names of
/// `HeatByEnvironment` for an open run with noise.
SeriesLayout recorded_series(const Case& this_case, const Problem& problem, const OutputPlan& output,
                             const std::vector<std::string>& noisy);

/// Records positions, momenta, energy ledger, forces of the environments and observables, and snapshots of the
/// environments. All members are collective.
class TrajectoryRecorder {
 public:
  /// `heat`: for an open run with noise, else nothing.
  TrajectoryRecorder(ResultFile& file, const Case& this_case, const Problem& problem, const OutputPlan& output,
                     const std::optional<HeatByEnvironment>& heat);
  /// Returns whether it has flushed.
  bool record(const StateView& moment, const EnergyLedger& ledger);
  void snapshot(const StateView& moment);
  void flush();
  /// Declares the state; call `flush` before.
  void serialise(Archive& archive);

 private:
  struct Snapshots {
    SnapshotWriter writer;
    std::size_t environment;
    int axis;
    std::int64_t first;         // first written site of this rank, in units of the stride
    std::int64_t local_offset;  // index of that site among the sites of this rank
    std::int64_t count;
  };
  /// Forces, powers and energies of the environments.
  void add_environments(const StateView& moment, const EnergyLedger& ledger, std::vector<double>& row);
  /// Mean power since the last record of what has absorbed `heat` so far, number `index` of last_heat_; 0 at first.
  double mean_power(const StateView& moment, std::size_t index, double heat);
  /// Mean power of damping and noise since the last record, by environment if the heat can be divided.
  void add_heat_flow(const StateView& moment, std::vector<double>& row);
  void add_observables(const StateView& moment, std::vector<double>& row);

  std::int64_t site_stride_;  // distance of the sites in snapshots; 0: no snapshots
  bool work_rules_;
  // Time integrals of the observables by the trapezoidal rule over the records.
  std::vector<Eigen::VectorXd> integrals_, integrands_;
  double last_time_ = 0.0;
  std::optional<HeatByEnvironment> heat_;
  std::vector<double> last_heat_;  // J
  WorkQuadrature work_;
  std::int64_t record_count_ = 0;
  SeriesWriter series_;
  std::vector<Snapshots> snapshots_;
  bool is_root_;
  std::chrono::steady_clock::time_point flushed_;
  std::vector<double> row_, values_;
};

}  // namespace bathline
