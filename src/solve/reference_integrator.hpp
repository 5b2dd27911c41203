// A numerically exact solution of a small or medium system of ordinary differential equations.
#pragma once

#include <functional>
#include <memory>
#include <span>

namespace bathline {

/// Adaptive Runge-Kutta of order 8 (verner2010, through PETSc's TS) with tolerances near round-off, on one rank.
/// Options with the prefix `-reference_`.
class ReferenceIntegrator {
 public:
  using RightHandSide = std::function<void(double t, std::span<const double> x, std::span<double> derivative)>;
  ReferenceIntegrator(int size, RightHandSide right_hand_side);
  ~ReferenceIntegrator();
  /// Advances x' = f(t, x) from the time `from` by `duration`, in place. False when the step size collapsed or the
  /// state is no longer finite. Not collective.
  bool advance(std::span<double> x, double from, double duration);
  /// The step size that the controller proposes, with which the next call begins; 0 before the first.
  double step() const;
  void set_step(double step);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bathline
