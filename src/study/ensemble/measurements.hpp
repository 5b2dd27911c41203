// What an ensemble measures of every realisation beside positions and velocities: quantities that a recipe types.
#pragma once

#include <Eigen/Core>
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

namespace bathline {

/// Equal bins of a histogram, from below.
struct Bins {
  double from = 0.0, to = 1.0;
  std::size_t count = 1;

  double width() const { return (to - from) / static_cast<double>(count); }
  /// Nothing outside of all of them.
  std::optional<std::size_t> of(double value) const;
  std::vector<double> centres() const;
};

/// A formula whose averages over time are wanted, or its value at the end.
struct MeasuredQuantity {
  std::string name;
  std::string units;
  ExtendedPhaseFunction value;
  std::optional<Bins> bins;
  bool at_end = false;
  std::function<double(double)> expected =
      {};  ///< up to a factor, what the histogram should be; empty where not stated

  /// The mean density of every bin that is expected, with 1 as the sum of all of their shares.
  std::vector<double> expected_density() const;
};

/// Two quantities, by their numbers, whose joint density is wanted.
struct MeasuredDensity {
  std::string name;
  std::size_t first, second;
};

/// When a formula first crosses a value.
struct MeasuredPassage {
  std::string name;
  ExtendedPhaseFunction of;
  double at = 0.0;
  int direction = 0;  ///< 1: upwards, -1: downwards, 0: both
};

/// All of these. The numbers of a realisation that are averaged over realisations are, in this order: by quantity the
/// mean over time, the products at every lag and the shares of time in every bin; by density the shares of time in
/// every pair of bins. Of a quantity at the end there are none. Those that are kept of every realisation are by
/// quantity the means over time or what they are at the end, and the times by passage.
struct Measurements {
  std::vector<std::string> ledger;  ///< names of the numbers of the ledger (ledger.hpp), for formulas
  std::vector<MeasuredQuantity> quantities;
  std::vector<MeasuredDensity> densities;
  std::vector<MeasuredPassage> passages;

  /// Whether any formula asks for a number of the ledger.
  bool uses(std::size_t number) const;
  bool uses_ledger() const;
  std::size_t mean(std::size_t quantity, std::size_t lags) const;
  std::size_t products(std::size_t quantity, std::size_t lags) const { return mean(quantity, lags) + 1; }
  std::size_t shares(std::size_t quantity, std::size_t lags) const { return products(quantity, lags) + lags; }
  std::size_t joint_shares(std::size_t density, std::size_t lags) const;
  /// How many are averaged.
  std::size_t width(std::size_t lags) const { return joint_shares(densities.size(), lags); }
  /// How many are kept of every realisation.
  std::size_t per_realisation() const { return quantities.size() + passages.size(); }
};

/// The keys of [study] that say what is measured.
std::vector<Parameter> measurement_parameters();
/// Reads them, with the names of the numbers of the ledger; what makes no sense is added to the mistakes.
Measurements read_measurements(const Section& study, const ParticleSystem& system, std::vector<std::string> ledger,
                               Mistakes& mistakes);

/// One realisation that is looked at, record by record.
class Observation {
 public:
  /// Of which `records` are coming, those from `first` on for averages over time. `measurements` must outlive it.
  Observation(const Measurements& measurements, std::size_t records, std::size_t first);
  /// `variables` are positions, velocities, the time, and the numbers of the ledger.
  void record(const Eigen::VectorXd& variables, double t);
  /// What is averaged, in the order above, for that many lags, over records from `begin` on and before `end`; counted
  /// from the first that is averaged at all.
  void average(std::size_t lags, std::size_t begin, std::size_t end, std::span<double> averaged) const;
  /// What is kept: passages that did not come are NaN.
  std::vector<double> per_realisation() const;

 private:
  static double mean(std::span<const double> values);

  const Measurements& measurements_;
  std::size_t first_, count_ = 0;
  std::vector<std::vector<double>> values_;  // by quantity, from `first` on
  std::vector<double> last_, passed_;        // by passage: the last value; the time, or NaN
  double last_time_ = 0.0;
};

}  // namespace bathline
