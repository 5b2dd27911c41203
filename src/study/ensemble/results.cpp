// Writes the results of an ensemble to the result file.
// Tested by tests/study/ensemble_test.cpp.
#include "study/ensemble/results.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "solve/dense.hpp"
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
  for (std::size_t lag = 0; lag < columns.lags; ++lag) {
    const double t = static_cast<double>(lag) * columns.spacing;
    const Eigen::MatrixXd flow = matrix_exponential(t * drift);
    for (std::size_t particle = 0; particle < columns.particles; ++particle) {
      double mean = 0.0;
      for (std::size_t axis = 0; axis < columns.axes; ++axis) {
        const auto dof = static_cast<Eigen::Index>(particle * columns.axes + axis);
        mean += flow(n + dof, n + dof) * kt / problem.system().mass[dof] / static_cast<double>(columns.axes);
      }
      theory.push_back(mean);
    }
  }
  return theory;
}

std::string squared(const std::string& units) { return units == "1" ? units : "(" + units + ")2"; }
/// Units of a probability density.
std::string per(const std::string& units) { return units == "1" ? units : "1/(" + units + ")"; }

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
        time_{"time", columns.times, "s", "time"},
        lag_{"lag", indices(columns.lags), "s", "lag"},
        particle_{"particle", indices(columns.particles), "1", "particle, counted from 0"},
        axis_{"axis", indices(columns.axes), "1", "axis, counted from 0"} {
    for (double& t : lag_.values) t *= columns.spacing;
  }

  void write() {
    file_.number(name_, "step", "s", "time step", case_.step);
    const Eigen::VectorXd damping = experiment_.make_open_problem(case_).damping().diagonal();
    array("damping", "kg/s", "damping constant of each degree of freedom in open runs", {particle_, axis_},
          {damping.data(), static_cast<std::size_t>(damping.size())});
    if (options_.series) write_series();
    write_velocities();
    for (std::size_t i = 0; i < options_.measurements.quantities.size(); ++i) write_quantity(i);
    for (std::size_t i = 0; i < options_.measurements.joint_histograms.size(); ++i) write_joint_histogram(i);
    for (std::size_t i = 0; i < options_.measurements.profiles.size(); ++i) write_profile(i);
    for (std::size_t i = 0; i < options_.measurements.first_passages.size(); ++i) write_passage(i);
    write_paths();
  }

 private:
  using Dimensions = std::vector<Dimension>;

  static std::vector<double> indices(std::size_t count) {
    std::vector<double> values;
    for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<double>(i));
    return values;
  }

  Estimate estimate_of(std::size_t begin, std::size_t count) const {
    const EnsembleMoments& moments = total_.moments;
    if (begin < columns_.correlation()) return moments.series.estimate(begin, count);
    return moments.averages.estimate(begin - columns_.correlation(), count);
  }
  void array(const std::string& name, const std::string& units, const std::string& long_name,
             const Dimensions& dimensions, std::span<const double> values) {
    file_.array(name_, {name, units, long_name, {}}, dimensions, values);
  }
  /// Writes `count` means from `begin` on, times `scale`, and their standard errors.
  Estimate write_estimate(const std::string& name, const std::string& units, const std::string& long_name,
                          const Dimensions& dimensions, std::size_t begin, std::size_t count, double scale = 1.0) {
    Estimate result = estimate_of(begin, count);
    for (double& value : result.mean) value *= scale;
    for (double& value : result.error) value *= scale;
    array(name, units, long_name, dimensions, result.mean);
    array(name + "_error", units, "standard error of the " + long_name, dimensions, result.error);
    return result;
  }

  void write_series() {
    const std::size_t count = columns_.records * columns_.dofs;
    const Estimate q = write_estimate("mean_q", "m", "mean position", {time_, particle_, axis_}, columns_.q(), count);
    const Estimate v = write_estimate("mean_v", "m/s", "mean velocity", {time_, particle_, axis_}, columns_.v(), count);
    write_estimate("kinetic_energy", "J", "mean kinetic energy", {time_, particle_}, columns_.kinetic(),
                   columns_.records * columns_.particles);
    write_variance("variance_q", "m2", "variance of the position over realisations", q);
    write_variance("variance_v", "m2/s2", "variance of the velocity over realisations", v);
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
    array(name, units, long_name, {time_, particle_, axis_}, variance);
    array(name + "_error", units, "standard error of the " + long_name + ", for a normal distribution",
          {time_, particle_, axis_}, error);
  }

  void write_velocities() {
    Estimate correlation;
    if (columns_.lags > 0) {
      correlation = write_estimate("velocity_autocorrelation", "m2/s2", "mean velocity autocorrelation per axis",
                                   {lag_, particle_}, columns_.correlation(), columns_.lags * columns_.particles);
    }
    const Estimate kinetic = write_estimate("kinetic_mean", "J", "kinetic energy averaged over time and realisations",
                                            {particle_}, columns_.kinetic_mean(), columns_.particles);
    file_.attribute("realisations", options_.realisations, name_);

    const double kt = temperature(experiment_, case_);
    if (!(kt > 0.0)) return;
    const double expected = 0.5 * kt * static_cast<double>(columns_.axes);
    std::vector<double> deviation;
    for (std::size_t i = 0; i < columns_.particles; ++i) {
      deviation.push_back((kinetic.mean[i] - expected) / kinetic.error[i]);
    }
    file_.number(name_, "kinetic_expected", "J", "axes times kT/2", expected);
    file_.array(name_, {"kinetic_deviation", "1", "deviation from equipartition in standard errors", {}},
                std::vector<Dimension>{particle_}, deviation);
    if (columns_.lags == 0) return;
    const std::vector<double> theory = langevin_correlation(experiment_, case_, columns_, kt);
    if (theory.empty()) return;
    file_.array(name_,
                {"velocity_autocorrelation_theory", "m2/s2", "velocity autocorrelation of the Langevin equation", {}},
                std::vector<Dimension>{lag_, particle_}, theory);
    std::vector<double> deviation_of_theory;
    for (std::size_t i = 0; i < theory.size(); ++i)
      deviation_of_theory.push_back((correlation.mean[i] - theory[i]) / correlation.error[i]);
    file_.array(name_, {"correlation_deviation", "1", "deviation from the Langevin equation in standard errors", {}},
                std::vector<Dimension>{lag_, particle_}, deviation_of_theory);
  }

  void write_quantity(std::size_t index) {
    const Measurements& all = options_.measurements;
    const MeasuredQuantity& quantity = all.quantities[index];
    if (quantity.at_end) {
      write_at_end(quantity, index);
      return;
    }
    const std::size_t begin = columns_.measurements(), lags = columns_.lags;
    write_estimate(quantity.name + "_mean", quantity.units, quantity.name + " averaged over time and realisations", {},
                   begin + all.mean(index, lags), 1);
    if (lags > 0) {
      write_estimate(quantity.name + "_autocorrelation", squared(quantity.units),
                     "mean product of " + quantity.name + " with itself a lag later", {lag_},
                     begin + all.products(index, lags), lags);
    }
    write_per_realisation(quantity.name + "_of_realisation", quantity.units, quantity.name + " averaged over time",
                          index);
    if (!quantity.bins) return;
    const Estimate density = write_estimate(
        quantity.name + "_density", per(quantity.units), "probability density of " + quantity.name, {bins_of(quantity)},
        begin + all.fractions(index, lags), quantity.bins->count, 1.0 / quantity.bins->width());
    write_expected(quantity, density);
  }
  void write_profile(std::size_t index) {
    const Observable& observable = options_.measurements.profiles[index];
    const auto size = static_cast<std::size_t>(observable.size);
    Dimension dimension{observable.dimension, indices(size), "1", observable.dimension};
    for (double& number : dimension.values) number += observable.first;
    if (dimension.name == particle_.name) dimension = particle_;
    write_estimate(observable.name + "_mean", observable.units,
                   observable.long_name + ", averaged over time and realisations", {dimension},
                   columns_.measurements() + options_.measurements.profile(index, columns_.lags), size);
  }
  /// The expected density of a histogram, and the deviation from it.
  void write_expected(const MeasuredQuantity& quantity, const Estimate& density) {
    if (!quantity.expected) return;
    const std::vector<double> expected = quantity.expected_density();
    const double width = quantity.bins->width();
    std::vector<double> deviation;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      double error = density.error[i];
      if (error == 0.0) {
        // An empty bin has no standard error of its own. The expected one is at most that of one independent draw from
        // each realisation.
        const double fraction = expected[i] * width;
        error = std::sqrt(fraction * (1.0 - fraction) / static_cast<double>(options_.realisations)) / width;
      }
      deviation.push_back(error == 0.0 ? 0.0 : (density.mean[i] - expected[i]) / error);
    }
    array(quantity.name + "_density_expected", per(quantity.units), "expected probability density of " + quantity.name,
          {bins_of(quantity)}, expected);
    array(quantity.name + "_density_deviation", "1",
          "deviation from the expected density in standard errors; expected errors for empty bins", {bins_of(quantity)},
          deviation);
  }
  /// The values at the end; each realisation is a sample.
  void write_at_end(const MeasuredQuantity& quantity, std::size_t index) {
    const std::string& name = quantity.name;
    const std::vector<double> values =
        write_per_realisation(name + "_of_realisation", quantity.units, name + " at the end", index);
    const auto n = static_cast<double>(values.size());
    double mean = 0.0, squares = 0.0;
    for (const double value : values) mean += value / n;
    for (const double value : values) squares += (value - mean) * (value - mean);
    const double variance = squares / (n - 1.0);
    file_.number(name_, name + "_mean", quantity.units, name + " at the end, averaged over realisations", mean);
    file_.number(name_, name + "_mean_error", quantity.units, "standard error of the mean " + name,
                 std::sqrt(variance / n));
    file_.number(name_, name + "_variance", squared(quantity.units),
                 "variance of " + name + " at the end over realisations", variance);
    double variance_of_squares = 0.0;
    for (const double value : values)
      variance_of_squares += std::pow((value - mean) * (value - mean) - variance, 2) / (n - 1.0);
    file_.number(name_, name + "_variance_error", squared(quantity.units), "standard error of the variance of " + name,
                 std::sqrt(variance_of_squares / n));
    if (!quantity.bins) return;
    Estimate density{std::vector<double>(quantity.bins->count), {}};
    for (const double value : values) {
      if (const std::optional<std::size_t> bin = quantity.bins->index_of(value)) density.mean[*bin] += 1.0 / n;
    }
    for (double& fraction : density.mean) {
      density.error.push_back(std::sqrt(fraction * (1.0 - fraction) / (n - 1.0)) / quantity.bins->width());
      fraction /= quantity.bins->width();
    }
    array(name + "_density", per(quantity.units), "probability density of " + name + " at the end", {bins_of(quantity)},
          density.mean);
    array(name + "_density_error", per(quantity.units),
          "standard error of the probability density of " + name + " at the end", {bins_of(quantity)}, density.error);
    write_expected(quantity, density);
  }
  static Dimension bins_of(const MeasuredQuantity& quantity) {
    return {quantity.name + "_bin", quantity.bins->centres(), quantity.units, "centre of a bin of " + quantity.name};
  }

  void write_joint_histogram(std::size_t index) {
    const Measurements& all = options_.measurements;
    const MeasuredQuantity &first = all.quantities[all.joint_histograms[index].first],
                           &second = all.quantities[all.joint_histograms[index].second];
    write_estimate(all.joint_histograms[index].name + "_density", "1/(" + first.units + " " + second.units + ")",
                   "joint probability density of " + first.name + " and " + second.name,
                   {bins_of(first), bins_of(second)},
                   columns_.measurements() + all.joint_fractions(index, columns_.lags),
                   first.bins->count * second.bins->count, 1.0 / (first.bins->width() * second.bins->width()));
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
        const double end = std::isnan(time) ? columns_.times.back() : time;
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
    for (const double t : time_.values) {
      const auto passed = std::upper_bound(sorted.begin(), sorted.end(), t) - sorted.begin();
      survival.push_back(1.0 - static_cast<double>(passed) / n);
      error.push_back(std::sqrt(survival.back() * (1.0 - survival.back()) / n));
    }
    array(name + "_survival", "1", "fraction of the realisations without a " + name + " so far", {time_}, survival);
    array(name + "_survival_error", "1", "standard error of the survival", {time_}, error);
    file_.number(name_, name + "_fraction", "1", "fraction of the realisations with a " + name + " before the end",
                 static_cast<double>(sorted.size()) / n);
    file_.number(name_, name + "_fraction_error", "1", "standard error of that fraction", error.back());
    file_.number(name_, name + "_mean", "s",
                 "mean time since burn-in until the first " + name +
                     ": waiting time of all realisations over the number of passages, infinite without any",
                 mean_time);
    file_.number(name_, name + "_mean_error", "s", "standard error of the mean time until the first " + name,
                 mean_error);
    file_.number(name_, name + "_count", "1", "realisations with a " + name + " since burn-in", count);
    file_.number(name_, name + "_rate", "1/s", "rate of the first " + name, count / waited);
    file_.number(name_, name + "_rate_error", "1/s", "standard error of the rate of the first " + name,
                 std::sqrt(std::max(count, 1.0)) / waited);
  }

  std::vector<double> write_per_realisation(const std::string& name, const std::string& units,
                                            const std::string& long_name, std::size_t column) {
    std::vector<double> values;
    for (std::size_t i = column; i < total_.per_realisation.size(); i += options_.measurements.per_realisation()) {
      values.push_back(total_.per_realisation[i]);
    }
    const Dimension realisation{"realisation", indices(static_cast<std::size_t>(options_.realisations)), "1",
                                "realisation, counted from 0"};
    array(name, units, long_name, {realisation}, values);
    return values;
  }

  void write_paths() {
    const auto count = static_cast<std::size_t>(std::min(options_.saved_paths, options_.realisations));
    if (count == 0) return;
    const std::size_t half = columns_.v();
    std::vector<double> q, v;
    for (std::size_t begin = 0; begin < total_.paths.size(); begin += 2 * half) {
      const auto from = total_.paths.begin() + static_cast<std::ptrdiff_t>(begin);
      q.insert(q.end(), from, from + static_cast<std::ptrdiff_t>(half));
      v.insert(v.end(), from + static_cast<std::ptrdiff_t>(half), from + static_cast<std::ptrdiff_t>(2 * half));
    }
    const Dimension path{"path", indices(count), "1", "realisation, counted from 0"};
    array("path_q", "m", "position", {path, time_, particle_, axis_}, q);
    array("path_v", "m/s", "velocity", {path, time_, particle_, axis_}, v);
  }

  const Experiment& experiment_;
  const EnsembleOptions& options_;
  const Case& case_;
  const EnsembleColumns& columns_;
  const EnsembleTotals& total_;
  ResultFile& file_;
  std::string name_;
  Dimension time_, lag_, particle_, axis_;
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
  if (options.burn_in == 0.0 && options.measurements.averages() == 0 && !options.max_lag) return;
  std::vector<std::string> names;
  std::vector<double> means;
  for (std::size_t i = 0; i < columns.particles; ++i) {
    names.push_back(fmt::format("the kinetic energy of particle {}", i));
    means.push_back(moments.averages.mean(columns.lags * columns.particles + i));
  }
  if (columns.particles > 1) {
    names.emplace_back("the kinetic energy of all particles");
    means.push_back(std::accumulate(means.begin(), means.end(), 0.0));
  }
  for (std::size_t i = 0; i < options.measurements.quantities.size(); ++i) {
    const MeasuredQuantity& quantity = options.measurements.quantities[i];
    if (quantity.at_end) continue;
    names.push_back(fmt::format("`{}`", quantity.name));
    means.push_back(moments.averages.mean(columns.measurements() - columns.correlation() +
                                          options.measurements.mean(i, columns.lags)));
  }
  std::vector<double> round_off;
  for (const double mean : means) round_off.push_back(16.0 * std::numeric_limits<double>::epsilon() * std::abs(mean));
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
