// The force of a bath on a head that is held, drawn apart from what the bath does to a head that moves.
//
// Where equations are linear in the bath the two add up. What a march of the bath at rest gives is friction; with the
// force on top of it, and the force's work on the head taken for heat, it is that of the warm bath.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "model/environment.hpp"
#include "model/semi_infinite_line/line_noise.hpp"
#include "model/noise_stream.hpp"

namespace bathline {

/// Such a force at work on the axes of a head, on rank 0: elsewhere there are none.
class RandomForce {
 public:
  virtual ~RandomForce() = default;

  /// Starts a run, for which `key` says which one, on so many axes; `numbers` are its random ones, and must outlive it.
  void begin(NoiseStream& numbers, const RngKey& key, std::size_t axes);
  /// At the stages of the step under way, N; one where it is the same all through a step.
  std::span<const double> at_stages(std::size_t axis);
  /// Between the step before and the one under way, N.
  double between_steps(std::size_t axis);
  void end_step();
  /// What the next steps depend on, of so many axes of a head.
  std::vector<StateField> fields(int axes, bool is_here);

 protected:
  std::int64_t step() const { return static_cast<std::int64_t>(steps_); }
  std::size_t axes() const { return last_.size(); }
  NoiseStream& numbers() { return *numbers_; }

 private:
  virtual std::size_t stages() const = 0;
  virtual void start(const RngKey& key) = 0;
  /// Those of the step under way into `forces`, axis by axis.
  virtual void draw(std::span<double> forces) = 0;
  virtual void advance() {}
  virtual void add_fields(int, bool, std::vector<StateField>&) {}

  NoiseStream* numbers_ = nullptr;
  double steps_ = 0.0;         // done so far, a whole number
  std::vector<double> last_;   // of the last stage of the step before, by axis
  std::vector<double> drawn_;  // of the step `drawn_step_`
  std::int64_t drawn_step_ = -1;
};

/// A force whose spectrum is that of a filter of white numbers with few states.
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

/// The march `friction` of steps of h with such a force on its head, whose work is taken off `heat`, by axis, which
/// must outlive it.
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
