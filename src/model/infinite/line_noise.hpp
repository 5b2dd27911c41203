// The noise of a warm line without end at work: its filter, and where that starts.
#pragma once

#include <memory>
#include <span>

#include "model/infinite/certificate.hpp"
#include "model/infinite/stepped_memory.hpp"

namespace bathline {

/// What the noise of a line is made of, whatever its temperature.
struct NoiseFilter {
  SteppedKernel kernel;
  double error;  ///< of the spectrum, over its largest value
  /// What numbers that have passed through the filter for ever make of its exponentials: y_j = sum_k start[j][k] nu_k
  /// with as many normal numbers nu as y have parts. Row j has 2 (j + 1) entries.
  std::vector<std::vector<std::complex<double>>> start;
};
NoiseFilter make_noise_filter(const SteppedLine& line, const LineKernel& kernel);

/// A filter at a temperature, which its states share.
class LineNoise {
 public:
  /// `strength` is kT lambda, N^2.
  LineNoise(std::shared_ptr<const NoiseFilter> filter, double strength);

  double error() const { return filter_->error; }
  MemoryShape shape() const { return memory_.shape(); }
  /// How many standard normal numbers a start takes.
  std::size_t start_numbers() const { return shape().recent + 2 * filter_->start.size(); }
  void start(std::span<const double> numbers, MemoryState& state) const;
  /// Of the step under way, N, from its standard normal number.
  double force(const MemoryState& state, double number) const { return state.tails[0] + memory_.at_once() * number; }
  /// The step is over.
  void commit(MemoryState& state, double number) const { memory_.commit(state, number); }

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
