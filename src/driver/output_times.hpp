// The times at which studies that look at every step of the way keep what they found.
// Tested by tests/study/commutativity_test.cpp.
#pragma once

#include <algorithm>

#include "driver/experiment.hpp"
#include "record/result_file.hpp"

namespace bathline {

/// After every `[output] every` steps of a case and after its last step; not at the start.
inline Dimension output_times(const Experiment& experiment, const Case& one) {
  Dimension time{"time", {}, "s", "time"};
  const std::int64_t every = experiment.output().every;
  for (std::int64_t step = every; step < one.steps + every; step += every) {
    time.values.push_back(static_cast<double>(std::min(step, one.steps)) * one.step);
  }
  return time;
}

}  // namespace bathline
