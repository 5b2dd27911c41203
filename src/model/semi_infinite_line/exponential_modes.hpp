// The exponentials of a kernel at work: structures of arrays, and sums whose order no instruction set changes.
#pragma once

#include <complex>
#include <span>
#include <vector>

#include "simd/aligned_vector.hpp"

namespace bathline {

/// y_j+ = base_j y_j + sum_i drive_ij u_i, of which sums Re sum_j weight_ij y_j are read.
class ExponentialModes {
 public:
  using Row = std::vector<std::complex<double>>;

  ExponentialModes() = default;
  /// One row of `drives` for each input and one of `weights` for each output, as many of these; `bases` says how many
  /// modes there are.
  ExponentialModes(const Row& bases, const std::vector<Row>& drives, const std::vector<Row>& weights);

  /// Numbers of one part of a state, real or imaginary.
  std::size_t size() const { return base_.real.size(); }
  /// Advances a state and reads it; `inputs` and `outputs` have the size of the rows.
  void advance(double* real, double* imaginary, std::span<const double> inputs, std::span<double> outputs) const;
  /// Every y_j grows by `displacement`.
  void shift(double* real, double displacement) const;
  double read(const double* real, const double* imaginary, std::size_t output) const;

 private:
  struct Parts {
    AlignedVector real, imaginary;
  };
  static Parts parts_of(const Row& row);

  std::size_t count_ = 0;
  Parts base_;
  std::vector<Parts> drives_, weights_;
};

}  // namespace bathline
