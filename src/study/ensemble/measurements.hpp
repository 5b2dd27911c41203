// Quantities that an ensemble measures in every realisation besides positions and velocities, given by formulas.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "driver/experiment.hpp"
#include "model/formula/phase_function.hpp"
#include "recipe/mistakes.hpp"
#include "recipe/section.hpp"
#include "recipe/catalogue_schema.hpp"
#include "study/theory/averages.hpp"

namespace bathline {

/// Equal bins of a histogram, in rising order.
struct Bins {
  double low = 0.0, high = 1.0;
  std::size_t count = 1;

  double width() const { return (high - low) / static_cast<double>(count); }
  /// The bin that contains `value`; nothing outside the histogram.
  std::optional<std::size_t> index_of(double value) const;
  std::vector<double> centres() const;
};

/// A formula that is averaged over time, or evaluated at the end.
struct MeasuredQuantity {
  std::string name;
  std::string units;
  ExtendedPhaseFunction value;
  std::optional<Bins> bins;
  bool at_end = false;
  std::function<double(double)> expected = {};  ///< expected density up to a factor; empty if not given

  /// The expected mean density in every bin; the probabilities of all bins add up to 1.
  std::vector<double> expected_density() const;
};

/// Joint histogram of two quantities, by their indices.
struct JointHistogram {
  std::string name;
  std::size_t first, second;
};

/// The first passage of a formula through a level.
struct MeasuredPassage {
  std::string name;
  ExtendedPhaseFunction value;
  double level = 0.0;
  int direction = 0;  ///< 1: upwards, -1: downwards, 0: both
};

/// All measurements. The values of a realisation that are averaged over realisations are, in this order: for each
/// quantity the mean over time, the mean products at every lag and the fractions of time in every bin; for each joint
/// histogram the fractions of time in every pair of bins; for each profile the means over time. A quantity at the end
/// has none. The values stored for every realisation are the mean over time or the value at the end of each quantity,
/// and the time of each passage.
struct Measurements {
  std::vector<std::string> ledger;  ///< names of the ledger entries (ledger.hpp) in formulas
  std::vector<MeasuredQuantity> quantities;
  std::vector<JointHistogram> joint_histograms;
  std::vector<MeasuredPassage> first_passages;
  std::vector<Observable> profiles;  ///< observables of the system with a dimension, such as energies of particles

  /// Whether any formula uses this entry of the ledger.
  bool uses(std::size_t number) const;
  bool uses_ledger() const;
  std::size_t mean(std::size_t quantity, std::size_t lags) const;
  std::size_t products(std::size_t quantity, std::size_t lags) const { return mean(quantity, lags) + 1; }
  std::size_t fractions(std::size_t quantity, std::size_t lags) const { return products(quantity, lags) + lags; }
  std::size_t joint_fractions(std::size_t histogram, std::size_t lags) const;
  std::size_t profile(std::size_t index, std::size_t lags) const;
  /// Number of averaged values.
  std::size_t width(std::size_t lags) const { return profile(profiles.size(), lags); }
  /// Number of quantities that are averaged over time.
  std::size_t averages() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(quantities, [](const MeasuredQuantity& quantity) { return !quantity.at_end; }));
  }
  /// Number of values stored for every realisation.
  std::size_t per_realisation() const { return quantities.size() + first_passages.size(); }
};

/// The keys of [study] that define measurements.
std::vector<Parameter> measurement_parameters();
/// Reads them; `ledger` are the names of the ledger entries. Invalid values are added to the mistakes.
Measurements read_measurements(const Section& study, const ParticleSystem& system, std::vector<std::string> ledger,
                               Mistakes& mistakes);

/// The measured values of one realisation, record by record.
class Observation {
 public:
  /// For `records` records, with averages over time from record `first` on. `measurements` must outlive it.
  Observation(const Measurements& measurements, std::size_t records, std::size_t first);
  /// `variables` are positions, velocities, the time, and the ledger entries.
  void record(const Eigen::VectorXd& variables, double t);
  /// The values that are averaged, in the order above, with `lags` lags, over the records in [begin, end), counted from
  /// the first that is averaged; products over those in [begin, equidistant).
  void average(std::size_t lags, std::size_t begin, std::size_t end, std::size_t equidistant,
               Autocorrelation& autocorrelation, std::span<double> averaged) const;
  /// The means over these records of the quantities that are averaged over time.
  void means(std::size_t begin, std::size_t end, std::span<double> means) const;
  /// The stored values; NaN for a passage that did not occur.
  std::vector<double> per_realisation() const;

 private:
  const Measurements& measurements_;
  std::size_t first_, count_ = 0;
  std::vector<std::vector<double>> values_;   // by quantity, from `first` on
  std::vector<Eigen::MatrixXd> profiles_;     // by profile, a column for each record from `first` on
  std::vector<double> last_, passage_times_;  // by passage: the previous value; the time, or NaN
  double last_time_ = 0.0;
};

}  // namespace bathline
