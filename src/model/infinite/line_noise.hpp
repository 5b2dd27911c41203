// The noise of a warm line without end at work: its filter, and where that starts.
#pragma once

#include <memory>
#include <span>

#include "model/infinite/certificate.hpp"
#include "model/infinite/noise_start.hpp"
#include "model/infinite/stepped_memory.hpp"

namespace bathline {

/// The random force of a line at a temperature on a head that is held, at the stages of every step, by a filter of
/// white numbers. Runs share it, and have a state of their own.
class LineNoise {
 public:
  virtual ~LineNoise() = default;

  /// Largest error of the spectrum, over its largest value.
  virtual double error() const = 0;
  virtual MemoryShape shape() const = 0;
  /// How many stages a step has, and as many standard normal numbers it takes.
  virtual std::size_t stages() const = 0;
  /// How many of these a start takes.
  virtual std::size_t start_numbers() const = 0;
  virtual void start(std::span<const double> numbers, MemoryState& state) const = 0;
  /// At the stages of the step under way, N.
  virtual void forces(const MemoryState& state, std::span<const double> numbers, std::span<double> forces) const = 0;
  /// The step is over.
  virtual void commit(MemoryState& state, std::span<const double> numbers) const = 0;
};

/// What the noise of a line under steps of one stage is made of, whatever its temperature.
struct NoiseFilter {
  SteppedKernel kernel;
  double error;  ///< of the spectrum, over its largest value
  NoiseStart start;
};
NoiseFilter make_noise_filter(const SteppedLine& line, const LineKernel& kernel);

/// Of kicks that are a step apart, or of a stage of the gamma family.
class SteppedNoise final : public LineNoise {
 public:
  /// `strength` is kT lambda, N^2.
  SteppedNoise(std::shared_ptr<const NoiseFilter> filter, double strength);

  double error() const override { return filter_->error; }
  MemoryShape shape() const override { return memory_.shape(); }
  std::size_t stages() const override { return 1; }
  std::size_t start_numbers() const override { return memory_.lags() + filter_->start.numbers(); }
  void start(std::span<const double> numbers, MemoryState& state) const override;
  void forces(const MemoryState& state, std::span<const double> numbers, std::span<double> forces) const override {
    forces[0] = state.tails[0] + memory_.at_once() * numbers[0];
  }
  void commit(MemoryState& state, std::span<const double> numbers) const override { memory_.commit(state, numbers[0]); }

 private:
  std::shared_ptr<const NoiseFilter> filter_;
  SteppedMemory memory_;
};

/// The kernel of a line, and its noise where it is warm, made once for all runs with the same numbers.
struct LineParts {
  LineKernel kernel;
  std::shared_ptr<const NoiseFilter> noise;  ///< nullptr for a cold line
};
/// Arguments as those of make_line_kernel; a warm line needs its kernel `forever`, as its spectrum must not vanish.
std::shared_ptr<const LineParts> line_parts(const SteppedLine& line, double tolerance, double horizon, double run,
                                            bool is_warm);

}  // namespace bathline
