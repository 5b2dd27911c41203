// What an ensemble measures of every realisation beside positions and velocities.
// Tested by tests/study/ensemble_test.cpp.
#include "study/ensemble/measurements.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace bathline {

std::optional<std::size_t> Bins::of(double value) const {
  const double at = std::floor((value - from) / width());
  if (!(at >= 0.0 && at < static_cast<double>(count))) return std::nullopt;
  return static_cast<std::size_t>(at);
}

std::vector<double> Bins::centres() const {
  std::vector<double> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(from + (static_cast<double>(i) + 0.5) * width());
  return all;
}

std::size_t Measurements::mean(std::size_t quantity, std::size_t lags) const {
  std::size_t begin = 0;
  for (std::size_t i = 0; i < quantity; ++i) begin += 1 + lags + (quantities[i].bins ? quantities[i].bins->count : 0);
  return begin;
}

std::size_t Measurements::joint_shares(std::size_t density, std::size_t lags) const {
  std::size_t begin = mean(quantities.size(), lags);
  for (std::size_t i = 0; i < density; ++i) {
    begin += quantities[densities[i].first].bins->count * quantities[densities[i].second].bins->count;
  }
  return begin;
}

std::vector<Parameter> measurement_parameters() {
  const Parameter name{.name = "name", .type = ValueType::text, .doc = "its name in the result", .required = true};
  Parameter of{.name = "of",
               .type = ValueType::text,
               .doc = "formula in coordinates, velocities and `t`, as that of `[output] section`",
               .required = true};
  Parameter direction{.name = "direction",
                      .type = ValueType::text,
                      .doc = "which crossings count",
                      .fallback = "\"both\"",
                      .choices = {"up", "down", "both"}};
  return {
      {.name = "quantities",
       .type = ValueType::tables,
       .doc = "what is averaged over time and realisations: means, autocorrelations, and histograms where it has "
              "bins",
       .members = {name,
                   of,
                   {.name = "units", .type = ValueType::text, .doc = "units of its values", .fallback = "\"1\""},
                   {.name = "bins",
                    .type = ValueType::numbers,
                    .doc = "[lowest, highest, how many] bins of its histogram"}}},
      {.name = "densities",
       .type = ValueType::tables,
       .doc = "histograms of two quantities at once, which have bins",
       .members = {name,
                   {.name = "of", .type = ValueType::texts, .doc = "names of the two quantities", .required = true}}},
      {.name = "passages",
       .type = ValueType::tables,
       .doc = "when a formula first crosses a value: the time of every realisation, and the rate",
       .members = {name, of, {.name = "at", .doc = "the value", .fallback = "0.0"}, direction}}};
}

namespace {

std::optional<Bins> read_bins(const Section& table, Mistakes& mistakes) {
  if (!table.has("bins")) return std::nullopt;
  const std::vector<double>& numbers = table.numbers("bins");
  const bool is_sound = numbers.size() == 3 && numbers[0] < numbers[1] && numbers[2] >= 1.0 && numbers[2] <= 1e6 &&
                        numbers[2] == std::floor(numbers[2]);
  if (is_sound) return Bins{numbers[0], numbers[1], static_cast<std::size_t>(numbers[2])};
  mistakes.add(table.where("bins"), "`bins` are [lowest, highest, how many], such as [-2.0, 2.0, 40]");
  return std::nullopt;
}

void read_density(const Section& table, Measurements& found, Mistakes& mistakes) {
  const std::vector<std::string>& of = table.texts("of");
  std::vector<std::size_t> numbers;
  for (const std::string& name : of) {
    for (std::size_t i = 0; i < found.quantities.size(); ++i) {
      if (found.quantities[i].name == name && found.quantities[i].bins) numbers.push_back(i);
    }
  }
  if (of.size() == 2 && numbers.size() == 2) {
    found.densities.push_back({table.text("name"), numbers[0], numbers[1]});
  } else {
    mistakes.add(table.where("of"), "`of` names two quantities that have `bins`");
  }
}

}  // namespace

Measurements read_measurements(const Section& study, const OpenSystem& system, Mistakes& mistakes) {
  Measurements found;
  std::vector<std::string> names;
  const auto for_each = [&](const std::string& key, auto read) {
    if (!study.has(key)) return;
    where_readable([&] {
      for (const Section& table : study.tables(key)) {
        const std::string& name = table.text("name");
        if (!is_name(name) || std::count(names.begin(), names.end(), name) > 0) {
          mistakes.add(
              table.where("name"),
              fmt::format("`{}` has to be a name of letters, digits and `_` that nothing else here has", name));
        }
        names.push_back(name);
        read(table);
      }
    });
  };
  for_each("quantities", [&](const Section& table) {
    const std::optional<PhaseFunction> value = read_phase_function(table, "of", system, mistakes);
    const std::optional<Bins> bins = read_bins(table, mistakes);
    if (value) found.quantities.push_back({table.text("name"), table.text("units"), *value, bins});
  });
  for_each("densities", [&](const Section& table) { read_density(table, found, mistakes); });
  for_each("passages", [&](const Section& table) {
    const std::optional<PhaseFunction> of = read_phase_function(table, "of", system, mistakes);
    const std::string& direction = table.text("direction");
    if (of) {
      found.passages.push_back({table.text("name"), *of, table.number("at"),
                                direction == "up"     ? 1
                                : direction == "down" ? -1
                                                      : 0});
    }
  });
  return found;
}

Observation::Observation(const Measurements& measurements, std::size_t records, std::size_t first)
    : measurements_(measurements),
      first_(first),
      values_(measurements.quantities.size()),
      last_(measurements.passages.size()),
      passed_(measurements.passages.size(), std::numeric_limits<double>::quiet_NaN()) {
  for (std::vector<double>& values : values_) values.reserve(records - first);
}

void Observation::record(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t) {
  if (count_ >= first_) {
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i].push_back(measurements_.quantities[i].value(q, v, t));
  }
  for (std::size_t i = 0; i < passed_.size(); ++i) {
    if (!std::isnan(passed_[i])) continue;
    const MeasuredPassage& passage = measurements_.passages[i];
    const double now = passage.of(q, v, t) - passage.at;
    const bool up = last_[i] < 0.0 && now >= 0.0, down = last_[i] > 0.0 && now <= 0.0;
    if (count_ > 0 && ((up && passage.direction >= 0) || (down && passage.direction <= 0))) {
      passed_[i] = last_time_ + (t - last_time_) * last_[i] / (last_[i] - now);
    }
    last_[i] = now;
  }
  last_time_ = t;
  ++count_;
}

double Observation::mean(std::size_t quantity) const {
  const std::vector<double>& values = values_[quantity];
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

void Observation::average(std::size_t lags, std::span<double> averaged) const {
  const Measurements& all = measurements_;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const std::vector<double>& values = values_[i];
    averaged[all.mean(i, lags)] = mean(i);
    for (std::size_t lag = 0; lag < lags; ++lag) {
      double sum = 0.0;
      for (std::size_t at = 0; at + lag < values.size(); ++at) sum += values[at] * values[at + lag];
      averaged[all.products(i, lags) + lag] = sum / static_cast<double>(values.size() - lag);
    }
    if (!all.quantities[i].bins) continue;
    for (const double value : values) {
      const std::optional<std::size_t> bin = all.quantities[i].bins->of(value);
      if (bin) averaged[all.shares(i, lags) + *bin] += 1.0 / static_cast<double>(values.size());
    }
  }
  for (std::size_t i = 0; i < all.densities.size(); ++i) {
    const std::vector<double>&first = values_[all.densities[i].first], &second = values_[all.densities[i].second];
    const Bins &rows = *all.quantities[all.densities[i].first].bins,
               &columns = *all.quantities[all.densities[i].second].bins;
    for (std::size_t at = 0; at < first.size(); ++at) {
      const std::optional<std::size_t> row = rows.of(first[at]), column = columns.of(second[at]);
      if (!row || !column) continue;
      averaged[all.joint_shares(i, lags) + *row * columns.count + *column] += 1.0 / static_cast<double>(first.size());
    }
  }
}

std::vector<double> Observation::kept() const {
  std::vector<double> all;
  for (std::size_t i = 0; i < values_.size(); ++i) all.push_back(mean(i));
  all.insert(all.end(), passed_.begin(), passed_.end());
  return all;
}

}  // namespace bathline
