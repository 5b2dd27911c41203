// An ensemble at work: realisations in batches, spread over the ranks.
#pragma once

#include <memory>
#include <vector>

#include "driver/experiment.hpp"
#include "driver/study.hpp"
#include "study/ensemble/measurements.hpp"
#include "study/theory/averages.hpp"

namespace bathline {

struct EnsembleOptions {
  std::int64_t realisations = 0;
  double from = 0.0;         ///< begin of the averages over time, s
  double longest_lag = 0.0;  ///< of autocorrelations, s
  int together = 1;          ///< ranks that share one realisation
  bool series = true;        ///< whether means at every record are wanted
  std::int64_t paths = 0;    ///< how many realisations are recorded whole
  Measurements measurements = {};
};

/// Where the numbers of a realisation of a case lie.
struct EnsembleColumns : Columns {
  std::size_t first = 0;     ///< record of the averages over time
  std::size_t skipped = 0;   ///< numbers before those that are averaged over realisations
  std::size_t measured = 0;  ///< of Measurements
  std::size_t measurements() const { return Columns::width(); }
  std::size_t width() const { return measurements() + measured; }
  std::size_t averaged() const { return width() - skipped; }
};
EnsembleColumns ensemble_columns(const Experiment& experiment, const EnsembleOptions& options, const Case& one);

/// What is known of all realisations so far, on rank 0.
struct EnsembleTotals {
  std::vector<double> sums;   ///< as in Sums, of the averaged numbers
  std::vector<double> kept;   ///< by realisation, those of Measurements
  std::vector<double> paths;  ///< by realisation, positions by record and then velocities
};

/// Bytes of the largest case on a rank. Ranks beside the first need no more.
double ensemble_bytes(const Experiment& experiment, const EnsembleOptions& options);

std::unique_ptr<Study> make_ensemble(const Experiment& experiment, EnsembleOptions options);

}  // namespace bathline
