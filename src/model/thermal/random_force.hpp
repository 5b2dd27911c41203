// The random force of a bath on a clamped head, separate from its response to the motion of the head.
//
// In a linear bath the two add up: the stepper of the bath at rest gives the friction; with the random force added, and
// its work on the head counted as heat, it is the stepper of the warm bath.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "model/environment.hpp"
#include "model/semi_infinite_line/line_noise.hpp"
#include "model/noise_stream.hpp"

namespace bathline {

/// The random force on the axes of a head, on rank 0; other ranks have no axes.
class RandomForce {
 public:
  virtual ~RandomForce() = default;

  /// Starts the run that `key` identifies, on so many axes; `numbers` is the source of random numbers and must outlive
  /// it.
  void begin(NoiseStream& numbers, const RngKey& key, std::size_t axes);
  /// Force at the stages of the current step, N; a single value if it is constant over a step.
  std::span<const double> at_stages(std::size_t axis);
  /// Force between the previous and the current step, N.
  double between_steps(std::size_t axis);
  /// That between the two steps before the first one.
  double before_start(std::size_t axis) const { return before_start_[axis]; }
  void end_step();
  std::int64_t step() const { return static_cast<std::int64_t>(steps_); }
  /// The state that later steps depend on, for so many axes.
  std::vector<StateField> fields(int axes, bool is_here);

 protected:
  std::size_t axes() const { return last_.size(); }
  NoiseStream& numbers() { return *numbers_; }
  /// Adds a step before the first one with the forces at its first and last stage.
  void add_step_before_start(std::size_t axis, double first, double last);

 private:
  virtual std::size_t stages() const = 0;
  /// Draws the state before the first step, and adds the steps before it.
  virtual void start(const RngKey& key) = 0;
  /// Writes the forces of the current step, axis by axis.
  virtual void draw(std::span<double> forces) = 0;
  virtual void advance() {}
  virtual void add_fields(int, bool, std::vector<StateField>&) {}

  NoiseStream* numbers_ = nullptr;
  double steps_ = 0.0;        // completed so far, an integer
  std::vector<double> last_;  // force at the last stage of the previous step, by axis
  std::vector<double> before_start_;
  std::vector<double> drawn_;  // forces of step `drawn_step_`
  std::int64_t drawn_step_ = -1;
};

/// White noise through a filter with few states.
class FilteredForce final : public RandomForce {
 public:
  explicit FilteredForce(std::shared_ptr<const LineNoise> filter) : filter_(std::move(filter)) {}

 private:
  std::size_t stages() const override { return filter_->stages(); }
  void start(const RngKey& key) override;
  void draw(std::span<double> forces) override;
  void advance() override;
  void add_fields(int axes, bool is_here, std::vector<StateField>& fields) override;
  std::span<const double> numbers_of(std::size_t axis);

  std::shared_ptr<const LineNoise> filter_;
  std::vector<ConvolutionState> states_;  // by axis
};

/// The stepper `friction`, of steps of h, with a random force on its head; the work of the force is subtracted from
/// `heat`, by axis, which must outlive the stepper.
std::unique_ptr<ImplicitEnvironmentStepper> with_random_force(std::unique_ptr<ImplicitEnvironmentStepper> friction,
                                                              const PartitionedRungeKutta& scheme, double h,
                                                              std::shared_ptr<RandomForce> force,
                                                              std::vector<double>& heat);
/// The same for a splitting.
std::unique_ptr<ExplicitEnvironmentStepper> with_random_force(std::unique_ptr<ExplicitEnvironmentStepper> friction,
                                                              const ExplicitScheme& scheme, double h,
                                                              std::shared_ptr<RandomForce> force,
                                                              std::vector<double>& heat);

}  // namespace bathline
