// Measured values in a cost.
// Tested by tests/costates/gradient_test.cpp.
#include "study/with_costates/mismatch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/table_file.hpp"

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
  Mismatch mismatch;
  bool is_read = false;
  completes([&] {
    mismatch.data_ = read_fit_data(with_texts, experiment, variables, true, mistakes);
    for (const Case& this_case : experiment.cases()) {
      const std::vector<double>& times = mismatch.data_.times;
      const auto between =
          std::find_if_not(times.begin(), times.end(), [&](double time) { return whole_steps(time, this_case.step); });
      if (between == times.end()) continue;
      mistakes.add(study.where("data_file"),
                   fmt::format("data_file: the time {} is no whole number of steps {} of {}; the study `fit` takes "
                               "any times",
                               *between, this_case.step, this_case.name));
      throw InvalidValue();
    }
    is_read = true;
  });
  if (!is_read) return std::nullopt;
  return mismatch;
}

std::vector<std::int64_t> Mismatch::steps(double h) const {
  std::vector<std::int64_t> steps;
  for (const double time : data_.times) steps.push_back(std::llround(time / h));
  return steps;
}

double Mismatch::value(std::size_t time, const VectorXd& variables) const {
  double sum = 0.0;
  for (std::size_t i = 0; i < data_.formulas.size(); ++i) {
    sum += 0.5 * std::pow(data_.residual(time, i, data_.formulas[i].value(variables)), 2);
  }
  return sum;
}

void Mismatch::add_gradient(std::size_t time, const VectorXd& variables, VectorXd& slopes) const {
  VectorXd of_formula;
  for (std::size_t i = 0; i < data_.formulas.size(); ++i) {
    const double residual = data_.residual(time, i, data_.formulas[i].value(variables));
    data_.formulas[i].gradient(variables, of_formula);
    slopes += (data_.weights[static_cast<Eigen::Index>(i)] * residual) * of_formula;
  }
}

}  // namespace bathline
