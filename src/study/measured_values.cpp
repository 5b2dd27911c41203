// Reading measured values, and how far a run is from them.
// Tested by tests/study/fit_test.cpp.
#include "study/measured_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "model/table_file.hpp"

namespace bathline {

using Eigen::VectorXd;

namespace {

/// Numbers at `key`, one for all observables or one for each.
VectorXd read_by_observable(const Section& study, const char* key, std::size_t count, Mistakes& mistakes) {
  const std::vector<double>& numbers = study.numbers(key);
  VectorXd all(static_cast<Eigen::Index>(count));
  if (numbers.size() != 1 && numbers.size() != count) {
    mistakes.add(study.where(key), fmt::format("{} has {} numbers: must be one, or {}, one for each formula of "
                                               "`observe`",
                                               key, numbers.size(), count));
    throw InvalidValue();
  }
  for (std::size_t i = 0; i < count; ++i) all[static_cast<Eigen::Index>(i)] = numbers[numbers.size() == 1 ? 0 : i];
  return all;
}

}  // namespace

std::optional<std::int64_t> whole_steps(double time, double h) {
  const double steps = time / h, nearest = std::round(steps);
  if (std::abs(steps - nearest) > 1e-9 * std::max(1.0, nearest)) return std::nullopt;
  return static_cast<std::int64_t>(nearest);
}

std::vector<std::int64_t> MeasuredValues::steps(double h) const {
  std::vector<std::int64_t> steps;
  for (const double time : times) steps.push_back(std::llround(time / h));
  return steps;
}

double MeasuredValues::residual(std::size_t time, std::size_t formula, const VectorXd& variables) const {
  const auto index = static_cast<Eigen::Index>(time * formulas.size() + formula);
  return weights[index] * (formulas[formula].value(variables) - values[index]);
}

double MeasuredValues::cost(std::size_t time, const VectorXd& variables) const {
  double sum = 0.0;
  for (std::size_t i = 0; i < formulas.size(); ++i) sum += 0.5 * std::pow(residual(time, i, variables), 2);
  return sum;
}

void MeasuredValues::add_gradient(std::size_t time, const VectorXd& variables, VectorXd& slopes) const {
  VectorXd gradient;
  for (std::size_t i = 0; i < formulas.size(); ++i) {
    formulas[i].gradient(variables, gradient);
    const double weight = weights[static_cast<Eigen::Index>(time * formulas.size() + i)];
    slopes += (weight * residual(time, i, variables)) * gradient;
  }
}

MeasuredValues read_measured_values(Section study, const Experiment& experiment, const CostVariables& variables,
                                    bool are_smooth, Mistakes& mistakes) {
  if (!study.has("observe")) {
    mistakes.add(study.where("data_file"), "data_file: give `observe` as well, the formulas that were measured");
    throw InvalidValue();
  }
  keep_texts_of_files(study, experiment.communicator());
  MeasuredValues data;
  data.names = study.texts("observe");
  const std::size_t count = data.names.size();
  const std::size_t before = mistakes.count();
  if (count == 0) mistakes.add(study.where("observe"), "observe = []: name at least one measured formula");
  if (study.has("sigma") && study.has("weights")) {
    mistakes.add(study.where("weights"), "`weights` are relative and `sigma` is absolute; leave one of them out");
  }
  if (mistakes.count() > before) throw InvalidValue();
  const bool has_errors = study.holds<std::string>("sigma");
  const VectorXd weights =
      study.has("sigma") && !has_errors ? read_by_observable(study, "sigma", count, mistakes).cwiseInverse().eval()
      : study.has("weights")            ? read_by_observable(study, "weights", count, mistakes).cwiseSqrt().eval()
                                        : VectorXd::Ones(static_cast<Eigen::Index>(count)).eval();
  if (count > 1 && !study.has("sigma") && !study.has("weights")) {
    mistakes.add(study.where("observe"), "several observables need `sigma`, their standard deviations, or `weights`");
    throw InvalidValue();
  }
  TableForm form{.row = "measurements",
                 .first = {"time", "s", Bound::nonnegative},
                 .second = {"value", "in the order of `observe`", Bound::any},
                 .rising = true,
                 .columns = 1 + count,
                 .advice =
                     "leave out the other columns, or give `sigma = \"file\"` where the standard deviation of each "
                     "value follows it"};
  if (has_errors) {
    form.second.units = "each before its standard deviation, in the order of `observe`";
    form.error = TableForm::Column{"standard deviation", "", Bound::positive};
    form.columns = 1 + 2 * count;
    form.advice = "leave out the other columns";
  }
  const std::string& name = study.text("data_file");
  try {
    const std::vector<std::vector<double>> columns = read_columns(study, name, form);
    data.times = columns[0];
    data.values.resize(static_cast<Eigen::Index>(columns[0].size() * count));
    data.weights = weights.replicate(std::ssize(data.times), 1);
    for (std::size_t i = 0; i < data.times.size(); ++i) {
      for (std::size_t j = 0; j < count; ++j) {
        const auto index = static_cast<Eigen::Index>(i * count + j);
        data.values[index] = columns[has_errors ? 1 + 2 * j : 1 + j][i];
        if (has_errors) data.weights[index] = 1.0 / columns[2 + 2 * j][i];
      }
    }
  } catch (const std::runtime_error& error) {
    mistakes.add(study.where("data_file"), fmt::format("data_file = \"{}\": {}", name, error.what()));
    throw InvalidValue();
  }
  for (const Case& this_case : experiment.cases()) {
    const double end = static_cast<double>(this_case.steps) * this_case.step;
    if (data.times.back() <= end * (1.0 + 1e-9)) continue;
    mistakes.add(study.where("data_file"), fmt::format("data_file = \"{}\": the last time {} is after the end {} of "
                                                       "the run; set `end` in [time] accordingly",
                                                       name, data.times.back(), end));
    throw InvalidValue();
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::optional<CostFormula> formula =
        CostFormula::read(study, "observe", variables, experiment.system(), mistakes, i, are_smooth);
    if (!formula) throw InvalidValue();
    data.formulas.push_back(std::move(*formula));
  }
  return data;
}

void refuse_times_between_steps(const MeasuredValues& data, const Section& study, const Experiment& experiment,
                                Mistakes& mistakes) {
  for (const Case& this_case : experiment.cases()) {
    const auto between = std::ranges::find_if_not(
        data.times, [&](double time) { return whole_steps(time, this_case.step).has_value(); });
    if (between == data.times.end()) continue;
    mistakes.add(study.where("data_file"),
                 fmt::format("data_file: the time {} is no whole number of steps {} of {}; the study `fit` takes any "
                             "times",
                             *between, this_case.step, this_case.name));
    throw InvalidValue();
  }
}

std::vector<Parameter> data_parameters(bool is_required) {
  std::vector<Parameter> parameters = {
      optional("data_file", ValueType::text, "",
               "name of a file with measured values: in every line a time in s, in increasing order, and the value of "
               "each formula of `observe`"),
      optional("observe", ValueType::texts, "",
               "what was measured: formulas in the coordinates, the velocities (with `_dot`), `t` and the `parameters` "
               "of the system"),
      optional(
          "sigma", ValueType::numbers, "",
          "standard deviations of the measured values, one for all or one for each formula; \"file\": that of each "
          "value follows it in the file",
          Bound::positive),
      optional("weights", ValueType::numbers, "",
               "in place of `sigma`: weights of the squares, inverse variances up to a factor", Bound::positive)};
  parameters[0].required = parameters[1].required = is_required;
  parameters[2].alternative_types = {ValueType::text};
  parameters[2].choices = {"file"};
  return parameters;
}

}  // namespace bathline
