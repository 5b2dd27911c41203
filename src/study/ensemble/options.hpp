// The keys of an ensemble.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "study/ensemble/measurements.hpp"

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

}  // namespace bathline
