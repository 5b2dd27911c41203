// The noise of a warm line without end at work: its filter, and where that starts.
#pragma once

#include <memory>
#include <span>

#include "model/semi_infinite_line/certificate.hpp"
#include "model/semi_infinite_line/stationary_noise_state.hpp"
#include "model/semi_infinite_line/discrete_convolution.hpp"

namespace bathline {

/// The random force of a line at a temperature on a head that is held, at the stages of every step, by a filter of
/// white numbers. Runs share it, and have a state of their own.
class LineNoise {
 public:
  virtual ~LineNoise() = default;

  /// Largest error of the spectrum, over its largest value.
  virtual double error() const = 0;
  virtual ConvolutionShape shape() const = 0;
  /// How many stages a step has, and as many standard normal numbers it takes.
  virtual std::size_t stages() const = 0;
  /// How many of these a start takes.
  virtual std::size_t start_numbers() const = 0;
  virtual void start(std::span<const double> numbers, ConvolutionState& state) const = 0;
  /// At the stages of the step under way, N.
  virtual void forces(const ConvolutionState& state, std::span<const double> numbers,
                      std::span<double> forces) const = 0;
  /// The step is over.
  virtual void commit(ConvolutionState& state, std::span<const double> numbers) const = 0;
};

/// What the noise of a line under steps of one stage is made of, whatever its temperature.
struct NoiseFilter {
  DiscreteKernel kernel;
  double error;  ///< of the spectrum, over its largest value
  StationaryNoiseState start;
};
NoiseFilter make_noise_filter(const DiscreteLine& line, const LineKernel& kernel);

/// Of kicks that are a step apart, or of a stage of the gamma family.
class DiscreteNoise final : public LineNoise {
 public:
  /// `strength` is kT lambda, N^2.
  DiscreteNoise(std::shared_ptr<const NoiseFilter> filter, double strength);

  double error() const override { return filter_->error; }
  ConvolutionShape shape() const override { return memory_.shape(); }
  std::size_t stages() const override { return 1; }
  std::size_t start_numbers() const override { return memory_.lags() + filter_->start.numbers(); }
  void start(std::span<const double> numbers, ConvolutionState& state) const override;
  void forces(const ConvolutionState& state, std::span<const double> numbers, std::span<double> forces) const override {
    forces[0] = state.next_outputs[0] + memory_.feedthrough() * numbers[0];
  }
  void commit(ConvolutionState& state, std::span<const double> numbers) const override {
    memory_.commit(state, numbers[0]);
  }

 private:
  std::shared_ptr<const NoiseFilter> filter_;
  DiscreteConvolution memory_;
};

/// The kernel of a line, and its noise where it is warm, made once for all runs with the same numbers.
struct LineParts {
  LineKernel kernel;
  std::shared_ptr<const NoiseFilter> noise;  ///< nullptr for a cold line
};
/// Arguments as those of make_line_kernel; a warm line needs its kernel `forever`, as its spectrum must not vanish.
std::shared_ptr<const LineParts> line_parts(const DiscreteLine& line, double tolerance, double horizon, double run,
                                            bool is_warm);

}  // namespace bathline
