// One step of a scheme on all modes, in passes over memory.
//
// A step is linear in the state (w, p) of a mode and in positions x_i of the head, its inputs; what the head needs are
// sums over the modes, at places within the step:
//
//   (w, p)+ = M (w, p) + sum_i B_i x_i,   sum_o = sum over modes of C_o (w, p),
//   force on the head at place o = sum_o + sum_i R_oi x_i + direct x
//
// with x the position of the head there. A pass advances by steps with known inputs, then adds up the sums of the steps
// that follow, with the head at 0; the responses R to the inputs of these are the same for all passes.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "methods/scheme.hpp"
#include "model/modes/state.hpp"

namespace bathline {

class ModePass {
 public:
  virtual ~ModePass() = default;

  /// What a substep or stage takes and gives; -1: nothing. A kick has the force at its sum.
  struct Place {
    int input = -1, sum = -1;
  };
  /// By substep of a splitting, or by stage.
  const std::vector<Place>& plan() const { return plan_; }
  int inputs() const { return inputs_; }
  /// The first sum of a step is number `step` times this. Sum 0 is always that of k w.
  int sums_per_step() const { return sums_per_step_; }
  int sums(int steps) const { return steps * sums_per_step_ + 1; }
  double direct() const { return direct_; }
  /// Advances by `steps` with the `inputs` by axis, then step, the same on every rank; `totals` gets the sums on rank 0
  /// by axis, for as many of the next steps as it has room for. @note Collective.
  void run(int steps, std::span<const double> inputs, std::span<double> totals);
  /// Computes what `run` needs of the modes, which are prepared by now. Returns R, the sums of `steps` steps after a
  /// unit input in the first one, input by input, on rank 0. @note Collective.
  virtual std::vector<double> prepare(int steps) = 0;

 protected:
  explicit ModePass(ModesState& modes) : modes_(modes) {}
  /// The same for the modes [begin, end), of a leaf whose sums are given.
  virtual void run(std::size_t begin, std::size_t end, int steps, std::span<const double> inputs,
                   std::span<double> sums) = 0;

  ModesState& modes_;
  std::vector<Place> plan_;
  int inputs_ = 0, sums_per_step_ = 0;
  double direct_ = 0.0;
};

/// A splitting of modes that do not decay; its kicks have the stiffness k/(1 + implicitness k/m). The pass of the
/// implicit schemes with one stage, x = q + a h v, p = p + (1 - a) h f, is the splitting with drifts of a and 1 - a
/// around a kick for the implicitness h^2 a (1 - a): the stage's stretch is (x - w - a h p/m)/(1 + h^2 a (1 - a) k/m).
std::unique_ptr<ModePass> make_splitting_pass(ModesState& modes, const ExplicitScheme& splitting, double h,
                                              double implicitness = 0.0);
/// Runge-Kutta stages.
std::unique_ptr<ModePass> make_stage_pass(ModesState& modes, const PartitionedRungeKutta& scheme, double h);

}  // namespace bathline
