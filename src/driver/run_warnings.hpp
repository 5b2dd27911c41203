// Warnings about cases that can run, but may not show what their author expects.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driver/experiment.hpp"

namespace bathline {

/// Warnings and notes in the order in which they are added.
class RunWarnings {
 public:
  /// `recipe`, from which `experiment` was made, and `experiment` must outlive this.
  RunWarnings(const Recipe& recipe, const Experiment& experiment) : recipe_(recipe), experiment_(experiment) {}

  const std::vector<std::string>& warnings() const { return warnings_; }
  /// The slowest decay of warm runs.
  const std::vector<std::string>& notes() const { return notes_; }

  template <class... Values>
  void warn(fmt::format_string<Values...> text, Values&&... values) {
    warnings_.push_back(fmt::format(text, std::forward<Values>(values)...));
  }
  /// A step that does not divide the end.
  void add_end(const Case& this_case);
  /// What the environments of a case cannot do: an echo before the end, a band edge below the particles' frequencies, a
  /// grid that is exact for another gamma, motions that nothing damps, a start of sites that open runs leave out.
  void add_limits(const Case& this_case, const Problem& problem);
  /// Damping or temperature of [system] that closed runs leave out, or a temperature without effect on any run.
  void add_unused_keys(const std::function<const Problem&(std::size_t index)>& problem_of);

 private:
  /// A bound mode above the band edges, which the noise of a closed run cannot thermalise.
  void add_bound_modes(const Case& this_case, const Problem& problem);
  /// Motions that no environment damps, or hardly.
  void add_dark_motions(const Case& this_case, const Problem& problem);
  /// The start of a line's sites, which open runs leave out.
  void add_unused_starts(const Case& open_case);
  /// A grid that is exact for another gamma than the integrator's.
  void add_mismatched_grids(const Case& this_case, const Problem& problem);

  const Recipe& recipe_;
  const Experiment& experiment_;
  std::optional<double> particle_frequency_;
  std::vector<std::string> warnings_, notes_;
};

}  // namespace bathline
