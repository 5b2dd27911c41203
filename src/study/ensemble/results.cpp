// Writes the results of an ensemble to the result file.
// Tested by tests/study/ensemble_test.cpp.
#include "study/ensemble/results.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "solve/linear_flow.hpp"
#include "steppers/assembled_system.hpp"
#include "study/theory/stationarity.hpp"

namespace bathline {

namespace {

/// kT of the environments if all have the same, or that of an open run; NaN otherwise, and for quantum baths.
double temperature(const Experiment& experiment, const Case& this_case) {
  if (const auto& stated = experiment.system().temperature; stated && !this_case.closed) {
    if (!experiment.system().temperature_in_time.empty()) return std::numeric_limits<double>::quiet_NaN();
    return stated->isConstant((*stated)[0], 0.0) ? (*stated)[0] : std::numeric_limits<double>::quiet_NaN();
  }
  const Problem problem = experiment.make_closed_problem(this_case, this_case.step);
  double kt = std::numeric_limits<double>::quiet_NaN();
  for (const auto& environment : problem.environments()) {
    if (std::isnan(kt)) kt = environment->properties().temperature;
    auto* noisy = dynamic_cast<Noisy*>(environment.get());
    const bool is_classical = noisy == nullptr || noisy->is_classical();
    const bool is_constant = environment->properties().temperature_in_time == nullptr;
    if (environment->properties().temperature != kt || !is_classical || !is_constant)
      return std::numeric_limits<double>::quiet_NaN();
  }
  return kt;
}

/// Whether forces and start leave the particles in the equilibrium at the temperature kt of their environments, at the
/// latest after `burn_in`, which is left out of averages.
bool is_in_equilibrium(const Experiment& experiment, const Case& this_case, double kt, double burn_in) {
  const ParticleSystem& system = experiment.system();
  if (system.has_work() || system.force) return false;
  if (this_case.start == nullptr || burn_in > 0.0) return true;
  const std::optional<Eigen::VectorXd> start = experiment.start_temperature(this_case);
  return start && start->isConstant(kt, 1e-12);
}

/// The velocity autocorrelation of linear particles in equilibrium, <v(t) v(0)> = exp(A t)_vv kT/m; empty for nonlinear
/// systems. A is the matrix of the damped particles, by limebeer2020, section II-A, and weiss2012, section 2; with a
/// warm memory that of particles and memory.
std::vector<double> langevin_correlation(const Experiment& experiment, const Case& this_case,
                                         const EnsembleColumns& columns, double kt) {
  std::vector<double> theory;
  const Problem problem = experiment.make_problem(this_case, this_case.step, this_case.closed && this_case.noise);
  if (!problem.system().is_linear() || !problem.has_linear_environments()) return theory;
  const auto& stepped = problem.stepped_environments();
  const auto has_sites = [](const Environment* environment) { return environment->properties().sites > 0; };
  if (!std::all_of(stepped.begin(), stepped.end(), has_sites)) return theory;
  const Eigen::MatrixXd drift = AssembledSystem(problem, LumpedNetwork::no_limit).linear_sde().drift;
  const auto n = static_cast<Eigen::Index>(columns.dofs);
  for (std::size_t lag = 0; lag < columns.lag.length(); ++lag) {
    const Eigen::MatrixXd flow = matrix_exponential(columns.lag.values[lag] * drift);
    const Eigen::VectorXd by_dof =
        kt * flow.diagonal().tail(flow.rows() - n).head(n).cwiseQuotient(problem.system().mass);
    for (Eigen::Index i = 0; i < n; i += problem.system().axes) {
      theory.push_back(by_dof.segment(i, problem.system().axes).mean());
    }
  }
  return theory;
}

/// (mean - expected)/error of each.
std::vector<double> deviations(const Estimate& estimate, std::span<const double> expected) {
  std::vector<double> all;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    all.push_back((estimate.mean[i] - expected[i]) / estimate.error[i]);
  }
  return all;
}

/// Writes the arrays of a group; means over realisations with their standard errors.
class Group {
 public:
  Group(const Experiment& experiment, const EnsembleOptions& options, const Case& this_case,
        const EnsembleColumns& columns, const EnsembleTotals& total, ResultFile& file)
      : experiment_(experiment),
        options_(options),
        case_(this_case),
        columns_(columns),
        total_(total),
        file_(file),
        name_("ensemble/" + this_case.name),
        out_(file, name_) {}

  void write() {
    out_.number("step", "s", "time step", case_.step);
    const Eigen::VectorXd damping = experiment_.make_open_problem(case_).damping().diagonal();
    out_.array("damping", "kg/s", "damping constant of each degree of freedom in open runs",
               {columns_.particle, columns_.axis}, {damping.data(), static_cast<std::size_t>(damping.size())});
    file_.attribute("realisations", options_.realisations, name_);
    write_columns(columns_.by_realisation, total_.moments.by_realisation);
    write_columns(columns_.by_block, total_.moments.by_block);
    if (options_.series) {
      write_variance("variance_q", "m2", "variance of the position over realisations", estimates_.at("mean_q"));
      write_variance("variance_v", "m2/s2", "variance of the velocity over realisations", estimates_.at("mean_v"));
    }
    write_equilibrium();
    for (std::size_t i = 0; i < options_.measurements.quantities.size(); ++i) write_quantity(i);
    for (std::size_t i = 0; i < options_.measurements.first_passages.size(); ++i) write_passage(i);
    write_paths();
  }

 private:
  using Dimensions = std::vector<Dimension>;

  void write_columns(const std::vector<EnsembleColumn>& columns, const Moments& moments) {
    std::size_t begin = 0;
    for (const EnsembleColumn& column : columns) {
      Estimate estimate = moments.estimate(begin, column.size());
      begin += column.size();
      if (column.name.empty()) continue;
      for (double& value : estimate.mean) value *= column.scale;
      for (double& value : estimate.error) value *= column.scale;
      out_.array(column.name, column.units, column.long_name, column.dimensions, estimate.mean);
      out_.array(column.name + "_error", column.units, "standard error of the " + column.long_name, column.dimensions,
                 estimate.error);
      estimates_[column.name] = std::move(estimate);
    }
  }
  /// The standard error of a variance is that of a normal distribution.
  void write_variance(const std::string& name, const std::string& units, const std::string& long_name,
                      const Estimate& mean) {
    const auto n = static_cast<double>(options_.realisations);
    std::vector<double> variance, error;
    for (const double error_of_mean : mean.error) {
      variance.push_back(n * error_of_mean * error_of_mean);
      error.push_back(variance.back() * std::sqrt(2.0 / (n - 1.0)));
    }
    const Dimensions dimensions{columns_.time, columns_.particle, columns_.axis};
    out_.array(name, units, long_name, dimensions, variance);
    out_.array(name + "_error", units, "standard error of the " + long_name + ", for a normal distribution", dimensions,
               error);
  }

  /// The comparison with equilibrium at the temperature of the environments, if they have one.
  void write_equilibrium() {
    const double kt = temperature(experiment_, case_);
    if (!(kt > 0.0) || !is_in_equilibrium(experiment_, case_, kt, options_.burn_in)) return;
    const double expected = 0.5 * kt * static_cast<double>(columns_.axis.length());
    out_.number("kinetic_expected", "J", "axes times kT/2", expected);
    out_.array("kinetic_deviation", "1", "deviation from equipartition in standard errors", {columns_.particle},
               deviations(estimates_.at("kinetic_mean"), std::vector<double>(columns_.particle.length(), expected)));
    if (columns_.lag.length() == 0) return;
    const std::vector<double> theory = langevin_correlation(experiment_, case_, columns_, kt);
    if (theory.empty()) return;
    const Dimensions dimensions{columns_.lag, columns_.particle};
    out_.array("velocity_autocorrelation_theory", "m2/s2", "velocity autocorrelation of the Langevin equation",
               dimensions, theory);
    out_.array("correlation_deviation", "1", "deviation from the Langevin equation in standard errors", dimensions,
               deviations(estimates_.at("velocity_autocorrelation"), theory));
  }

  void write_quantity(std::size_t index) {
    const MeasuredQuantity& quantity = options_.measurements.quantities[index];
    const std::string& name = quantity.name;
    const EnsembleColumn& stored = columns_.stored[index];
    const std::vector<double> values = write_per_realisation(stored.name, stored.units, stored.long_name, index);
    if (quantity.at_end) {
      const Estimate& mean = estimates_.at(name + "_mean");
      const auto n = static_cast<double>(values.size());
      const double variance = n * mean.error[0] * mean.error[0];
      double variance_of_squares = 0.0;
      for (const double value : values)
        variance_of_squares += std::pow((value - mean.mean[0]) * (value - mean.mean[0]) - variance, 2) / (n - 1.0);
      out_.number(name + "_variance", squared(quantity.units), "variance of " + name + " at the end over realisations",
                  variance, true);
      out_.number(name + "_variance_error", squared(quantity.units), "standard error of the variance of " + name,
                  std::sqrt(variance_of_squares / n), true);
    }
    if (quantity.bins && quantity.expected) write_expected(quantity, estimates_.at(name + "_density"));
  }
  /// The expected density of a histogram, and the deviation from it.
  void write_expected(const MeasuredQuantity& quantity, Estimate density) {
    const std::vector<double> expected = quantity.expected_density();
    const double width = quantity.bins->width();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (density.error[i] > 0.0) continue;
      // An empty bin has no standard error of its own. The expected one is at most that of one independent draw from
      // each realisation.
      const double fraction = expected[i] * width;
      density.error[i] = std::sqrt(fraction * (1.0 - fraction) / static_cast<double>(options_.realisations)) / width;
    }
    std::vector<double> deviation = deviations(density, expected);
    for (std::size_t i = 0; i < expected.size(); ++i) deviation[i] = density.error[i] == 0.0 ? 0.0 : deviation[i];
    const Dimensions bins{{quantity.name + "_bin", quantity.bins->centres(), "", ""}};  // is in the file
    out_.array(quantity.name + "_density_expected", per(quantity.units),
               "expected probability density of " + quantity.name, bins, expected);
    out_.array(quantity.name + "_density_deviation", "1",
               "deviation from the expected density in standard errors; expected errors for empty bins", bins,
               deviation);
  }

  /// The rate is the number of passages divided by the total waiting time of the realisations, both since burn-in: the
  /// maximum-likelihood estimate of a constant rate. Realisations with an earlier passage do not count.
  void write_passage(std::size_t index) {
    const Measurements& all = options_.measurements;
    const std::string& name = all.first_passages[index].name;
    const std::vector<double> times = write_per_realisation(
        name + "_time", "s", "time of the first " + name + ", NaN where there was none", all.quantities.size() + index);
    double count = 0.0, waited = 0.0, waiting = 0.0;
    const auto for_each_waiting = [&](auto add) {
      for (const double time : times) {
        const double end = std::isnan(time) ? columns_.time.values.back() : time;
        if (end >= options_.burn_in) add(end - options_.burn_in, std::isnan(time) ? 0.0 : 1.0);
      }
    };
    for_each_waiting([&](double time, double passed) {
      waiting += 1.0;
      count += passed;
      waited += time;
    });
    // The standard error of a ratio of means, by linearisation: it holds for any distribution of the times, and is the
    // mean over the root of the count for an exponential one.
    const double mean_time = waited / count;
    double squares = 0.0;
    for_each_waiting([&](double time, double passed) { squares += std::pow(time - mean_time * passed, 2); });
    const double mean_error = count > 0.0 ? std::sqrt(squares * waiting / (waiting - 1.0)) / count : mean_time;
    std::vector<double> survival, error, sorted = times;
    std::erase_if(sorted, [](double time) { return std::isnan(time); });
    std::sort(sorted.begin(), sorted.end());
    const auto n = static_cast<double>(options_.realisations);
    for (const double t : columns_.time.values) {
      const auto passed = std::upper_bound(sorted.begin(), sorted.end(), t) - sorted.begin();
      survival.push_back(1.0 - static_cast<double>(passed) / n);
      error.push_back(std::sqrt(survival.back() * (1.0 - survival.back()) / n));
    }
    out_.array(name + "_survival", "1", "fraction of the realisations without a " + name + " so far", {columns_.time},
               survival);
    out_.array(name + "_survival_error", "1", "standard error of the survival", {columns_.time}, error);
    out_.number(name + "_fraction", "1", "fraction of the realisations with a " + name + " before the end",
                static_cast<double>(sorted.size()) / n);
    out_.number(name + "_fraction_error", "1", "standard error of that fraction", error.back(), true);
    out_.number(name + "_mean", "s",
                "mean time since burn-in until the first " + name +
                    ": waiting time of all realisations over the number of passages, infinite without any",
                mean_time, true);
    out_.number(name + "_mean_error", "s", "standard error of the mean time until the first " + name, mean_error, true);
    out_.number(name + "_count", "1", "realisations with a " + name + " since burn-in", count);
    out_.number(name + "_rate", "1/s", "rate of the first " + name, count / waited, true);
    out_.number(name + "_rate_error", "1/s", "standard error of the rate of the first " + name,
                std::sqrt(std::max(count, 1.0)) / waited, true);
  }

  std::vector<double> write_per_realisation(const std::string& name, const std::string& units,
                                            const std::string& long_name, std::size_t column) {
    std::vector<double> values;
    for (std::size_t i = column; i < total_.per_realisation.size(); i += options_.measurements.per_realisation()) {
      values.push_back(total_.per_realisation[i]);
    }
    out_.array(name, units, long_name, {counted("realisation", options_.realisations)}, values);
    return values;
  }

  static Dimension counted(const std::string& name, std::int64_t realisations) {
    return counted_dimension(name, static_cast<std::size_t>(realisations), "realisation, counted from 0");
  }

  void write_paths() {
    const std::int64_t paths = std::min(options_.saved_paths, options_.realisations);
    if (paths == 0) return;
    const Dimension path = counted("path", paths);
    const std::size_t width = width_of(columns_.path);
    for (std::size_t begin = 0; const EnsembleColumn& column : columns_.path) {
      std::vector<double> values;
      for (auto from = total_.paths.begin(); from != total_.paths.end(); from += static_cast<std::ptrdiff_t>(width)) {
        const auto first = from + static_cast<std::ptrdiff_t>(begin);
        values.insert(values.end(), first, first + static_cast<std::ptrdiff_t>(column.size()));
      }
      Dimensions dimensions = column.dimensions;
      dimensions.insert(dimensions.begin(), path);
      out_.array(column.name, column.units, column.long_name, dimensions, values);
      begin += column.size();
    }
  }

  const Experiment& experiment_;
  const EnsembleOptions& options_;
  const Case& case_;
  const EnsembleColumns& columns_;
  const EnsembleTotals& total_;
  ResultFile& file_;
  std::string name_;
  GroupWriter out_;
  std::map<std::string, Estimate> estimates_;  // of the columns, by name
};

}  // namespace

void write_ensemble(const Experiment& experiment, const EnsembleOptions& options, const Case& this_case,
                    const EnsembleColumns& columns, const EnsembleTotals& total, ResultFile& file) {
  Group(experiment, options, this_case, columns, total, file).write();
}

void warn_unless_stationary(const EnsembleOptions& options, const Case& this_case, const EnsembleColumns& columns,
                            const EnsembleMoments& moments) {
  constexpr double false_alarms = 1e-3;
  // Mean kinetic energies are written in any case, also where a transient is studied and nothing is averaged over time.
  const auto is_average = [](const MeasuredQuantity& quantity) { return !quantity.at_end; };
  if (options.burn_in == 0.0 && std::ranges::none_of(options.measurements.quantities, is_average) && !options.max_lag)
    return;
  std::vector<std::string> names;
  std::vector<double> round_off;
  std::size_t begin = 0;
  for (const EnsembleColumn& column : columns.by_block) {
    names.insert(names.end(), column.compared.begin(), column.compared.end());
    for (std::size_t i = 0; i < column.compared.size(); ++i) {
      round_off.push_back(16.0 * std::numeric_limits<double>::epsilon() * std::abs(moments.by_block.mean(begin + i)));
    }
    begin += column.size();
  }
  const std::optional<HalfDifference> result = find_half_difference(moments.differences, round_off, false_alarms);
  if (!result) return;
  spdlog::warn(
      "{}: the averages since burn_in = {} are not those of a stationary motion: the mean of {} differs by {:.3g} +- "
      "{:.2g} between the two halves of {}; raise `burn_in`, or start nearer to the stationary state, by `start` and "
      "`start_kT` of [system]. A stationary motion has this warning with a probability of {} at most",
      this_case.name, options.burn_in, names[result->index], result->difference, result->error,
      options.blocks > 1 ? "the time, or blocks are shorter than the correlation time" : "the time", false_alarms);
}

}  // namespace bathline
