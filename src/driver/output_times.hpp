// The times at which studies that evaluate every step record their results.
// Tested by tests/study/commutativity_test.cpp.
#pragma once

#include <algorithm>

#include "driver/experiment.hpp"
#include "record/result_file.hpp"

namespace bathline {

/// After every `[output] every` steps of a case and after its last step; not at the start.
inline Dimension output_times(const Experiment& experiment, const Case& this_case) {
  Dimension time{"time", {}, "s", "time"};
  const std::int64_t every = experiment.output().every;
  for (std::int64_t step = every; step < this_case.steps + every; step += every) {
    time.values.push_back(static_cast<double>(std::min(step, this_case.steps)) * this_case.step);
  }
  return time;
}

}  // namespace bathline
