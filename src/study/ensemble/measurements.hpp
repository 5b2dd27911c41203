// Quantities that an ensemble measures in every realisation besides positions and velocities, given by formulas.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "driver/experiment.hpp"
#include "model/formula/phase_function.hpp"
#include "recipe/mistakes.hpp"
#include "recipe/section.hpp"
#include "recipe/catalogue_schema.hpp"

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

/// All measurements.
struct Measurements {
  std::vector<std::string> ledger;  ///< names of the ledger entries (ledger.hpp) in formulas
  std::vector<MeasuredQuantity> quantities;
  std::vector<JointHistogram> joint_histograms;
  std::vector<MeasuredPassage> first_passages;
  std::vector<Observable> profiles;  ///< observables of the system with a dimension, such as energies of particles

  /// Whether any formula uses this entry of the ledger.
  bool uses(std::size_t number) const;
  /// Number of values stored for every realisation: averages or values at the end, and times of passages.
  std::size_t per_realisation() const { return quantities.size() + first_passages.size(); }
};

/// The keys of [study] that define measurements.
std::vector<Parameter> measurement_parameters();
/// Reads them; `ledger` are the names of the ledger entries. Invalid values are added to the mistakes.
Measurements read_measurements(const Section& study, const ParticleSystem& system, std::vector<std::string> ledger,
                               Mistakes& mistakes);

}  // namespace bathline
