// What a study of transport observes: its keys, and the chains of every case.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "driver/experiment.hpp"
#include "model/heat_conductor.hpp"
#include "recipe/catalogue.hpp"
#include "recipe/mistakes.hpp"
#include "recipe/recipe.hpp"

namespace bathline {

/// Means of a block that are written with their errors.
struct TransportColumn {
  std::string name, units, doc;  ///< in the result; a column without a name is not written
  Dimension dimension = {};      ///< of its values; without a name of its own there is one
  double scale = 1.0;            ///< of the values in the result
  std::size_t size() const { return dimension.name.empty() ? 1 : dimension.length(); }
};

/// A chain of a case, or a ring, with the columns of its means in a row of a block.
struct Chain {
  std::size_t environment = 0;  ///< in the problem of the case
  std::string name;
  bool is_ring = false;
  std::int64_t places = 0, springs = 0;
  std::array<int, 2> ends{};                           ///< coordinates of the particles at the ends
  std::array<std::vector<std::size_t>, 2> baths = {};  ///< environments at the ends
  std::array<double, 2> kT{};                          ///< of these, J
  std::size_t bins = 0;
  std::optional<std::size_t> longest_lag = {};  ///< of correlations, in observations
  std::vector<std::int64_t> waves = {};
  std::size_t window = 0;  ///< of spectra, in observations
  std::size_t first_column = 0;
  /// The mean of all currents, the heats a second out of the bath at the first end and into that at the second, the
  /// slope of kT over the places of the middle half, the mean kT, then the profiles, and what is measured of rings.
  std::vector<TransportColumn> columns = {};

  double temperature_difference() const { return kT[0] - kT[1]; }
  bool is_driven() const { return temperature_difference() != 0.0; }
  std::size_t current() const { return first_column; }
  std::size_t heat(std::size_t end) const { return first_column + 1 + end; }
  std::size_t slope() const { return first_column + 3; }
  std::size_t mean_temperature() const { return first_column + 4; }
  const Dimension& place() const { return columns[5].dimension; }
  std::size_t correlation() const { return first_column + 5 + 2 * bins; }  ///< of rings with a longest lag
  const Dimension& lag() const { return columns[7].dimension; }
  std::size_t end_column() const {
    std::size_t end = first_column;
    for (const TransportColumn& column : columns) end += column.size();
    return end;
  }
};

/// The chains of several lengths of a series: what is written over the length.
struct TransportSeries {
  std::string name;
  std::vector<std::string> chains;
};

struct TransportOptions {
  std::int64_t realisations = 1;
  std::int64_t blocks = 64;                ///< of the time until the end
  std::int64_t bins = 64;                  ///< of profiles, at most
  std::optional<double> until_error = {};  ///< relative error of the currents at which a run ends
  std::vector<TransportSeries> series = {};
  // Of rings:
  std::optional<double> max_lag = {};           ///< longest lag of the correlations of currents, s
  std::vector<std::int64_t> wave_numbers = {};  ///< of structure factors
  double window = 0.0;                          ///< of the spectra of structure factors, s
  std::vector<std::vector<Chain>> chains = {};  ///< by case
};

/// The chain that an environment is, or nullptr.
HeatConductor* conductor_of(Environment& environment);

std::vector<Parameter> transport_parameters();
/// The options of a recipe; what cannot be observed becomes a mistake. @note Collective.
TransportOptions read_transport_options(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes);

}  // namespace bathline
