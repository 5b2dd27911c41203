// Steppers: schemes applied to problems.
#pragma once

#include <algorithm>
#include <functional>
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

/// What is known about the time after an advance.
struct AdvanceHints {
  bool wants_energy = false;                              ///< the energies right after it will be evaluated
  std::optional<std::int64_t> steps_left = std::nullopt;  ///< as in BlockPlan, after the whole advance
  /// If set, called on rank 0 after every step, with the particles and `Problem::forces` up to date; only for steppers
  /// that observe steps.
  const std::function<void()>* after_step = nullptr;

  /// The plan of a block of `steps`, after which `left` more follow in the same advance.
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
  /// A number of steps of which `advance` can be given multiples, one after the other or all at once, without any
  /// change in the bits. The same on every rank. There is none for exact flows.
  virtual std::int64_t block_granularity() const { return 1; }
  /// Whether `advance` calls `after_step`. The same on every rank.
  virtual bool observes_steps() const { return false; }
  /// The state on which the next steps depend besides that of the problem, on rank 0; empty for most steppers.
  virtual std::vector<double> internal_state() const { return {}; }
  /// Restores it, in a stepper that has not advanced yet. Throws std::out_of_range where its size does not fit.
  virtual void set_internal_state(std::span<const double> state) {
    if (!state.empty()) throw std::out_of_range("stepper");
  }
};

/// Whether the forces of the environments are known between the steps of a block.
inline bool has_forces_within_blocks(const Problem& problem) {
  const auto& environments = problem.environments();
  return std::all_of(environments.begin(), environments.end(),
                     [](const auto& environment) { return environment->has_force_within_blocks(); });
}

/// The internal states of environment steppers one after the other, each preceded by its length, on rank 0.
template <class EnvironmentStepper>
std::vector<double> internal_states_of(const std::vector<std::unique_ptr<EnvironmentStepper>>& environment_steppers) {
  std::vector<double> all;
  for (const auto& stepper : environment_steppers) {
    const std::vector<double> state = stepper->internal_state();
    all.push_back(static_cast<double>(state.size()));
    all.insert(all.end(), state.begin(), state.end());
  }
  return all;
}

/// Restores them. Throws std::out_of_range where a size does not fit.
template <class EnvironmentStepper>
void set_internal_states(std::span<const double> state,
                         const std::vector<std::unique_ptr<EnvironmentStepper>>& environment_steppers) {
  const auto require = [](bool fits) {
    if (!fits) throw std::out_of_range("stepper");
  };
  for (const auto& stepper : environment_steppers) {
    require(!state.empty());
    const double size = state.front();
    require(size >= 0.0 && size <= static_cast<double>(state.size() - 1));
    const auto count = static_cast<std::size_t>(size);
    stepper->set_internal_state(state.subspan(1, count));
    state = state.subspan(1 + count);
  }
  require(state.empty());
}

/// The stepper of a scheme; `problem` must outlive it. Reads PETSc's options where it needs a solver and throws
/// SolverError where PETSc refuses one. A contact problem whose start is given by two positions gets its momentum here.
/// @note Collective.
std::unique_ptr<Stepper> make_stepper(const Scheme& scheme, Problem& problem, double h);

// One function per kind of scheme, in files of their own.
std::unique_ptr<Stepper> make_explicit_stepper(const ExplicitScheme& scheme, Problem& problem, double h);
std::unique_ptr<Stepper> make_implicit_stepper(const PartitionedRungeKutta& scheme, Problem& problem, double h);
std::unique_ptr<Stepper> make_exact_stepper(Problem& problem, double h, double tolerance = ExactFlow().tolerance);
std::unique_ptr<Stepper> make_herglotz_stepper(const HerglotzScheme& scheme, Problem& problem, double h);

}  // namespace bathline
