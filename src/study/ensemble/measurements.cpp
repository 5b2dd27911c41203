// Quantities that an ensemble measures in every realisation besides positions and velocities.
// Tested by tests/study/ensemble_test.cpp.
#include "study/ensemble/measurements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <set>
#include <sstream>

namespace bathline {

std::optional<std::size_t> Bins::index_of(double value) const {
  const double index = std::floor((value - low) / width());
  if (!(index >= 0.0 && index < static_cast<double>(count))) return std::nullopt;
  return static_cast<std::size_t>(index);
}

std::vector<double> Bins::centres() const {
  std::vector<double> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(low + (static_cast<double>(i) + 0.5) * width());
  return all;
}

std::vector<double> MeasuredQuantity::expected_density() const {
  // Subintervals of a bin for Simpson's rule.
  constexpr int parts = 8;
  std::vector<double> fractions;
  const double part = bins->width() / parts;
  for (std::size_t bin = 0; bin < bins->count; ++bin) {
    const double begin = bins->low + static_cast<double>(bin) * bins->width();
    double sum = 0.0;
    for (int i = 0; i < parts; ++i) {
      const double x = begin + i * part;
      sum += expected(x) + 4.0 * expected(x + 0.5 * part) + expected(x + part);
    }
    fractions.push_back(sum);
  }
  const double all = std::accumulate(fractions.begin(), fractions.end(), 0.0);
  for (double& fraction : fractions) fraction /= all * bins->width();
  return fractions;
}

bool Measurements::uses(std::size_t number) const {
  const auto uses_it = [number](const auto& item) { return item.uses[number]; };
  return std::any_of(quantities.begin(), quantities.end(), [&](const auto& item) { return uses_it(item.value); }) ||
         std::any_of(first_passages.begin(), first_passages.end(),
                     [&](const auto& item) { return uses_it(item.value); });
}

std::vector<Parameter> measurement_parameters() {
  const Parameter name = required("name", ValueType::text, "", "name in the result");
  Parameter of{
      .name = "of",
      .type = ValueType::text,
      .doc =
          "formula in coordinates, velocities, `t` and the ledger since the start: `work` of external forces, `heat` "
          "absorbed by the environments, `heat_<name>` absorbed by one of them, and the energy `gain` of the particles",
      .required = true};
  Parameter direction =
      choice("direction", {"up", "down", "both"}, "direction of the crossings that count", "\"both\"");
  return {
      {.name = "quantities",
       .type = ValueType::tables,
       .doc = "quantities that are averaged over time and realisations, or over realisations at the end: means, "
              "autocorrelations if `max_lag` is given, and histograms if `bins` are given",
       .members = {name, of, defaulted("units", ValueType::text, "", "\"1\"", "units of the quantity"),
                   optional("bins", ValueType::numbers, "", "[lowest, highest, number] of the bins of the histogram"),
                   optional("expected", ValueType::text, "",
                            "expected density of the histogram up to a factor, a formula in `value`"),
                   choice("when", {"always", "end"},
                          "\"always\": average over time from `burn_in` on; \"end\": value at the end", "\"always\"")}},
      {.name = "joint_histograms",
       .type = ValueType::tables,
       .doc = "joint histograms of two quantities that have bins",
       .members = {name, required("of", ValueType::texts, "", "names of the two quantities")}},
      {.name = "first_passages",
       .type = ValueType::tables,
       .doc = "first passages: the time at which a formula first crosses a value in each realisation, and the rate",
       .members = {name, of, defaulted("at", ValueType::number, "", "0.0", "value to be crossed"), direction}}};
}

namespace {

/// What is appended to the names of measurements in the results, and the other variables beside these.
constexpr const char* suffixes =
    "_mean _mean_error _autocorrelation _autocorrelation_error _density _density_error _density_expected "
    "_density_deviation _bin _of_realisation _variance _variance_error _time _survival _survival_error _count _rate "
    "_rate_error";
constexpr const char* other_variables =
    "step damping time lag particle axis realisation path mean_q mean_q_error mean_v mean_v_error variance_q "
    "variance_q_error variance_v variance_v_error kinetic_energy kinetic_energy_error kinetic_mean kinetic_mean_error "
    "kinetic_expected kinetic_deviation velocity_autocorrelation velocity_autocorrelation_error "
    "velocity_autocorrelation_theory correlation_deviation path_q path_v";

std::vector<std::string> words_of(const char* text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

std::optional<Bins> read_bins(const Section& table, Mistakes& mistakes) {
  if (!table.has("bins")) return std::nullopt;
  const std::vector<double>& numbers = table.numbers("bins");
  const bool is_valid = numbers.size() == 3 && numbers[0] < numbers[1] && numbers[2] >= 1.0 && numbers[2] <= 1e6 &&
                        numbers[2] == std::floor(numbers[2]);
  if (is_valid) return Bins{numbers[0], numbers[1], static_cast<std::size_t>(numbers[2])};
  mistakes.add(table.where("bins"), "`bins` must be [lowest, highest, number], such as [-2.0, 2.0, 40]");
  return std::nullopt;
}

std::function<double(double)> read_expected(const Section& table, const std::optional<Bins>& bins, Mistakes& mistakes) {
  if (!bins) {
    mistakes.add(table.where("expected"), "`expected` is the density of a histogram: give `bins`");
    return {};
  }
  return read_function_of(table, "expected", "value", bins->centres().front(), mistakes).value_or(nullptr);
}

void read_joint_histogram(const Section& table, Measurements& measurements, Mistakes& mistakes) {
  const std::vector<std::string>& of = table.texts("of");
  std::vector<std::size_t> numbers;
  for (const std::string& name : of) {
    for (std::size_t i = 0; i < measurements.quantities.size(); ++i) {
      const MeasuredQuantity& quantity = measurements.quantities[i];
      if (quantity.name == name && quantity.bins && !quantity.at_end) numbers.push_back(i);
    }
  }
  if (of.size() == 2 && numbers.size() == 2 && numbers[0] != numbers[1]) {
    measurements.joint_histograms.push_back({table.text("name"), numbers[0], numbers[1]});
  } else {
    mistakes.add(table.where("of"),
                 "`of` must name two different quantities that have `bins` and are averaged over time");
  }
}

}  // namespace

Measurements read_measurements(const Section& study, const ParticleSystem& system, std::vector<std::string> ledger,
                               Mistakes& mistakes) {
  Measurements measurements;
  measurements.ledger = std::move(ledger);
  std::vector<std::string> names;
  const std::vector<std::string> others = words_of(other_variables);
  std::set<std::string> variables(others.begin(), others.end());
  for (const Observable& observable : system.observables) {
    if (observable.dimension.empty()) continue;
    measurements.profiles.push_back(observable);
    variables.insert({observable.dimension, observable.name + "_mean", observable.name + "_mean_error"});
  }
  const auto for_each = [&](const std::string& key, auto read) {
    if (!study.has(key)) return;
    for (const Section& table : study.tables(key)) {
      const std::string& name = table.text("name");
      if (!is_name(name) || std::count(names.begin(), names.end(), name) > 0) {
        mistakes.add(table.where("name"), fmt::format("`{}` must be a unique name of letters, digits and `_`", name));
      } else {
        for (const std::string& suffix : words_of(suffixes)) {
          if (variables.insert(name + suffix).second) continue;
          mistakes.add(
              table.where("name"),
              fmt::format("`{}`: the results have a variable `{}{}` already; choose another name", name, name, suffix));
          break;
        }
      }
      names.push_back(name);
      read(table);
    }
  };
  for_each("quantities", [&](const Section& table) {
    const std::optional<ExtendedPhaseFunction> value =
        read_extended_phase_function(table, "of", system, measurements.ledger, mistakes);
    const std::optional<Bins> bins = read_bins(table, mistakes);
    const bool at_end = table.text("when") == "end";
    if (value) measurements.quantities.push_back({table.text("name"), table.text("units"), *value, bins, at_end});
    if (value && table.has("expected")) measurements.quantities.back().expected = read_expected(table, bins, mistakes);
  });
  for_each("joint_histograms", [&](const Section& table) { read_joint_histogram(table, measurements, mistakes); });
  for_each("first_passages", [&](const Section& table) {
    const std::optional<ExtendedPhaseFunction> of =
        read_extended_phase_function(table, "of", system, measurements.ledger, mistakes);
    const std::string& direction = table.text("direction");
    if (of) {
      measurements.first_passages.push_back({table.text("name"), *of, table.number("at"),
                                             direction == "up"     ? 1
                                             : direction == "down" ? -1
                                                                   : 0});
    }
  });
  return measurements;
}

}  // namespace bathline
