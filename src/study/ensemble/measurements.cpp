// What an ensemble measures of every realisation beside positions and velocities.
// Tested by tests/study/ensemble_test.cpp.
#include "study/ensemble/measurements.hpp"

#include <fmt/format.h>

#include <algorithm>
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

std::vector<double> MeasuredQuantity::expected_density() const {
  // Simpson's rule on so many parts of a bin.
  constexpr int parts = 8;
  std::vector<double> shares;
  const double part = bins->width() / parts;
  for (std::size_t bin = 0; bin < bins->count; ++bin) {
    const double from = bins->from + static_cast<double>(bin) * bins->width();
    double sum = 0.0;
    for (int i = 0; i < parts; ++i) {
      const double at = from + i * part;
      sum += expected(at) + 4.0 * expected(at + 0.5 * part) + expected(at + part);
    }
    shares.push_back(sum);
  }
  const double all = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= all * bins->width();
  return shares;
}

std::size_t Measurements::mean(std::size_t quantity, std::size_t lags) const {
  std::size_t begin = 0;
  for (std::size_t i = 0; i < quantity; ++i) {
    if (!quantities[i].at_end) begin += 1 + lags + (quantities[i].bins ? quantities[i].bins->count : 0);
  }
  return begin;
}

bool Measurements::uses(std::size_t number) const {
  const auto asks = [number](const auto& one) { return one.uses[number]; };
  return std::any_of(quantities.begin(), quantities.end(), [&](const auto& one) { return asks(one.value); }) ||
         std::any_of(passages.begin(), passages.end(), [&](const auto& one) { return asks(one.of); });
}

bool Measurements::uses_ledger() const {
  for (std::size_t i = 0; i < ledger.size(); ++i) {
    if (uses(i)) return true;
  }
  return false;
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
               .doc =
                   "formula in coordinates, velocities, `t` and the ledger since the start: `work` from outside, "
                   "`heat` that the environments have taken, `heat_<name>` of one of them, and the `gain` of the "
                   "particles",
               .required = true};
  Parameter direction{.name = "direction",
                      .type = ValueType::text,
                      .doc = "which crossings count",
                      .default_value = "\"both\"",
                      .choices = {"up", "down", "both"}};
  return {
      {.name = "quantities",
       .type = ValueType::tables,
       .doc = "what is averaged over time and realisations, or over realisations at the end: means, "
              "autocorrelations, and histograms where it has bins",
       .members = {name,
                   of,
                   {.name = "units", .type = ValueType::text, .doc = "units of its values", .default_value = "\"1\""},
                   {.name = "bins",
                    .type = ValueType::numbers,
                    .doc = "[lowest, highest, how many] bins of its histogram"},
                   {.name = "expected",
                    .type = ValueType::text,
                    .doc = "formula in `value`, which the histogram should be but for a factor"},
                   {.name = "when",
                    .type = ValueType::text,
                    .doc = "averaged over time from `burn_in` on, or what it is at the end",
                    .default_value = "\"always\"",
                    .choices = {"always", "end"}}}},
      {.name = "joint_histograms",
       .type = ValueType::tables,
       .doc = "histograms of two quantities at once, which have bins",
       .members = {name,
                   {.name = "of", .type = ValueType::texts, .doc = "names of the two quantities", .required = true}}},
      {.name = "first_passages",
       .type = ValueType::tables,
       .doc = "when a formula first crosses a value: the time of every realisation, and the rate",
       .members = {name, of, {.name = "at", .doc = "the value", .default_value = "0.0"}, direction}}};
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

std::function<double(double)> read_expected(const Section& table, const std::optional<Bins>& bins, Mistakes& mistakes) {
  if (!bins) {
    mistakes.add(table.where("expected"), "`expected` is of a histogram: state its `bins`");
    return {};
  }
  return read_function_of(table, "expected", "value", bins->centres().front(), mistakes).value_or(nullptr);
}

void read_density(const Section& table, Measurements& found, Mistakes& mistakes) {
  const std::vector<std::string>& of = table.texts("of");
  std::vector<std::size_t> numbers;
  for (const std::string& name : of) {
    for (std::size_t i = 0; i < found.quantities.size(); ++i) {
      const MeasuredQuantity& quantity = found.quantities[i];
      if (quantity.name == name && quantity.bins && !quantity.at_end) numbers.push_back(i);
    }
  }
  if (of.size() == 2 && numbers.size() == 2) {
    found.densities.push_back({table.text("name"), numbers[0], numbers[1]});
  } else {
    mistakes.add(table.where("of"), "`of` names two quantities that have `bins` and are averaged over time");
  }
}

}  // namespace

Measurements read_measurements(const Section& study, const ParticleSystem& system, std::vector<std::string> ledger,
                               Mistakes& mistakes) {
  Measurements found;
  found.ledger = std::move(ledger);
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
    const std::optional<ExtendedPhaseFunction> value =
        read_extended_phase_function(table, "of", system, found.ledger, mistakes);
    const std::optional<Bins> bins = read_bins(table, mistakes);
    const bool at_end = table.text("when") == "end";
    if (value) found.quantities.push_back({table.text("name"), table.text("units"), *value, bins, at_end});
    if (value && table.has("expected")) found.quantities.back().expected = read_expected(table, bins, mistakes);
  });
  for_each("joint_histograms", [&](const Section& table) { read_density(table, found, mistakes); });
  for_each("first_passages", [&](const Section& table) {
    const std::optional<ExtendedPhaseFunction> of =
        read_extended_phase_function(table, "of", system, found.ledger, mistakes);
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

void Observation::record(const Eigen::VectorXd& variables, double t) {
  if (count_ >= first_) {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      values_[i].push_back(measurements_.quantities[i].value.value(variables));
    }
  }
  for (std::size_t i = 0; i < passed_.size(); ++i) {
    if (!std::isnan(passed_[i])) continue;
    const MeasuredPassage& passage = measurements_.passages[i];
    const double now = passage.of.value(variables) - passage.at;
    const bool up = last_[i] < 0.0 && now >= 0.0, down = last_[i] > 0.0 && now <= 0.0;
    if (count_ > 0 && ((up && passage.direction >= 0) || (down && passage.direction <= 0))) {
      passed_[i] = last_time_ + (t - last_time_) * last_[i] / (last_[i] - now);
    }
    last_[i] = now;
  }
  last_time_ = t;
  ++count_;
}

double Observation::mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

void Observation::average(std::size_t lags, std::size_t begin, std::size_t end, std::span<double> averaged) const {
  const Measurements& all = measurements_;
  const auto part = [&](std::size_t quantity) {
    return std::span<const double>(values_[quantity]).subspan(begin, end - begin);
  };
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (all.quantities[i].at_end) continue;
    const std::span<const double> values = part(i);
    averaged[all.mean(i, lags)] = mean(values);
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
    const std::span<const double> first = part(all.densities[i].first), second = part(all.densities[i].second);
    const Bins &rows = *all.quantities[all.densities[i].first].bins,
               &columns = *all.quantities[all.densities[i].second].bins;
    for (std::size_t at = 0; at < first.size(); ++at) {
      const std::optional<std::size_t> row = rows.of(first[at]), column = columns.of(second[at]);
      if (!row || !column) continue;
      averaged[all.joint_shares(i, lags) + *row * columns.count + *column] += 1.0 / static_cast<double>(first.size());
    }
  }
}

std::vector<double> Observation::per_realisation() const {
  std::vector<double> all;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    all.push_back(measurements_.quantities[i].at_end ? values_[i].back() : mean(values_[i]));
  }
  all.insert(all.end(), passed_.begin(), passed_.end());
  return all;
}

}  // namespace bathline
