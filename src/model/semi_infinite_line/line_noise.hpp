// The noise of a semi-infinite line in thermal equilibrium: its filter and the stationary initial state of that.
#pragma once

#include <memory>
#include <span>

#include "model/semi_infinite_line/certificate.hpp"
#include "model/semi_infinite_line/stationary_noise_state.hpp"
#include "model/semi_infinite_line/discrete_convolution.hpp"

namespace bathline {

/// The random force of a line at temperature kT on a clamped head, at the stages of every step, as filtered white
/// noise. Runs share it, each with its own state.
class LineNoise {
 public:
  virtual ~LineNoise() = default;

  /// Largest error of the spectrum, relative to its largest value.
  virtual double error() const = 0;
  virtual ConvolutionShape shape() const = 0;
  /// Number of stages of a step, and of standard normal numbers that it needs.
  virtual std::size_t stages() const = 0;
  /// Number of standard normal numbers that the initial state needs.
  virtual std::size_t start_numbers() const = 0;
  virtual void start(std::span<const double> numbers, ConvolutionState& state) const = 0;
  /// The forces at the stages of the current step, N.
  virtual void forces(const ConvolutionState& state, std::span<const double> numbers,
                      std::span<double> forces) const = 0;
  /// Ends the step.
  virtual void commit(ConvolutionState& state, std::span<const double> numbers) const = 0;
};

/// The noise filter of a line under one-stage schemes, for unit temperature.
struct NoiseFilter {
  DiscreteKernel kernel;
  double error;  ///< of the spectrum, relative to its largest value
  StationaryNoiseState start;
};
NoiseFilter make_noise_filter(const DiscreteLine& line, const LineKernel& kernel);

/// Noise at kicks that are a step apart, or at the stage of a gamma scheme.
class DiscreteNoise final : public LineNoise {
 public:
  /// `strength` is kT lambda, N^2.
  DiscreteNoise(std::shared_ptr<const NoiseFilter> filter, double strength);

  double error() const override { return filter_->error; }
  ConvolutionShape shape() const override { return convolution_.shape(); }
  std::size_t stages() const override { return 1; }
  std::size_t start_numbers() const override { return convolution_.lags() + filter_->start.numbers(); }
  void start(std::span<const double> numbers, ConvolutionState& state) const override;
  void forces(const ConvolutionState& state, std::span<const double> numbers, std::span<double> forces) const override {
    forces[0] = state.next_outputs[0] + convolution_.feedthrough() * numbers[0];
  }
  void commit(ConvolutionState& state, std::span<const double> numbers) const override {
    convolution_.commit(state, numbers[0]);
  }

 private:
  std::shared_ptr<const NoiseFilter> filter_;
  DiscreteConvolution convolution_;
};

/// The kernel of a line, and its noise if kT > 0, made once for all runs with the same parameters.
struct LineParts {
  LineKernel kernel;
  std::shared_ptr<const NoiseFilter> noise;  ///< nullptr for kT = 0
};
/// Arguments as those of make_line_kernel; noise needs a kernel `forever`, as the spectrum must not vanish.
std::shared_ptr<const LineParts> line_parts(const DiscreteLine& line, double tolerance, double horizon, double run,
                                            bool is_warm);

}  // namespace bathline
