// The steps and times at which studies record their results.
// Tested by tests/study/commutativity_test.cpp.
#pragma once

#include <algorithm>
#include <vector>

#include "driver/experiment.hpp"
#include "record/result_file.hpp"

namespace bathline {

/// The number of records of a case: at the start, after every `every` steps, and after the last step.
inline std::int64_t record_count(const Case& this_case, std::int64_t every) {
  return (this_case.steps + every - 1) / every + 1;
}
/// The steps of these records.
inline std::vector<std::int64_t> record_steps(const Case& this_case, std::int64_t every) {
  std::vector<std::int64_t> steps;
  for (std::int64_t i = 0; i < record_count(this_case, every); ++i) {
    steps.push_back(std::min(i * every, this_case.steps));
  }
  return steps;
}

/// After every `[output] every` steps of a case and after its last step; not at the start.
inline Dimension output_times(const Experiment& experiment, const Case& this_case) {
  Dimension time{"time", {}, "s", "time"};
  for (const std::int64_t step : record_steps(this_case, experiment.output().every)) {
    if (step > 0) time.values.push_back(static_cast<double>(step) * this_case.step);
  }
  return time;
}

}  // namespace bathline
