// The exponentials of a kernel with one input and one output, advanced by blocks of steps.
//
// With y+ = z y + u, a block of m steps gives y_m, and the inputs before the block give the following outputs:
//
//   y_m = z^m y_0 + sum_k z^k u_{m-1-k},   Re sum (w z^m y_0) z^k,   k = 0 ... m-1.
//
// Both use the same powers: a pass over the exponentials loads each power once in m steps, with 4 m + 6 operations per
// exponential instead of 6 m. The outputs due to the inputs of the block itself are not included.
#pragma once

#include <complex>
#include <span>
#include <vector>

#include "simd/aligned_vector.hpp"

namespace bathline {

class BlockedExponentialModes {
 public:
  using Row = std::vector<std::complex<double>>;

  /// Steps of a block, m.
  static constexpr std::size_t steps = 8;

  /// As many weights of both kinds as bases.
  BlockedExponentialModes(const Row& bases, const Row& weights, const Row& other_weights);

  /// Length of the real and of the imaginary part of a state.
  std::size_t size() const { return count_; }
  /// Re sum w z^n.
  double kernel(std::size_t n) const;
  /// Advances a state by a block with these inputs, the latest first, and adds to `outputs` the outputs in each step of
  /// the next block due to earlier inputs.
  void advance(double* real, double* imaginary, const double* inputs, double* outputs) const;
  /// Adds the outputs in each step of a block that begins with this state, without inputs.
  void free_response(const double* real, const double* imaginary, double* outputs) const;
  /// The sum with the other weights after these inputs, the latest first, which the state does not contain yet.
  double read_other(const double* real, const double* imaginary, std::span<const double> inputs) const;
  /// Sets every y to the response to the inputs latest ratio^n in the n-th step before the last, for all n >= 0.
  void set_geometric_history(double* real, double* imaginary, double latest, double ratio) const;

 private:
  Row bases_, weights_;
  std::size_t count_;
  AlignedVector table_;  // factors in the order in which a pass reads them
  AlignedVector other_;  // the same for the sum with the other weights
};

}  // namespace bathline
