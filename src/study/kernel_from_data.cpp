// The memory kernel of measured or simulated velocities and forces, as the `memory` that recipes take.
// Tested by tests/study/kernel_from_data_test.cpp.
#include "study/memory_kernel.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "model/table_file.hpp"
#include "study/theory/kernel_estimate.hpp"

namespace bathline {

namespace {

using Eigen::VectorXd;

std::span<const double> all_of(const VectorXd& values) {
  return {values.data(), static_cast<std::size_t>(values.size())};
}

class KernelFromData final : public Study {
 public:
  KernelFromData(std::vector<ThermalSeries> series, const KernelEstimateOptions& options)
      : series_(std::move(series)), options_(options) {}

  std::optional<CaseFailure> run(ResultFile& file, Progress&, Checkpoints&) override {
    const KernelEstimate estimate = estimate_kernel(series_, options_);
    const std::string group = "memory-kernel/data";
    Dimension lag{"lag", {}, "s", "lag"};
    for (Eigen::Index i = 0; i <= options_.lags; ++i) lag.values.push_back(options_.interval * static_cast<double>(i));
    const auto over_lags = [&](const char* name, const char* units, const char* long_name, const VectorXd& values) {
      file.array(group, {name, units, long_name, {}}, std::span(&lag, 1), all_of(values));
    };
    over_lags("velocity_correlation", "m2/s2", "<v(t) v(0)>", estimate.velocity_correlation);
    over_lags("force_correlation", "N m/s", "<F(t) v(0)>", estimate.force_correlation);
    over_lags("kernel", "N/m", "memory kernel", estimate.kernel);
    over_lags("kernel_error", "N/m", "its standard error, by blocks", estimate.kernel_error);
    over_lags("kernel_integral", "kg/s", "integral of the memory kernel from 0", estimate.integral);
    over_lags("kernel_integral_error", "kg/s", "its standard error, by blocks", estimate.integral_error);
    over_lags("kernel_integral_inverted", "kg/s", "the same integral, lag by lag", estimate.inverted);
    Dimension term{"term", {}, "1", "exponential, counted from 0"};
    for (std::size_t j = 0; j < estimate.rate.size(); ++j) term.values.push_back(static_cast<double>(j));
    if (!estimate.rate.empty()) {
      file.array(group, {"stiffness", "N/m", "contribution of the term to the kernel at 0", {}}, std::span(&term, 1),
                 estimate.stiffness);
      file.array(group, {"rate", "1/s", "decay rate of the term", {}}, std::span(&term, 1), estimate.rate);
    }
    file.number(group, "damping", "kg/s", "integral of the kernel", estimate.damping);
    file.number(group, "damping_error", "kg/s", "its standard error, by blocks", estimate.damping_error, true);
    file.number(group, "temperature", "J", "m <v^2>", estimate.temperature);
    file.number(group, "temperature_error", "J", "its standard error, by blocks", estimate.temperature_error, true);
    file.number(group, "mismatch", "1", "rms difference of both sides of the integrated equation, over the rms of one",
                estimate.mismatch);
    if (estimate.rate.empty()) {
      spdlog::warn("the data have no friction: no exponential of the kernel has a positive stiffness");
      return std::nullopt;
    }
    const std::string table =
        fmt::format("[[environments]]\nkind = \"memory\"\nstiffness = [{:.6g}]\nrate = [{:.6g}]\nkT = {:.6g}\n",
                    fmt::join(estimate.stiffness, ", "), fmt::join(estimate.rate, ", "), estimate.temperature);
    file.attribute("environment", table, group);
    spdlog::info("the environment for a recipe:\n{}", table);
    return std::nullopt;
  }

 private:
  std::vector<ThermalSeries> series_;
  KernelEstimateOptions options_;
};

}  // namespace

std::vector<Parameter> kernel_from_data_parameters() {
  return {optional("data_file", ValueType::text, "",
                   "name of a file with velocities and forces of a thermal motion, in place of system, environments "
                   "and integrators: in every line a time, at equal intervals, a velocity, and the force but for "
                   "friction and noise (of the potential)"),
          optional("mass", ValueType::number, "kg", "of data: the mass that moves with the velocity", Bound::positive),
          optional("interval", ValueType::number, "s",
                   "of data: the interval of the times, where these have too few digits for it; they must be its "
                   "multiples after the first as far as their digits tell",
                   Bound::positive),
          optional("max_lag", ValueType::number, "s",
                   "of data: the longest lag, after which the kernel should have decayed", Bound::positive),
          optional("series", ValueType::integer, "",
                   "of data: the number of pairs of columns, a velocity and its force, of particles or axes that are "
                   "alike; default: 1",
                   Bound::positive),
          optional("rates", ValueType::integer, "",
                   "of data: the number of rates, from 1/max_lag to the inverse of the interval, whose stiffnesses are "
                   "fitted; default: 25",
                   Bound::positive),
          optional("blocks", ValueType::integer, "",
                   "of data: the number of blocks of time for errors, longer than correlations last; default: 10",
                   Bound::positive)};
}

std::unique_ptr<Study> make_kernel_from_data(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  Section study = recipe.study;
  keep_texts_of_files(study, experiment.communicator());
  const std::size_t before = mistakes.count();
  for (const char* key : {"mass", "max_lag"}) {
    if (!study.has(key)) mistakes.add(study.where("data_file"), fmt::format("`data_file` needs `{}`", key));
  }
  const auto count = [&](const char* key, long otherwise) { return study.has(key) ? study.integer(key) : otherwise; };
  const auto pairs = static_cast<std::size_t>(count("series", 1));
  KernelEstimateOptions options{.rates = static_cast<int>(count("rates", 25)),
                                .blocks = static_cast<int>(count("blocks", 10))};
  if (options.blocks < 2) mistakes.add(study.where("blocks"), "blocks: errors need at least two");
  if (options.rates > 200) mistakes.add(study.where("rates"), "rates: at most 200 can be told apart");
  const bool is_stated = study.has("interval");
  const TableForm form{.row = "records",
                       .first = {"time", "s", Bound::any},
                       .second = {"number", "velocity in m/s and force in N", Bound::any},
                       .rising = true,
                       .may_be_equal = true,
                       .columns = 1 + 2 * pairs,
                       .least = 3};
  const std::string& name = study.text("data_file");
  std::vector<ThermalSeries> series(pairs);
  std::vector<double> times;
  PrintedPrecision precision;
  try {
    const std::vector<std::vector<double>> columns = read_columns(study, name, form, &precision);
    times = columns[0];
    for (std::size_t i = 0; i < pairs; ++i) series[i] = {columns[1 + 2 * i], columns[2 + 2 * i]};
  } catch (const std::runtime_error& error) {
    mistakes.add(study.where("data_file"), fmt::format("data_file = \"{}\": {}", name, error.what()));
  }
  if (mistakes.count() > before) return nullptr;
  const auto records = static_cast<double>(times.size());
  options.mass = study.number("mass");
  options.interval = is_stated ? study.number("interval") : (times.back() - times.front()) / (records - 1.0);
  for (std::size_t i = 1; i < times.size(); ++i) {
    // Both times are rounded by half a unit of their last digit.
    const double expected = times.front() + static_cast<double>(i) * options.interval;
    const double unit = precision.unit(times[i]) * (1.0 + 1e-6);
    if (is_stated && std::abs(times[i] - expected) > unit) {
      mistakes.add(
          study.where("interval"),
          fmt::format("interval = {}: record {} of \"{}\" then has the time {:.9g}, but its time is {}, known to "
                      "{:.1g}",
                      options.interval, i + 1, name, expected, times[i], precision.unit(times[i])));
      return nullptr;
    }
    if (is_stated || std::abs(times[i] - times[i - 1] - options.interval) < 1e-2 * options.interval) continue;
    mistakes.add(study.where("data_file"),
                 fmt::format("data_file = \"{}\": all intervals must be equal, but from {} to {} it is {:.6g} s, not "
                             "their mean {:.6g} s; if the times have too few digits, state `interval`",
                             name, times[i - 1], times[i], times[i] - times[i - 1], options.interval));
    return nullptr;
  }
  const double lags = std::floor(study.number("max_lag") / options.interval + 1e-9);
  const double most = std::floor(records / options.blocks) - 1.0;
  if (lags < 2.0 || lags > most) {
    mistakes.add(study.where("max_lag"),
                 fmt::format("max_lag = {}: must be at least two intervals, {:.6g}, and shorter than a block, {:.6g}",
                             study.number("max_lag"), 2.0 * options.interval, most * options.interval));
    return nullptr;
  }
  options.lags = static_cast<Eigen::Index>(lags);
  for (const ThermalSeries& one : series) {
    if (std::any_of(one.velocity.begin(), one.velocity.end(), [](double v) { return v != 0.0; })) continue;
    mistakes.add(study.where("data_file"), fmt::format("data_file = \"{}\": all velocities are 0", name));
    return nullptr;
  }
  return std::make_unique<KernelFromData>(std::move(series), options);
}

}  // namespace bathline
