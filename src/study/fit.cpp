// Parameters to data by nonlinear least squares, with intervals, correlations and the bias of the step.
// Tested by tests/study/fit_test.cpp.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "driver/resumable_tasks.hpp"
#include "random/normal_batch.hpp"
#include "random/streams.hpp"
#include "study/catalogue.hpp"
#include "study/fit/from_recipe.hpp"

namespace bathline {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The largest condition of tangents whose parameters count as determined: tangents by differences have 10 digits.
constexpr double max_condition = 1e8;

/// The probability below which residuals are not those of independent errors.
constexpr double least_probability = 1e-3;

/// What the residuals say about the fit.
struct Verdict {
  double chi_squared = 1.0;    ///< probability of such a sum of squares where their deviation is known, else 1
  double runs = 1.0;           ///< of as few changes of sign
  bool is_systematic = false;  ///< the motion is not that of the data, and intervals have no meaning
  double widening = 1.0;       ///< of intervals: the errors are larger than stated
};

/// "k by 1, m by 0.98": the changes of a combination, in percent of the parameters.
std::string combination(const std::vector<FitParameter>& parameters, const VectorXd& changes) {
  std::string text;
  for (std::size_t j = 0; j < parameters.size(); ++j) {
    const double change = changes[static_cast<Eigen::Index>(j)];
    if (std::abs(change) < 1e-3) continue;
    text += fmt::format("{}{} by {:.3g} %", text.empty() ? "" : ", ", parameters[j].name, change);
  }
  return text;
}

class FitStudy final : public Study {
 public:
  FitStudy(const Experiment& experiment, FitPlan plan) : experiment_(experiment), plan_(std::move(plan)) {}

  std::optional<CaseFailure> run(ResultFile& file, Progress& progress, Checkpoints& checkpoints) override {
    file.remove("fit");  // of a resumed run, which writes it again
    ResumableTasks tasks(checkpoints, {});
    for (const Case& this_case : experiment_.cases()) {
      if (std::optional<Failure> failure = fit(this_case, file, progress, tasks)) {
        return CaseFailure{this_case.name, *failure};
      }
      file.flush();
    }
    return std::nullopt;
  }

 private:
  std::optional<Failure> fit(const Case& this_case, ResultFile& file, Progress& progress, ResumableTasks& tasks) {
    const FitModel model = model_of(this_case, 1);
    const auto search = [&](const FitModel& by, const std::string& label, const VectorXd& start) {
      const auto predict = [&](const VectorXd& x) -> std::optional<Prediction> {
        const auto size = static_cast<std::size_t>(plan_.data.count() * (1 + x.size()));
        std::vector<double> numbers;
        tasks.next(this_case.name, by.steps(), size, numbers, [&](std::vector<double>& result) {
          result.assign(size, std::numeric_limits<double>::quiet_NaN());
          if (const auto found = by.predict(x)) std::copy_n(found->columns.data(), size, result.data());
          return std::nullopt;
        });
        if (std::isnan(numbers.front())) return std::nullopt;
        return Prediction{Eigen::Map<const MatrixXd>(numbers.data(), plan_.data.count(), 1 + x.size())};
      };
      return search_parameters(predict, measured(), plan_.parameters, start, plan_.options, experiment_.communicator(),
                               [&](const SearchReport& report) {
                                 if (plan_.starts > 1) return;  // a line for each search is enough
                                 spdlog::info("{}: iteration {}, sum of squares {:.6g}, gradient {:.2g}", label,
                                              report.iterations, 2.0 * report.value, report.residual);
                               });
    };
    FittedParameters fitted;
    std::vector<double> sums;
    for (int i = 0; i < plan_.starts; ++i) {
      const std::string label = plan_.starts > 1 ? fmt::format("{}, start {}", this_case.name, i) : this_case.name;
      FittedParameters found = search(model, label, start(i));
      const bool is_found = found.failure.empty();
      sums.push_back(is_found ? found.statistics.sum_of_squares : std::numeric_limits<double>::infinity());
      const bool is_better = is_found && !(fitted.failure.empty() && fitted.statistics.sum_of_squares <= sums.back());
      if (plan_.starts > 1) {
        spdlog::info("{}: sum of squares {:.6g} after {} iterations", label, sums.back(), found.iterations);
      }
      if (i == 0 || is_better) fitted = std::move(found);
    }
    if (!fitted.failure.empty()) return Failure{0, 0.0, fitted.failure};
    const std::string group = "fit/" + this_case.name;
    const Verdict verdict = judge(this_case.name, fitted);
    fitted.statistics.standard_error *= verdict.widening;
    fitted.statistics.half_width *= verdict.widening;
    write(group, fitted, verdict, sums, file);
    file.number(group, "exact_tangents", "1", "1 where tangents are runs of the linear problem, 0 where differences",
                model.has_tangents() ? 1.0 : 0.0);
    const FitStatistics& statistics = fitted.statistics;
    if (!(statistics.condition() <= max_condition)) {
      return Failure{
          0, 0.0,
          fmt::format("the data do not determine all parameters: a change of {} at once changes nothing "
                      "that is observed (the tangents have the condition {:.1e}, more than {:.0e}); leave "
                      "one of them out of `parameters`",
                      combination(plan_.parameters, statistics.weakest), statistics.condition(), max_condition)};
    }
    if (plan_.halve_step) {
      const FittedParameters halved = search(model_of(this_case, 2), this_case.name + ", half the step", fitted.x);
      if (!halved.failure.empty()) return Failure{0, 0.0, "with half the step: " + halved.failure};
      write_shift(group, this_case, fitted, halved.x - fitted.x, file);
    }
    if (plan_.repeats > 0) repeat(group, this_case.name, model, fitted, file, progress, tasks);
    return std::nullopt;
  }

  FitModel model_of(const Case& this_case, int refinement) const {
    return {plan_.recipe, experiment_.program(), this_case, plan_.data, plan_.parameters, refinement};
  }

  VectorXd measured() const {
    VectorXd values = plan_.data.values;
    for (Eigen::Index i = 0; i < values.size(); ++i) values[i] *= plan_.data.weights[i];
    return values;
  }

  /// The start of a search: that of the recipe, or a random one.
  VectorXd start(int index) const {
    VectorXd start(std::ssize(plan_.parameters));
    const RngKey key = streams::fit_starts.key(experiment_.seed(), static_cast<std::uint32_t>(index));
    for (Eigen::Index j = 0; j < start.size(); ++j) {
      const FitParameter& parameter = plan_.parameters[static_cast<std::size_t>(j)];
      start[j] = parameter.start;
      if (index == 0) continue;
      const auto place = static_cast<std::uint64_t>(j);
      const double away = plan_.spread * normal_pair(key, place).first;
      if (std::isfinite(parameter.lower) && std::isfinite(parameter.upper)) {
        start[j] = parameter.lower + (parameter.upper - parameter.lower) * uniform_pair(key, place).first;
      } else if (parameter.lower >= 0.0 && parameter.start > 0.0) {
        start[j] *= std::exp(away);
      } else {
        start[j] += parameter.scale * away;
      }
      start[j] = std::clamp(start[j], parameter.lower, parameter.upper);
    }
    return start;
  }

  /// Warns where the residuals are not those of independent errors.
  Verdict judge(const std::string& name, const FittedParameters& fitted) const {
    const FitStatistics& statistics = fitted.statistics;
    const VectorXd residuals = fitted.prediction.values() - measured();
    const double freedom = statistics.degrees_of_freedom, quotient = statistics.sum_of_squares / freedom;
    Verdict verdict{.runs = runs_probability(residuals, std::ssize(plan_.data.names))};
    std::string sum = fmt::format("the residuals have the deviation {:.3g}", std::sqrt(quotient));
    // Residuals that are far below the errors are those of the method.
    bool are_small = residuals.norm() < 1e-6 * measured().norm();
    if (plan_.options.deviation_is_known) {
      verdict.chi_squared = chi_squared_probability(statistics.sum_of_squares, freedom);
      if (verdict.chi_squared < least_probability) verdict.widening = std::sqrt(quotient);
      are_small = quotient < 0.1;
      sum = fmt::format("chi^2 is {:.4g} with {} degrees of freedom, of a probability of {:.1g}",
                        statistics.sum_of_squares, freedom, verdict.chi_squared);
    }
    verdict.is_systematic = verdict.runs < least_probability && !are_small;
    if (verdict.is_systematic) {
      spdlog::warn(
          "{}: the fitted motion is not that of the data: {}, and signs of residuals change as rarely as those of "
          "independent errors do with the probability {:.1g}; this may be another minimum: give better starts, or "
          "`starts = 20`, or another model. No interval is written",
          name, sum, verdict.runs);
    } else if (verdict.widening > 1.0) {
      spdlog::warn("{}: {}: the errors of the data are larger than `sigma`; intervals are widened by the factor {:.3g}",
                   name, sum, verdict.widening);
    }
    return verdict;
  }

  Dimension parameter_dimension(const char* name = "parameter") const {
    Dimension dimension{name, {}, "1", "parameter of the fit"};
    for (const FitParameter& parameter : plan_.parameters) dimension.names.push_back(parameter.name);
    return dimension;
  }

  static std::span<const double> all_of(const VectorXd& values) {
    return {values.data(), static_cast<std::size_t>(values.size())};
  }

  void write(const std::string& group, const FittedParameters& fitted, const Verdict& verdict,
             const std::vector<double>& sums, ResultFile& file) const {
    const FitStatistics& statistics = fitted.statistics;
    const Dimension parameters[] = {parameter_dimension(), parameter_dimension("other_parameter")};
    const auto write_parameters = [&](const char* name, const char* long_name, const VectorXd& values) {
      file.array(group, {name, "SI", long_name, {}}, std::span(parameters, 1), all_of(values));
    };
    write_parameters("value", "parameter at the least sum of squares", fitted.x);
    write_parameters("start", "parameter in the recipe", start(0));
    if (!verdict.is_systematic) {
      write_parameters("standard_error", "standard error", statistics.standard_error);
      write_parameters("half_width", "half of the width of the confidence interval", statistics.half_width);
    }
    Dimension searches{"search", {}, "1", "search, counted from 0, which begins with the numbers of the recipe"};
    for (std::size_t i = 0; i < sums.size(); ++i) searches.values.push_back(static_cast<double>(i));
    file.array(group,
               {"sum_of_squares_of_search", "1", "sum of the squared residuals; infinite where the search failed", {}},
               std::span(&searches, 1), sums);
    const MatrixXd& correlation = statistics.correlation;
    file.array(group, {"correlation", "1", "correlation of the errors of two parameters", {}}, parameters,
               {correlation.data(), static_cast<std::size_t>(correlation.size())});
    Dimension index{"singular_value", {}, "1", "singular value, counted from 0"};
    for (Eigen::Index i = 0; i < statistics.singular_values.size(); ++i) index.values.push_back(double(i));
    file.array(group, {"singular_values", "1", "singular values of the tangents, with columns of norm 1", {}},
               std::span(&index, 1), all_of(statistics.singular_values));
    const MeasuredValues& data = plan_.data;
    const Dimension points[] = {{"time", data.times, "s", "time"},
                                {"observable", {}, "1", "measured function of the state", data.names}};
    VectorXd values = fitted.prediction.values();
    for (Eigen::Index i = 0; i < values.size(); ++i) values[i] /= data.weights[i];
    file.array(group, {"data", "SI", "measured value", {}}, points, all_of(data.values));
    file.array(group, {"fitted", "SI", "value of the fitted run", {}}, points, all_of(values));
    file.array(group, {"residual", "1", "weighted difference of the fitted and the measured value", {}}, points,
               all_of(fitted.prediction.values() - measured()));
    const auto number = [&](const char* name, const char* long_name, double value) {
      file.number(group, name, "1", long_name, value, true);
    };
    number("condition", "quotient of the largest and the smallest singular value", statistics.condition());
    number("sum_of_squares", "sum of the squared residuals", statistics.sum_of_squares);
    number("degrees_of_freedom", "number of measured values less that of parameters", statistics.degrees_of_freedom);
    number("deviation", "standard deviation of a residual, estimated",
           std::sqrt(statistics.sum_of_squares / statistics.degrees_of_freedom));
    if (plan_.options.deviation_is_known) {
      number("chi_squared_probability", "probability that errors have a larger sum of squares", verdict.chi_squared);
    }
    number("runs_probability",
           "probability that signs of independent errors change as rarely as those of the residuals", verdict.runs);
    number("iterations", "iterations of the search", fitted.iterations);
    number("evaluations", "evaluations of the residuals and their tangents", fitted.evaluations);
  }

  void write_shift(const std::string& group, const Case& this_case, const FittedParameters& fitted,
                   const VectorXd& shift, ResultFile& file) const {
    const Dimension parameter = parameter_dimension();
    file.array(group, {"step_shift", "SI", "parameter fitted with half the step less that with the step", {}},
               std::span(&parameter, 1), all_of(shift));
    for (Eigen::Index j = 0; j < shift.size(); ++j) {
      const double share = std::abs(shift[j]) / fitted.statistics.half_width[j];
      if (!(share > 0.25)) continue;
      spdlog::warn(
          "{}: with half the step {} changes by {:.2g}, {:.2g} half-widths of its interval: the step biases "
          "it; take a shorter step, or an integrator of higher order",
          this_case.name, plan_.parameters[static_cast<std::size_t>(j)].name, shift[j], share);
    }
  }

  /// The noise of a repeated experiment, for weighted values.
  VectorXd noise(std::int64_t repeat, double deviation) const {
    VectorXd numbers(plan_.data.count());
    fill_normals(streams::repeated_data.key(experiment_.seed(), static_cast<std::uint32_t>(repeat)), 0,
                 {numbers.data(), static_cast<std::size_t>(numbers.size())});
    return deviation * numbers;
  }

  /// Fits data that the fitted parameters and noise of the estimated size would give.
  void repeat(const std::string& group, const std::string& name, const FitModel& model, const FittedParameters& fitted,
              ResultFile& file, Progress& progress, ResumableTasks& tasks) const {
    const auto predict = [&](const VectorXd& x) { return model.predict(x); };
    const Eigen::Index count = fitted.x.size();
    std::vector<double> values, half_widths;
    VectorXd covered = VectorXd::Zero(count);
    progress.begin(name + " repeated", plan_.repeats, {.name = "fit"});
    for (std::int64_t i = 0; i < plan_.repeats; ++i) {
      std::vector<double> numbers;
      const auto fit_again = [&](std::vector<double>& result) -> std::optional<Failure> {
        const VectorXd again = fitted.prediction.values() + noise(i, fitted.statistics.deviation);
        const FittedParameters repeated =
            search_parameters(predict, again, plan_.parameters, fitted.x, plan_.options, experiment_.communicator());
        result.assign(2 * static_cast<std::size_t>(count), std::numeric_limits<double>::quiet_NaN());
        if (!repeated.failure.empty()) return std::nullopt;
        const auto end = std::copy(repeated.x.begin(), repeated.x.end(), result.begin());
        std::copy(repeated.statistics.half_width.begin(), repeated.statistics.half_width.end(), end);
        return std::nullopt;
      };
      tasks.next(name, 5 * model.steps(), 2 * static_cast<std::size_t>(count), numbers, fit_again);
      if (tasks.was_restored()) progress.skip(i + 1);
      for (Eigen::Index j = 0; j < count; ++j) {
        const double value = numbers[static_cast<std::size_t>(j)];
        const double half_width = numbers[static_cast<std::size_t>(count + j)];
        values.push_back(value);
        half_widths.push_back(half_width);
        if (std::abs(value - fitted.x[j]) <= half_width) covered[j] += 1.0;
      }
      progress.update(i + 1);
    }
    progress.end();
    Dimension repeats{"repeat", {}, "1", "repeated experiment, counted from 0"};
    for (std::int64_t i = 0; i < plan_.repeats; ++i) repeats.values.push_back(static_cast<double>(i));
    const Dimension dimensions[] = {repeats, parameter_dimension()};
    file.array(group, {"repeated_value", "SI", "parameter fitted to a repeated experiment", {}}, dimensions, values);
    file.array(group, {"repeated_half_width", "SI", "half-width of its interval", {}}, dimensions, half_widths);
    file.array(group,
               {"coverage", "1", "fraction of the intervals of repeated experiments that contain the parameter", {}},
               std::span(&dimensions[1], 1), all_of(covered / static_cast<double>(plan_.repeats)));
  }

  const Experiment& experiment_;
  FitPlan plan_;
};

}  // namespace

StudyKind fit_kind() {
  return {
      .entry =
          {.name = "fit",
           .summary = "parameters of a system or environment from measured data, with confidence intervals",
           .equation = "minimise |r|^2, r_i = (f(q, v, t_i) - data_i)/sigma;  intervals by s^2 (J^T J)^-1",
           .source = "seber2003, sections 2.1 and 5.1; bates1988; nocedal2006, section 10.3; wald1940",
           .keywords = {"least squares", "parameter estimation", "system identification", "inverse problem",
                        "gauss-newton"},
           .parameters = fit_parameters(),
           .notes =
               "Group fit/<integrator>: value, start, standard_error, half_width of the interval, step_shift "
               "(parameter), correlation (parameter, other_parameter), singular_values, condition, data, fitted, "
               "residual (time, observable), sum_of_squares, degrees_of_freedom, deviation, runs_probability, "
               "iterations, evaluations, exact_tangents, sum_of_squares_of_search (search); with `sigma` "
               "chi_squared_probability; "
               "with `repeats` repeated_value, repeated_half_width (repeat, parameter) and coverage (parameter). "
               "Each integrator is fitted by itself, by Gauss-Newton's method with Levenberg and Marquardt's damping "
               "(TAO's brgn; options -tao_...). Tangents are runs of the linear problem along the path, with what a "
               "parameter changes there, exactly for `parameters` of smooth formulas and else by differences of order "
               "4: an evaluation is one run and one for each "
               "parameter, and four along the path for each of an environment. Where a time is no whole number of "
               "steps, for typed Lagrangians and contact systems, nonlinear environments and couplings, in a magnetic "
               "field, and under `exact`, `rk4` and `explicit-euler`, they are central differences of runs, good to "
               "about ten digits, and exact_tangents is 0. With `sigma` "
               "intervals are of the normal distribution, else of Student's with the estimated deviation. Residuals "
               "whose signs change so rarely that independent errors do so with a probability below 0.001 (Wald and "
               "Wolfowitz's test of runs) are not errors: the search ended in another minimum, or the model is wrong. "
               "Then there is a warning, and no standard_error and half_width. Where only the sum of squares is too "
               "large for `sigma`, with the same probability, both are multiplied by the root of it over the degrees "
               "of freedom, and there is a warning. step_shift "
               "is the parameter fitted with half the step less that fitted with the step: of a method of order p the "
               "bias of the latter is about -2^p/(2^p - 1) of it, and a warning is given above a quarter of a "
               "half-width. Where the singular values of the tangents, with columns of norm 1, differ by more than "
               "1e8, the data do not determine the parameters: the run fails and names the combination that they do "
               "not see. Between steps the path is a polynomial of degree 5. `repeats` draws data from the fitted "
               "motion and normal errors. Runs with noise or thermal starts are refused."},
      .make = [](const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) -> std::unique_ptr<Study> {
        check_least_squares_options();
        return std::make_unique<FitStudy>(experiment, read_fit_plan(recipe, experiment, mistakes));
      },
      .allows_own_ends = true,
      .looks_at_particles = true,
      .takes_any_lagrangian = true};
}

}  // namespace bathline
