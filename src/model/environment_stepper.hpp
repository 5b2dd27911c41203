// Steppers that advance an environment by the steps of one scheme, in lockstep with the particles.
#pragma once  // Public: programs of others may include this header.

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "methods/scheme.hpp"

namespace bathline {

/// Displacement x from the start, m, and velocity v, m/s, of the head by axis, on rank 0.
struct HeadMotion {
  std::span<const double> x;
  std::span<const double> v;
};

/// The steps of a block, and what will be asked for after it.
struct BlockPlan {
  int steps = 1;
  bool wants_energy = false;  ///< the energy at the end of the block will be requested, and may be summed on the way
  /// If set, only the motion of the head matters from now on, during this many steps after the block. Sites that cannot
  /// affect it any more may be dropped, and are invalid then.
  std::optional<std::int64_t> steps_left = std::nullopt;
};

/// Advances an environment by an explicit scheme. Steps come in blocks: `begin_block`, then on rank 0 the substeps of
/// all steps in lockstep with the particles through `force` and `substep`, then `end_block`, which advances the sites
/// that the particles could not reach within the block.
class ExplicitEnvironmentStepper {
 public:
  virtual ~ExplicitEnvironmentStepper() = default;
  /// The most steps that the next block may have. The same on every rank.
  virtual int max_block_steps() const = 0;
  /// @note Collective.
  virtual void begin_block(const BlockPlan& plan) = 0;
  /// Force on the head, between the substeps of a block. Rank 0 only.
  virtual void force(const HeadMotion& head, std::span<double> force) const = 0;
  /// One substep of the sites near the head; `head` is its motion before the substep. Rank 0 only, inside a block.
  virtual void substep(const Substep& substep, const HeadMotion& head) = 0;
  /// @note Collective.
  virtual void end_block() = 0;
  /// State of the stepper beside that of the environment on which the next steps depend, on rank 0.
  virtual std::vector<double> internal_state() const { return {}; }
  /// Restores it, before the first block. Throws std::out_of_range where the size is wrong.
  virtual void set_internal_state(std::span<const double>) {}
};

/// The stages of an implicit step with the environment eliminated: force on the head at stage i = constant_i - sum_j
/// damping_ij v_j, with v_j the stage velocities of the head.
struct StageResponse {
  Eigen::MatrixXd constant;  ///< stages x axes, on rank 0
  Eigen::MatrixXd damping;   ///< stages x stages
};

/// Advances an environment by an implicit scheme with s >= 1 stages: each step is a call of `condense` and one of
/// `back_substitute`, inside a block where there are blocks.
class ImplicitEnvironmentStepper {
 public:
  virtual ~ImplicitEnvironmentStepper() = default;
  /// The most steps that a block may have; 0: there are no blocks, every step needs all ranks. The same on every rank.
  virtual int max_block_steps() const { return 0; }
  /// @note Collective.
  virtual void begin_block(const BlockPlan&) {}
  /// @note Collective.
  virtual void end_block() {}
  /// `head` is x on rank 0. Returns false where a linear solver did not converge, for the reason `failure`.
  /// @note Collective, but on rank 0 only inside a block.
  virtual bool condense(std::span<const double> head, StageResponse& response) = 0;
  /// Ends the step that `condense` began; `head_velocities` is stages x axes, the same on every rank that calls this.
  /// @note Collective, but on rank 0 only inside a block.
  virtual void back_substitute(const Eigen::MatrixXd& head_velocities) = 0;
  virtual std::string failure() const { return ""; }
  /// As in ExplicitEnvironmentStepper.
  virtual std::vector<double> internal_state() const { return {}; }
  virtual void set_internal_state(std::span<const double>) {}
};

}  // namespace bathline
