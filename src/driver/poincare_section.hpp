// Poincare and stroboscopic sections of a trajectory.
//
// Between two steps the motion is the polynomial of hermite_path.hpp, on which the crossing is found to round-off: its
// time and the positions err by O(h^6), the momenta by O(h^5), beside what the integrator itself errs. Source:
// henon1982 for the idea of landing on the surface, there by a step along the crossed coordinate.
#pragma once

#include <optional>

#include "driver/archive.hpp"
#include "driver/quintic_hermite.hpp"
#include "driver/poincare_plan.hpp"
#include "record/result_file.hpp"

namespace bathline {

/// Writes poincare_q and poincare_p, (poincare_time, particle, axis), to the group of a trajectory.
class PoincareSection {
 public:
  static constexpr const char* group_of_checkpoint = "section";

  /// `from`: goes on after the points that the checkpoint knows of; those behind them are cut off. `group` has a
  /// trajectory already. @note Collective.
  PoincareSection(const PoincarePlan& plan, ResultFile& file, const std::string& group, const Problem& problem,
                  const CheckpointReader* from);
  /// To be told of every step: the state of the problem at `time`. The first call is the start. Looks at rank 0 alone.
  void update(const Problem& problem, double time);
  /// @note Collective.
  void flush() { series_.flush(); }
  /// Declares all that later points depend on. What belongs to the file must have been flushed. @note Collective.
  void serialise(Archive& archive);

 private:
  std::optional<std::int64_t> restore(const CheckpointReader* from);
  /// How far `of` is beyond its value between the last state and `now`.
  double value_between(const HermiteNode& now, double s) const;
  bool is_crossed_by(double before, double after) const;
  /// Where between the last state and `now` the value reaches zero; 0 and 1 are the two.
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
