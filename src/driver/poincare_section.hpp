// Poincare and stroboscopic sections of a trajectory.
//
// Between two steps the trajectory is interpolated by the polynomial of quintic_hermite.hpp, on which the crossing is
// located to round-off: the errors of its time and positions are O(h^6), of its momenta O(h^5), in addition to the
// integrator's. Source: henon1982, who reaches the surface by a step in the crossed coordinate instead.
#pragma once

#include "driver/archive.hpp"
#include "driver/quintic_hermite.hpp"
#include "driver/output_plan.hpp"
#include "record/result_file.hpp"

namespace bathline {

/// Writes poincare_q and poincare_p, (poincare_time, particle, axis), to the group of a trajectory.
class PoincareSection {
 public:
  /// `group` must contain a trajectory already. @note Collective.
  PoincareSection(const PoincarePlan& plan, ResultFile& file, const std::string& group, const Problem& problem);
  /// To be called at the start and after every step with the state at `time`. Works on rank 0 alone.
  void update(const Problem& problem, double time);
  /// @note Collective.
  void flush() { series_.flush(); }
  /// Flushes if many points are buffered. @note Collective.
  void flush_if_full(const Communicator& communicator);
  /// Declares the state on which later points depend; call `flush` before. @note Collective.
  void serialise(Archive& archive);

 private:
  /// The function less its value at the fraction `s` between the last state and `now`.
  double value_between(const HermiteNode& now, double s) const;
  bool is_crossing(double before, double after) const;
  /// The fraction, 0 to 1, between the last state and `now` at which that reaches zero.
  double crossing(const HermiteNode& now) const;
  void add(const Problem& problem, const HermiteNode& now, double s);

  PoincarePlan plan_;
  Eigen::VectorXd mass_;
  HermiteNode last_;
  double last_value_ = 0.0;
  bool has_begun_ = false;
  std::int64_t points_ = 0;
  SeriesWriter series_;
  std::vector<double> row_;
};

}  // namespace bathline
