// Measured values in a cost.
// Tested by tests/costates/gradient_test.cpp.
#include "study/with_costates/mismatch.hpp"

#include <fmt/format.h>

#include <cmath>

#include "model/table_file.hpp"
#include "study/fit/from_recipe.hpp"

namespace bathline {

using Eigen::VectorXd;

std::optional<Mismatch> Mismatch::read(const Section& study, const CostVariables& variables,
                                       const Experiment& experiment, Mistakes& mistakes) {
  if (!study.has("observe")) {
    mistakes.add(study.where("data_file"), "data_file: give `observe` as well, the formulas that were measured");
    return std::nullopt;
  }
  Section with_texts = study;
  keep_texts_of_files(with_texts, experiment.communicator());
  const std::size_t before = mistakes.count();
  Mismatch mismatch;
  where_readable([&] {
    const FitData data = read_fit_data(with_texts, experiment, mistakes);
    mismatch.times_ = data.times;
    mismatch.weights_ = data.weights;
    mismatch.data_ = data.values;
    for (std::size_t i = 0; i < data.names.size(); ++i) {
      if (auto formula = CostFormula::read(study, "observe", variables, experiment.system(), mistakes, i)) {
        mismatch.formulas_.push_back(std::move(*formula));
      }
    }
    for (const Case& this_case : experiment.cases()) {
      for (const double time : data.times) {
        const double steps = time / this_case.step;
        if (std::abs(steps - std::round(steps)) <= 1e-9 * std::max(1.0, steps)) continue;
        mistakes.add(study.where("data_file"),
                     fmt::format("data_file: the time {} is no whole number of steps {} of {}; the study `fit` takes "
                                 "any times",
                                 time, this_case.step, this_case.name));
        throw UnreadableValue();
      }
    }
  });
  if (mistakes.count() > before || mismatch.formulas_.empty()) return std::nullopt;
  return mismatch;
}

std::vector<std::int64_t> Mismatch::steps(double h) const {
  std::vector<std::int64_t> steps;
  for (const double time : times_) steps.push_back(std::llround(time / h));
  return steps;
}

double Mismatch::value(std::size_t time, const VectorXd& variables) const {
  double sum = 0.0;
  for (std::size_t i = 0; i < formulas_.size(); ++i) {
    const auto index = static_cast<Eigen::Index>(i);
    const double difference =
        formulas_[i].value(variables) - data_[static_cast<Eigen::Index>(time) * weights_.size() + index];
    sum += 0.5 * std::pow(weights_[index] * difference, 2);
  }
  return sum;
}

void Mismatch::add_gradient(std::size_t time, const VectorXd& variables, VectorXd& slopes) const {
  VectorXd of_formula;
  for (std::size_t i = 0; i < formulas_.size(); ++i) {
    const auto index = static_cast<Eigen::Index>(i);
    const double difference =
        formulas_[i].value(variables) - data_[static_cast<Eigen::Index>(time) * weights_.size() + index];
    formulas_[i].gradient(variables, of_formula);
    slopes += (weights_[index] * weights_[index] * difference) * of_formula;
  }
}

std::vector<Parameter> mismatch_parameters() {
  return {optional("data_file", ValueType::text, "",
                   "adds the mismatch to measured values, half the sum of squares of (f - value)/sigma, to the cost: "
                   "a file with a time in every line, in increasing order and after whole steps, and the value of each "
                   "formula of `observe`"),
          optional("observe", ValueType::texts, "",
                   "what was measured: formulas in the coordinates, the velocities (with `_dot`), `t` and the "
                   "`parameters` of the system"),
          optional("sigma", ValueType::numbers, "",
                   "standard deviations of the measured values, one for all or one for each formula; default: 1",
                   Bound::positive),
          optional("weights", ValueType::numbers, "", "in place of `sigma`: weights of the squares", Bound::positive)};
}

}  // namespace bathline
