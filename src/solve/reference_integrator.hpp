// A numerically exact solution of the equations of motion of a small or medium system.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace bathline {

/// Gragg's modified midpoint rule with 2, 4, ..., 16 substeps, extrapolated to order up to 16 (hairer1993, section
/// II.9), with adaptive steps, on one rank. A state is q, p, actions and works; q' are velocities.
///
/// The error of a step is at most `tolerance` times the size of each number, and of a work that or the largest |p| |q'|
/// of a coordinate, and not less than what the rounding of q does to it. The size is the largest of the step, half of
/// that of the step before, and a millionth of the largest of all q, or of all p; from rest, where the size is below a
/// millionth of what the rate at the start or the end of the call makes in its duration, it is that. Results therefore
/// do not depend on units. Where a step can hardly be told from the rounding of time, as at a jump of the force, an
/// error 10^5 times as large is accepted.
class ReferenceIntegrator {
 public:
  using RightHandSide = std::function<void(double t, std::span<const double> x, std::span<double> derivative)>;
  /// A tolerance near which round-off limits the accuracy.
  static constexpr double default_tolerance = 1e-14;

  ReferenceIntegrator(int dofs, int actions, int works, RightHandSide right_hand_side,
                      double tolerance = default_tolerance);
  /// Advances x' = f(t, x) from the time `from` by `duration`, in place, with steps no longer than `duration`. False
  /// when the step size collapsed or the state is no longer finite.
  bool advance(std::span<double> x, double from, double duration);
  /// The step size with which the next call begins; 0 before the first.
  double step() const { return step_; }
  void set_step(double step) { step_ = step; }
  /// All on which the next calls depend besides the state; `set_memory` takes as many numbers.
  std::vector<double> memory() const;
  static std::size_t memory_size(int dofs, int actions, int works) {
    return static_cast<std::size_t>(3 * dofs + actions + works + 1);
  }
  void set_memory(std::span<const double> memory);

 private:
  static constexpr int columns = 8;
  /// The index of the column of the extrapolation that meets the tolerance, or -1. The increments are in `table_[0]`.
  int extrapolate(std::span<const double> x, double t, double dt, double permitted);
  /// The sizes that the rates make in a call.
  void estimate_sizes_from_rest(std::span<const double> x, double from, double duration);
  /// The increments of the modified midpoint rule.
  void midpoint(std::span<const double> x, double t, double dt, int substeps, std::vector<double>& increment);
  /// `slope`: f at x.
  void enlarge_sizes(std::span<const double> x, const std::vector<double>& slope);
  /// Of a component, or of q' behind them.
  double size(std::size_t i) const;
  /// The largest ratio of a change of the increments to the permitted one.
  double error(const std::vector<double>& change) const;
  /// Permits what the rounding of q does to the increments, by way of p to all others.
  void permit_roundoff(std::span<const double> x, double t, double dt);

  RightHandSide right_hand_side_;
  std::size_t dofs_, first_work_;
  double tolerance_;
  double step_ = 0.0;
  // Sizes by component, and of q' behind them: within this step, before it, and from rest.
  std::vector<double> now_, before_, from_rest_;
  std::vector<double> roundoff_;             // by component
  std::vector<double> start_slope_, slope_;  // f at the start of the step and at a substep
  std::vector<double> stage_, earlier_, change_, carry_;
  std::vector<std::vector<double>> table_;
};

}  // namespace bathline
