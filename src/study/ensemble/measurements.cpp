// Quantities that an ensemble measures in every realisation besides positions and velocities.
// Tested by tests/study/ensemble_test.cpp.
#include "study/ensemble/measurements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <set>

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

std::size_t Measurements::mean(std::size_t quantity, std::size_t lags) const {
  std::size_t begin = 0;
  for (std::size_t i = 0; i < quantity; ++i) {
    if (!quantities[i].at_end) begin += 1 + lags + (quantities[i].bins ? quantities[i].bins->count : 0);
  }
  return begin;
}

bool Measurements::uses(std::size_t number) const {
  const auto uses_it = [number](const auto& item) { return item.uses[number]; };
  return std::any_of(quantities.begin(), quantities.end(), [&](const auto& item) { return uses_it(item.value); }) ||
         std::any_of(first_passages.begin(), first_passages.end(),
                     [&](const auto& item) { return uses_it(item.value); });
}

bool Measurements::uses_ledger() const {
  for (std::size_t i = 0; i < ledger.size(); ++i) {
    if (uses(i)) return true;
  }
  return false;
}

std::size_t Measurements::joint_fractions(std::size_t histogram, std::size_t lags) const {
  std::size_t begin = mean(quantities.size(), lags);
  for (std::size_t i = 0; i < histogram; ++i) {
    begin += quantities[joint_histograms[i].first].bins->count * quantities[joint_histograms[i].second].bins->count;
  }
  return begin;
}

std::size_t Measurements::profile(std::size_t index, std::size_t lags) const {
  std::size_t begin = joint_fractions(joint_histograms.size(), lags);
  for (std::size_t i = 0; i < index; ++i) begin += static_cast<std::size_t>(profiles[i].size);
  return begin;
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
constexpr const char* suffixes[] = {"_mean",    "_mean_error",     "_autocorrelation",  "_autocorrelation_error",
                                    "_density", "_density_error",  "_density_expected", "_density_deviation",
                                    "_bin",     "_of_realisation", "_variance",         "_variance_error",
                                    "_time",    "_survival",       "_survival_error",   "_count",
                                    "_rate",    "_rate_error"};
constexpr const char* other_variables[] = {"step",
                                           "damping",
                                           "time",
                                           "lag",
                                           "particle",
                                           "axis",
                                           "realisation",
                                           "path",
                                           "mean_q",
                                           "mean_q_error",
                                           "mean_v",
                                           "mean_v_error",
                                           "variance_q",
                                           "variance_q_error",
                                           "variance_v",
                                           "variance_v_error",
                                           "kinetic_energy",
                                           "kinetic_energy_error",
                                           "kinetic_mean",
                                           "kinetic_mean_error",
                                           "kinetic_expected",
                                           "kinetic_deviation",
                                           "velocity_autocorrelation",
                                           "velocity_autocorrelation_error",
                                           "velocity_autocorrelation_theory",
                                           "correlation_deviation",
                                           "path_q",
                                           "path_v"};

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
  std::set<std::string> variables(std::begin(other_variables), std::end(other_variables));
  for (const Observable& observable : system.observables) {
    if (observable.dimension.empty()) continue;
    measurements.profiles.push_back(observable);
    variables.insert({observable.dimension, observable.name + "_mean", observable.name + "_mean_error"});
  }
  const auto for_each = [&](const std::string& key, auto read) {
    if (!study.has(key)) return;
    where_readable([&] {
      for (const Section& table : study.tables(key)) {
        const std::string& name = table.text("name");
        if (!is_name(name) || std::count(names.begin(), names.end(), name) > 0) {
          mistakes.add(table.where("name"), fmt::format("`{}` must be a unique name of letters, digits and `_`", name));
        } else {
          for (const char* suffix : suffixes) {
            if (variables.insert(name + suffix).second) continue;
            mistakes.add(table.where("name"), fmt::format("`{}`: the results have a variable `{}{}` already; choose "
                                                          "another name",
                                                          name, name, suffix));
            break;
          }
        }
        names.push_back(name);
        read(table);
      }
    });
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

Observation::Observation(const Measurements& measurements, std::size_t records, std::size_t first)
    : measurements_(measurements),
      first_(first),
      values_(measurements.quantities.size()),
      last_(measurements.first_passages.size()),
      passage_times_(measurements.first_passages.size(), std::numeric_limits<double>::quiet_NaN()) {
  for (std::vector<double>& values : values_) values.reserve(records - first);
  for (const Observable& observable : measurements.profiles) {
    profiles_.emplace_back(observable.size, static_cast<Eigen::Index>(records - first));
  }
}

void Observation::record(const Eigen::VectorXd& variables, double t) {
  if (count_ >= first_) {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      values_[i].push_back(measurements_.quantities[i].value.value(variables));
    }
    const Eigen::Index n = (variables.size() - static_cast<Eigen::Index>(measurements_.ledger.size())) / 2;
    for (std::size_t i = 0; i < profiles_.size(); ++i) {
      profiles_[i].col(static_cast<Eigen::Index>(count_ - first_)) =
          measurements_.profiles[i].value(variables.head(n), variables.segment(n, n), t);
    }
  }
  for (std::size_t i = 0; i < passage_times_.size(); ++i) {
    if (!std::isnan(passage_times_[i])) continue;
    const MeasuredPassage& passage = measurements_.first_passages[i];
    const double now = passage.value.value(variables) - passage.level;
    const bool up = last_[i] < 0.0 && now >= 0.0, down = last_[i] > 0.0 && now <= 0.0;
    if (count_ > 0 && ((up && passage.direction >= 0) || (down && passage.direction <= 0))) {
      passage_times_[i] = last_time_ + (t - last_time_) * last_[i] / (last_[i] - now);
    }
    last_[i] = now;
  }
  last_time_ = t;
  ++count_;
}

void Observation::means(std::size_t begin, std::size_t end, std::span<double> means) const {
  std::size_t next = 0;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (measurements_.quantities[i].at_end) continue;
    means[next++] = mean_of(std::span<const double>(values_[i]).subspan(begin, end - begin));
  }
}

void Observation::average(std::size_t lags, std::size_t begin, std::size_t end, std::size_t equidistant,
                          Autocorrelation& autocorrelation, std::span<double> averaged) const {
  const Measurements& all = measurements_;
  const auto part = [&](std::size_t quantity) {
    return std::span<const double>(values_[quantity]).subspan(begin, end - begin);
  };
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (all.quantities[i].at_end) continue;
    const std::span<const double> values = part(i);
    averaged[all.mean(i, lags)] = mean_of(values);
    if (lags > 0) {
      std::ranges::copy(autocorrelation(values.first(equidistant - begin), lags),
                        averaged.begin() + static_cast<std::ptrdiff_t>(all.products(i, lags)));
    }
    if (!all.quantities[i].bins) continue;
    for (const double value : values) {
      const std::optional<std::size_t> bin = all.quantities[i].bins->index_of(value);
      if (bin) averaged[all.fractions(i, lags) + *bin] += 1.0 / static_cast<double>(values.size());
    }
  }
  for (std::size_t i = 0; i < all.joint_histograms.size(); ++i) {
    const std::span<const double> first = part(all.joint_histograms[i].first),
                                  second = part(all.joint_histograms[i].second);
    const Bins &rows = *all.quantities[all.joint_histograms[i].first].bins,
               &columns = *all.quantities[all.joint_histograms[i].second].bins;
    for (std::size_t k = 0; k < first.size(); ++k) {
      const std::optional<std::size_t> row = rows.index_of(first[k]), column = columns.index_of(second[k]);
      if (!row || !column) continue;
      averaged[all.joint_fractions(i, lags) + *row * columns.count + *column] +=
          1.0 / static_cast<double>(first.size());
    }
  }
  for (std::size_t i = 0; i < profiles_.size(); ++i) {
    const auto records =
        profiles_[i].middleCols(static_cast<Eigen::Index>(begin), static_cast<Eigen::Index>(end - begin));
    Eigen::Map<Eigen::VectorXd>(averaged.data() + all.profile(i, lags), records.rows()) = records.rowwise().mean();
  }
}

std::vector<double> Observation::per_realisation() const {
  std::vector<double> all;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    all.push_back(measurements_.quantities[i].at_end ? values_[i].back() : mean_of(values_[i]));
  }
  all.insert(all.end(), passage_times_.begin(), passage_times_.end());
  return all;
}

}  // namespace bathline
