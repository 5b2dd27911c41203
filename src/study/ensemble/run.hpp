// Runs an ensemble: realisations in batches, distributed over the ranks.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/experiment.hpp"
#include "driver/study.hpp"
#include "study/ensemble/measurements.hpp"
#include "study/theory/averages.hpp"

namespace bathline {

/// The order in the step of the mean of a quantity over several cases; both are given by their indices.
struct EnsembleSlope {
  std::string name;
  std::size_t quantity;
  std::vector<std::size_t> cases;
};

struct EnsembleOptions {
  std::int64_t realisations = 0;
  double burn_in = 0.0;                ///< time at which averages over time start, s
  std::optional<double> max_lag = {};  ///< longest lag of autocorrelations, s; nothing if there are none
  int ranks_per_realisation = 1;       ///< ranks that share one realisation
  bool series = true;                  ///< whether means at every record are written
  std::int64_t saved_paths = 0;        ///< number of realisations whose paths are written
  std::int64_t blocks = 1;             ///< number of blocks of a realisation, each a sample of averages over time
  Measurements measurements = {};
  std::vector<EnsembleSlope> slopes = {};
};

/// Layout of the values of a realisation of a case.
struct EnsembleColumns : Columns {
  std::size_t first = 0;     ///< first record of the averages over time
  std::size_t blocks = 1;    ///< number of blocks of the records from `first` on
  bool series = true;        ///< whether values at every record are averaged over realisations
  std::size_t measured = 0;  ///< number of values of Measurements
  std::size_t averages = 0;  ///< number of quantities of Measurements that are averaged over time
  std::size_t profiles = 0;  ///< number of values of the profiles of Measurements in a record
  std::size_t measurements() const { return Columns::width(); }
  std::size_t width() const { return measurements() + measured; }
  /// Number of values that are kept of a realisation until its end.
  std::size_t kept() const { return width() + profiles * (records - first); }
  /// First record of a block.
  std::size_t block(std::size_t index) const { return first + (records - first) * index / blocks; }
  /// Smallest number of records at equal intervals in a block.
  std::size_t shortest_block() const;
  /// Number of averages over time of which halves are compared: the kinetic energies of each particle and of several
  /// together, and the quantities.
  std::size_t compared() const { return particles + (particles > 1) + averages; }
  double spacing = 0.0;       ///< interval of the records, s
  std::vector<double> times;  ///< of the records, s
};
EnsembleColumns ensemble_columns(const Experiment& experiment, const EnsembleOptions& options, const Case& this_case);

/// Means over realisations and their blocks.
struct EnsembleMoments {
  explicit EnsembleMoments(const EnsembleColumns& columns)
      : series(columns.series ? columns.correlation() : 0),
        averages(columns.width() - columns.correlation()),
        differences(columns.compared()) {}
  Moments series;       ///< of the values at every record; each realisation is a sample
  Moments averages;     ///< of the averages over time; each block is a sample
  Moments differences;  ///< of the second half less the first; each pair of blocks, or realisation, is a sample
  std::array<Moments*, 3> all() { return {&series, &averages, &differences}; }
};

/// Totals of all realisations so far, on rank 0.
struct EnsembleTotals {
  EnsembleMoments moments;
  std::vector<double> per_realisation;  ///< by realisation, the stored values of Measurements
  std::vector<double> paths;            ///< by realisation, positions by record followed by velocities
};

/// Bytes on rank 0 for the largest case, an upper bound for the other ranks, and bytes of the results of all cases.
struct EnsembleBytes {
  double memory, result;
};
EnsembleBytes ensemble_bytes(const Experiment& experiment, const EnsembleOptions& options);

/// `recipe` is that of the experiment; the study copies it.
std::unique_ptr<Study> make_ensemble(const Recipe& recipe, const Experiment& experiment, EnsembleOptions options);

}  // namespace bathline
