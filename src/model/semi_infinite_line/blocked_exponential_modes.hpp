// The exponentials of a kernel with one input and one output, at work on one block of steps after the other.
//
// With y+ = z y + u a block of m steps takes them to y_m, and what came before it gives in the steps behind it
//
//   y_m = z^m y_0 + sum_k z^k u_{m-1-k},   Re sum (w z^m y_0) z^k,   k = 0 ... m-1.
//
// Both take the same powers: a pass over all of them loads each once in m steps, and has 4 m + 6 operations for an
// exponential, not 6 m. What the inputs of the block itself give in the steps behind it is not in it.
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

  /// Numbers of one part of a state, real or imaginary.
  std::size_t size() const { return count_; }
  /// Re sum w z^n.
  double kernel(std::size_t n) const;
  /// Takes a state through a block with these inputs, the latest first, and adds to `outputs` what it gives without
  /// them in each step of the next block.
  void advance(double* real, double* imaginary, const double* inputs, double* outputs) const;
  /// Adds what a state gives in each step of a block that begins with it.
  void free_response(const double* real, const double* imaginary, double* outputs) const;
  /// The sum with the other weights of a state that still has to take these inputs, the latest first.
  double read_other(const double* real, const double* imaginary, std::span<const double> inputs) const;
  /// Every y is what the input latest ratio^n in the n-th step before the last leaves, for all n.
  void set_geometric_history(double* real, double* imaginary, double latest, double ratio) const;

 private:
  Row bases_, weights_;
  std::size_t count_;
  AlignedVector table_;  // what a pass reads, in the order in which it does
  AlignedVector other_;  // the same of the sum with the other weights
};

}  // namespace bathline
