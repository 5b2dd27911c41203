// Slopes of logarithms of means over logarithms of steps.
// Tested by tests/study/ensemble_test.cpp.
#include "study/ensemble/slopes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace bathline {

Parameter slopes_parameter() {
  return {
      .name = "slopes",
      .type = ValueType::tables,
      .doc =
          "orders in the step: the slope of the mean of a quantity, such as an error, over the steps of several "
          "integrators",
      .members = {required("name", ValueType::text, "", "name in the result"),
                  required("of", ValueType::text, "", "name of the quantity"),
                  required("cases", ValueType::texts, "", "names of integrators with at least two different steps")}};
}

std::vector<EnsembleSlope> read_slopes(const Section& study, const Experiment& experiment,
                                       const Measurements& measurements, Mistakes& mistakes) {
  std::vector<EnsembleSlope> slopes;
  if (!study.has("slopes")) return slopes;
  std::set<std::string> names;  // in the group of the study, with those of the integrators
  for (const Case& this_case : experiment.cases()) names.insert(this_case.name);
  for (const Section& table : study.tables("slopes")) {
    EnsembleSlope slope{table.text("name"), 0, {}};
    if (!is_name(slope.name)) {
      mistakes.add(table.where("name"), fmt::format("`{}` must be a name of letters, digits and `_`", slope.name));
    }
    for (const char* suffix : {"_slope", "_slope_error"}) {
      if (names.insert(slope.name + suffix).second) continue;
      mistakes.add(
          table.where("name"),
          fmt::format("`{}`: an integrator or another slope has `{}{}` in the results already; choose another name",
                      slope.name, slope.name, suffix));
      break;
    }
    const auto& quantities = measurements.quantities;
    const auto quantity = std::find_if(quantities.begin(), quantities.end(), [&](const MeasuredQuantity& candidate) {
      return candidate.name == table.text("of");
    });
    if (quantity == quantities.end())
      mistakes.add(table.where("of"), "`of` must name one of the quantities of this study");
    slope.quantity = static_cast<std::size_t>(quantity - quantities.begin());
    std::set<double> steps;
    for (const std::string& label : table.texts("cases")) {
      const auto& cases = experiment.cases();
      const auto this_case = std::find_if(cases.begin(), cases.end(), [&](const Case& c) { return c.name == label; });
      if (this_case == cases.end()) {
        mistakes.add(table.where("cases"), fmt::format("no integrator has the name `{}`", label));
        continue;
      }
      steps.insert(this_case->step);
      slope.cases.push_back(static_cast<std::size_t>(this_case - cases.begin()));
    }
    if (steps.size() < 2) {
      mistakes.add(table.where("cases"), "a slope needs integrators with at least two different steps");
    }
    slopes.push_back(std::move(slope));
  }
  return slopes;
}

LineFit weighted_slope(std::span<const double> x, std::span<const double> y, std::span<const double> error) {
  std::vector<double> log_x, log_y, relative;
  for (std::size_t i = 0; i < x.size(); ++i) {
    log_x.push_back(std::log(x[i]));
    log_y.push_back(std::log(std::abs(y[i])));
    relative.push_back(error[i] / y[i]);
  }
  return fit_weighted_line(log_x, log_y, relative);
}

void write_slopes(const Experiment& experiment, const EnsembleOptions& options,
                  const std::vector<EnsembleTotals>& totals, ResultFile& file) {
  const std::size_t per_realisation = options.measurements.per_realisation();
  for (const EnsembleSlope& slope : options.slopes) {
    std::vector<double> steps, means, errors;
    for (const std::size_t index : slope.cases) {
      const std::vector<double>& all = totals[index].per_realisation;
      Moments moments(1);
      for (std::size_t i = slope.quantity; i < all.size(); i += per_realisation) moments.add({&all[i], 1});
      const Estimate estimate = moments.estimate(0, 1);
      steps.push_back(experiment.cases()[index].step);
      means.push_back(estimate.mean[0]);
      errors.push_back(estimate.error[0]);
    }
    const LineFit fit = weighted_slope(steps, means, errors);
    const std::string& quantity = options.measurements.quantities[slope.quantity].name;
    file.number("ensemble", slope.name + "_slope", "1", "order in the step of the mean of " + quantity, fit.slope);
    file.number("ensemble", slope.name + "_slope_error", "1", "standard error of that order", fit.error, true);
  }
}

}  // namespace bathline
