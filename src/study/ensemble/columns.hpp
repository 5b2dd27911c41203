// What an ensemble estimates: columns of values that are computed from the records of a realisation and averaged.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
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

/// The recorded variables of one realisation, each by record: positions and velocities by degree of freedom, kinetic
/// energies by particle and, for several particles, of all; the quantities and the entries of the profiles.
using Realisation = std::vector<std::vector<double>>;

/// The records in [begin, end).
struct RecordRange {
  std::size_t begin, end;
};

/// How the values of a column follow from records.
enum class ColumnKind {
  values,           ///< of all variables at every record
  mean,             ///< of each variable
  autocorrelation,  ///< mean products at every lag, also over the axes of a particle
  density           ///< fractions of the records in every bin
};

/// Values whose means over independent samples are written, with their standard errors.
struct EnsembleColumn {
  std::string name = {}, units = {}, long_name = {};  ///< in the result; a column without name is not written
  std::vector<Dimension> dimensions = {};
  ColumnKind kind = ColumnKind::mean;
  std::size_t variable = 0, variables = 1;              ///< first recorded variable, and their number
  std::vector<std::pair<std::size_t, Bins>> bins = {};  ///< of a density: the variables with their bins
  bool at_end = false;                                  ///< whether only the last record counts
  double scale = 1.0;                                   ///< of the values in the result
  /// The values in words; empty where a stationary motion may have different ones in the halves of the time.
  std::vector<std::string> compared = {};

  std::size_t size() const;
};

/// The columns of a case, and the records that they are made of.
struct EnsembleColumns {
  EnsembleColumns(const Experiment& experiment, const EnsembleOptions& options, const Case& this_case);

  Dimension time, lag, particle, axis;  ///< `time` is that of the records
  std::size_t first = 0;                ///< first record of the averages over time
  std::size_t equidistant = 0;  ///< number of records at equal intervals: all but one that ends a shorter interval
  std::size_t blocks = 1;       ///< number of blocks of the records from `first` on
  std::size_t dofs = 0, variables = 0;

  std::vector<EnsembleColumn> by_realisation;  ///< of all records; each realisation is a sample
  std::vector<EnsembleColumn> by_block;        ///< averages over time; each block of a realisation is a sample
  std::vector<EnsembleColumn> stored;          ///< of all averaged records; the values are kept, by realisation
  std::vector<EnsembleColumn> path;            ///< positions and velocities at all records

  std::size_t records() const { return time.length(); }
  /// Number of values that are kept of a realisation until its end.
  std::size_t kept() const { return variables * records(); }
  RecordRange block(std::size_t index) const;
  /// Smallest number of records at equal intervals in a block.
  std::size_t shortest_block() const;
  /// The values of columns for some records of a realisation; only of those that are compared if asked for.
  std::vector<double> sample(const std::vector<EnsembleColumn>& columns, const Realisation& run,
                             const RecordRange& range, bool only_compared = false) const;

 private:
  void evaluate(const EnsembleColumn& column, const Realisation& run, RecordRange range,
                std::span<double> values) const;

  std::shared_ptr<Autocorrelation> autocorrelation_ = std::make_shared<Autocorrelation>();
};

/// Number of values.
std::size_t width_of(const std::vector<EnsembleColumn>& columns);
/// Units of squares and of probability densities.
std::string squared(const std::string& units);
std::string per(const std::string& units);

/// Means over realisations and their blocks.
struct EnsembleMoments {
  explicit EnsembleMoments(const EnsembleColumns& columns);
  /// Adds the samples of a realisation.
  void add(const EnsembleColumns& columns, const Realisation& run);

  Moments by_realisation, by_block;  ///< of the columns with these names
  Moments differences;  ///< of the second half less the first of compared columns; pairs of blocks are samples
  std::array<Moments*, 3> all() { return {&by_realisation, &by_block, &differences}; }
};

/// Totals of all realisations so far, on rank 0.
struct EnsembleTotals {
  EnsembleMoments moments;
  std::vector<double> per_realisation;  ///< by realisation, the stored columns and the times of passages
  std::vector<double> paths;            ///< by realisation, positions by record followed by velocities
};

}  // namespace bathline
