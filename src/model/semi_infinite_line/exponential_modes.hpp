// The exponentials of a kernel in structures of arrays, with sums whose order does not depend on the instruction set.
#pragma once

#include <complex>
#include <span>
#include <vector>

#include "simd/aligned_vector.hpp"

namespace bathline {

/// y_j+ = base_j y_j + sum_i drive_ij u_i with outputs Re sum_j weight_ij y_j.
class ExponentialModes {
 public:
  using Row = std::vector<std::complex<double>>;

  ExponentialModes() = default;
  /// One row of `drives` for each input and one of `weights` for each output, with one entry for each mode, as `bases`.
  ExponentialModes(const Row& bases, const std::vector<Row>& drives, const std::vector<Row>& weights);

  /// Length of the real and of the imaginary part of a state.
  std::size_t size() const { return base_.real.size(); }
  /// Advances a state by `inputs` and computes `outputs`.
  void advance(double* real, double* imaginary, std::span<const double> inputs, std::span<double> outputs) const;
  /// Adds `displacement` to every y_j.
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
