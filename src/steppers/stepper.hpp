// A scheme at work on a problem.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "methods/scheme.hpp"
#include "model/problem.hpp"

namespace bathline {

/// A numerical failure, the same on every rank.
struct Failure {
  std::int64_t step = 0;  ///< the step that could not be completed, from 1
  double residual = 0.0;
  std::string reason;
};

/// What is known of the time behind an advance.
struct AdvanceHints {
  bool wants_energy = false;                              ///< the energies right after it will be asked for
  std::optional<std::int64_t> steps_left = std::nullopt;  ///< as in BlockPlan, behind the whole advance

  /// Of a block of `steps` with `left` more behind it in the same advance.
  BlockPlan plan(int steps, std::int64_t left) const {
    BlockPlan plan{.steps = steps, .wants_energy = wants_energy && left == 0, .steps_left = steps_left};
    if (plan.steps_left) *plan.steps_left += left;
    return plan;
  }
};

/// Advances a problem by many steps at a time, so that schemes may block in time.
class Stepper {
 public:
  virtual ~Stepper() = default;
  /// Advances by `steps` steps. Where it fails the problem is left somewhere inside the failed step.
  /// @note Collective.
  virtual std::optional<Failure> advance(std::int64_t steps, const AdvanceHints& ahead = {}) = 0;
  /// A number of steps whose multiples `advance` can be given one after the other, or all at once, without any change
  /// in the bits. The same on every rank. An exact flow knows none.
  virtual std::int64_t block_granularity() const { return 1; }
  /// What the next steps depend on besides the problem's state, on rank 0. Most steppers depend on nothing else.
  virtual std::vector<double> internal_state() const { return {}; }
  /// The converse, on a stepper that has not advanced yet. Throws std::out_of_range on what does not fit.
  virtual void set_internal_state(std::span<const double> memory) {
    if (!memory.empty()) throw std::out_of_range("stepper");
  }
};

/// The memories of marches one after the other, each behind its length, on rank 0.
template <class EnvironmentStepper>
std::vector<double> internal_states_of(const std::vector<std::unique_ptr<EnvironmentStepper>>& environment_steppers) {
  std::vector<double> all;
  for (const auto& stepper : environment_steppers) {
    const std::vector<double> one = stepper->internal_state();
    all.push_back(static_cast<double>(one.size()));
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

/// The converse. Throws std::out_of_range on what does not fit.
template <class EnvironmentStepper>
void set_internal_states(std::span<const double> memory,
                         const std::vector<std::unique_ptr<EnvironmentStepper>>& environment_steppers) {
  const auto require = [](bool fits) {
    if (!fits) throw std::out_of_range("stepper");
  };
  for (const auto& stepper : environment_steppers) {
    require(!memory.empty());
    const double size = memory.front();
    require(size >= 0.0 && size <= static_cast<double>(memory.size() - 1));
    const auto count = static_cast<std::size_t>(size);
    stepper->set_internal_state(memory.subspan(1, count));
    memory = memory.subspan(1 + count);
  }
  require(memory.empty());
}

/// The stepper of a scheme; `problem` must outlive it. Reads PETSc's options where it needs a solver and throws
/// SolverError where PETSc refuses one. A contact problem whose start is given by two positions gets its momentum here.
/// @note Collective.
std::unique_ptr<Stepper> make_stepper(const Scheme& scheme, Problem& problem, double h);

// One function per kind of scheme, in files of their own.
std::unique_ptr<Stepper> make_explicit_stepper(const ExplicitScheme& scheme, Problem& problem, double h);
std::unique_ptr<Stepper> make_lagrangian_stepper(const ExplicitScheme& scheme, Problem& problem, double h);
std::unique_ptr<Stepper> make_implicit_stepper(const PartitionedRungeKutta& scheme, Problem& problem, double h);
std::unique_ptr<Stepper> make_exact_stepper(Problem& problem, double h);
std::unique_ptr<Stepper> make_exact_contact_stepper(Problem& problem, double h);
std::unique_ptr<Stepper> make_herglotz_stepper(const HerglotzScheme& scheme, Problem& problem, double h);

}  // namespace bathline
