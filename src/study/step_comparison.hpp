// Studies that take runs a second time, one step after the other, to compare every step with another computation of it.
#pragma once

#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "driver/experiment.hpp"
#include "driver/study.hpp"
#include "study/theory/contact_step.hpp"

namespace bathline {

/// A quantity of a comparison, as it is written.
struct ComparedQuantity {
  const char *name, *units, *what;
};

/// The largest values of several quantities, each since the previous record, by record, and overall. Values that are
/// NaN do not count; without any the largest value is `none`.
class LargestValues {
 public:
  explicit LargestValues(std::size_t quantities, double none = 0.0)
      : none_(none), since_record_(quantities, none), overall_(quantities, none), by_record_(quantities) {}

  void add(std::size_t quantity, double value) {
    for (double* largest : {&since_record_[quantity], &overall_[quantity]}) *largest = std::fmax(*largest, value);
  }
  void add(std::size_t quantity, const Eigen::VectorXd& values) { add(quantity, values.cwiseAbs().maxCoeff()); }
  void end_record();
  const std::vector<double>& by_record(std::size_t quantity) const { return by_record_[quantity]; }
  double overall(std::size_t quantity) const { return overall_[quantity]; }

 private:
  double none_;
  std::vector<double> since_record_, overall_;
  std::vector<std::vector<double>> by_record_;
};

/// What compares the steps of a run.
struct StepComparison {
  std::string label;   ///< of the progress
  std::string reason;  ///< of the failure at a step that cannot be compared
  /// Whether the step could be compared. On rank 0, as `end_record`, up to the first step that could not.
  std::function<bool(const ParticleState& before, const ParticleState& after)> compare;
  std::function<void()> end_record;  ///< follows the last step of every record
};

/// Advances `problem`, which is at its start, by the steps of the case, with `every` steps between two records. @note
/// Collective.
std::optional<Failure> compare_steps(const Case& this_case, std::int64_t every, Problem& problem, Progress& progress,
                                     const StepComparison& comparison);

/// A study that records all runs, and then examines some of them a second time.
class SecondRunStudy : public Study {
 public:
  explicit SecondRunStudy(const Experiment& experiment) : experiment_(experiment) {}
  std::optional<CaseFailure> run(ResultFile& file, Progress& progress, Checkpoints& checkpoints) final;

 protected:
  virtual bool is_examined(const Case& this_case) const = 0;
  /// Examines a run and writes the results. @note Collective.
  virtual std::optional<Failure> examine(const Case& this_case, ResultFile& file, Progress& progress) = 0;

  const Experiment& experiment_;
};

}  // namespace bathline
