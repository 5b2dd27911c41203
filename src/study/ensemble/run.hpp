// An ensemble at work: realisations in batches, spread over the ranks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "driver/experiment.hpp"
#include "driver/study.hpp"
#include "study/ensemble/measurements.hpp"
#include "study/theory/averages.hpp"

namespace bathline {

/// How the mean of a quantity grows with the step, over some cases; both by their numbers.
struct EnsembleSlope {
  std::string name;
  std::size_t quantity;
  std::vector<std::size_t> cases;
};

struct EnsembleOptions {
  std::int64_t realisations = 0;
  double from = 0.0;              ///< begin of the averages over time, s
  double max_lag = 0.0;           ///< of autocorrelations, s
  int ranks_per_realisation = 1;  ///< ranks that share one realisation
  bool series = true;             ///< whether means at every record are wanted
  std::int64_t paths = 0;         ///< how many realisations are recorded whole
  std::int64_t blocks = 1;        ///< parts of the time of a realisation that are samples of their own
  Measurements measurements = {};
  std::vector<EnsembleSlope> slopes = {};
};

/// Where the numbers of a realisation of a case lie.
struct EnsembleColumns : Columns {
  std::size_t first = 0;     ///< record of the averages over time
  std::size_t blocks = 1;    ///< of the records from there on
  std::size_t skipped = 0;   ///< numbers before those that are averaged over realisations
  std::size_t measured = 0;  ///< of Measurements
  std::size_t measurements() const { return Columns::width(); }
  std::size_t width() const { return measurements() + measured; }
  std::size_t averaged() const { return width() - skipped; }
  /// Where a block begins.
  std::size_t block(std::size_t index) const { return first + (records - first) * index / blocks; }
};
EnsembleColumns ensemble_columns(const Experiment& experiment, const EnsembleOptions& options, const Case& one);

/// What is known of all realisations so far, on rank 0.
struct EnsembleTotals {
  std::vector<double> sums;             ///< as in Sums, of the averaged numbers
  std::vector<double> per_realisation;  ///< by realisation, those of Measurements
  std::vector<double> paths;            ///< by realisation, positions by record and then velocities
};

/// Bytes on a rank for the largest case, and of what all cases put into the result. Ranks beside the first need no
/// more.
struct EnsembleBytes {
  double memory, result;
};
EnsembleBytes ensemble_bytes(const Experiment& experiment, const EnsembleOptions& options);

/// `recipe` is that of the experiment; the study keeps it.
std::unique_ptr<Study> make_ensemble(const Recipe& recipe, const Experiment& experiment, EnsembleOptions options);

}  // namespace bathline
