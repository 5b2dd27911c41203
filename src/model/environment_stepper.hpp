// An environment on its way through the steps of one scheme: what advances it, apart from what it is.
#pragma once  // Public: programs of others may include this header.

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "methods/scheme.hpp"

namespace bathline {

/// The head by axis, on rank 0: where it is, in m from the start, and how fast, in m/s.
struct HeadMotion {
  std::span<const double> x;
  std::span<const double> v;
};

/// The steps of a block, and what is known of the time behind it.
struct BlockPlan {
  int steps = 1;
  bool wants_energy = false;  ///< the energy right after it will be asked for, and may be added up on the way
  /// Where there is a number: from now on nothing matters but how the head moves, in so many steps after the block.
  /// Sites that it will not feel any more may be left behind, and are worthless then.
  std::optional<std::int64_t> steps_left = std::nullopt;
};

/// An explicit scheme at work on an environment. Steps come in blocks: `begin_block`, then on rank 0 the substeps of
/// all steps in lockstep with the particles through `force` and `substep`, then `end_block`, in which the part that
/// cannot feel the particles yet catches up.
class ExplicitEnvironmentStepper {
 public:
  virtual ~ExplicitEnvironmentStepper() = default;
  /// How many steps the next block may have. The same on every rank.
  virtual int max_block_steps() const = 0;
  /// @note Collective.
  virtual void begin_block(const BlockPlan& plan) = 0;
  /// Force on the head, between the substeps of a block. Rank 0 only.
  virtual void force(const HeadMotion& head, std::span<double> force) const = 0;
  /// One substep of the sites near the head, which moves as `head` says before it. Rank 0 only, inside a block.
  virtual void substep(const Substep& substep, const HeadMotion& head) = 0;
  /// @note Collective.
  virtual void end_block() = 0;
  /// What the next steps depend on besides the environment's state, on rank 0.
  virtual std::vector<double> internal_state() const { return {}; }
  /// The converse, before the first block. Throws std::out_of_range on what does not fit.
  virtual void set_internal_state(std::span<const double>) {}
};

/// The stages of an implicit step with the environment eliminated: force on the head at stage i = constant_i - sum_j
/// damping_ij v_j, with v_j the stage velocities of the head.
struct StageResponse {
  Eigen::MatrixXd constant;  ///< stages x axes, on rank 0
  Eigen::MatrixXd damping;   ///< stages x stages
};

/// An implicit scheme with s >= 1 stages at work on an environment: `condense` and `back_substitute` by turns, in
/// blocks of steps where there are any.
class ImplicitEnvironmentStepper {
 public:
  virtual ~ImplicitEnvironmentStepper() = default;
  /// How many steps a block may have; 0: there are no blocks, every step needs all ranks. The same on every rank.
  virtual int max_block_steps() const { return 0; }
  /// @note Collective.
  virtual void begin_block(const BlockPlan&) {}
  /// @note Collective.
  virtual void end_block() {}
  /// `head` is x on rank 0. False where a linear solver did not converge; `failure` says why. @note Collective, but on
  /// rank 0 only inside a block.
  virtual bool condense(std::span<const double> head, StageResponse& response) = 0;
  /// Ends the step that `condense` began; `head_velocities` is stages x axes, the same on every rank that calls this.
  /// @note Collective, but on rank 0 only inside a block.
  virtual void back_substitute(const Eigen::MatrixXd& head_velocities) = 0;
  virtual std::string failure() const { return ""; }
  /// As that of ExplicitEnvironmentStepper.
  virtual std::vector<double> internal_state() const { return {}; }
  virtual void set_internal_state(std::span<const double>) {}
};

}  // namespace bathline
