// A sum has eight partial sums, mode j belonging to partial sum j % 8. They are computed for one register width at a
// time, so that the sums of all steps of a block fit into registers.
// Tested by tests/model/semi_infinite_line/discrete_convolution_test.cpp.
#include "model/semi_infinite_line/blocked_exponential_modes.hpp"

#include <array>

#include "simd/simd_double.hpp"

namespace bathline {

namespace {

constexpr std::size_t lane_sums = 8;

/// Values for eight modes: real parts, then imaginary ones.
constexpr std::size_t pair = 2 * lane_sums;
/// w z^m, z, z^2, ... z^m.
constexpr std::size_t table_row = (BlockedExponentialModes::steps + 1) * pair;
/// z and the other weight.
constexpr std::size_t other_row = 2 * pair;

double sum_of(const double* all) {
  return ((all[0] + all[4]) + (all[2] + all[6])) + ((all[1] + all[5]) + (all[3] + all[7]));
}

/// Returns x; prevents the compiler from loading it a second time instead of keeping it in a register.
[[gnu::always_inline]] inline SimdDouble in_register(SimdDouble x) {
#if defined(__x86_64__)
  asm("" : "+v"(x));
#endif
  return x;
}

void store_complex(std::complex<double> value, double* to) {
  to[0] = value.real();
  to[lane_sums] = value.imag();
}

}  // namespace

BlockedExponentialModes::BlockedExponentialModes(const Row& bases, const Row& weights, const Row& other_weights)
    : bases_(bases), weights_(weights), count_((bases.size() + lane_sums - 1) / lane_sums * lane_sums) {
  table_.resize(count_ / lane_sums * table_row);
  other_.resize(count_ / lane_sums * other_row);
  for (std::size_t j = 0; j < bases.size(); ++j) {
    const std::size_t group = j / lane_sums, slot = j % lane_sums;
    double* row = &table_[group * table_row + slot];
    std::complex<double> power = 1.0;
    for (std::size_t k = 1; k <= steps; ++k) store_complex(power *= bases[j], row + k * pair);
    store_complex(weights[j] * power, row);
    double* other = &other_[group * other_row + slot];
    store_complex(bases[j], other);
    store_complex(other_weights[j], other + pair);
  }
}

double BlockedExponentialModes::kernel(std::size_t n) const {
  double sum = 0.0;
  for (std::size_t j = 0; j < bases_.size(); ++j) {
    std::complex<double> term = weights_[j];
    for (std::size_t k = 0; k < n; ++k) term *= bases_[j];
    sum += term.real();
  }
  return sum;
}

void BlockedExponentialModes::advance(double* real, double* imaginary, const double* inputs, double* outputs) const {
  std::array<double, steps * lane_sums> partial_sums;
  for (std::size_t part = 0; part < lane_sums; part += simd_width) {
    std::array<SimdDouble, steps> sums{};
    const double* row = table_.data() + part;
    for (std::size_t j = part; j < count_; j += lane_sums, row += table_row) {
      const auto number = [row](std::size_t k, std::size_t of_pair) {
        return load(row + k * pair + of_pair * lane_sums);
      };
      const SimdDouble before_real = load(real + j), before_imaginary = load(imaginary + j);
      const SimdDouble weight_real = number(0, 0), weight_imaginary = number(0, 1);
      const SimdDouble weighted_real = multiply_add(-weight_imaginary, before_imaginary, weight_real * before_real);
      const SimdDouble weighted_imaginary = multiply_add(weight_imaginary, before_real, weight_real * before_imaginary);
      const SimdDouble decay = number(steps, 0), rotation = number(steps, 1);
      SimdDouble now_real =
          multiply_add(decay, before_real, multiply_add(-rotation, before_imaginary, splat(inputs[0])));
      SimdDouble now_imaginary = multiply_add(decay, before_imaginary, rotation * before_real);
      sums[0] += weighted_real;
      for (std::size_t k = 1; k < steps; ++k) {
        const SimdDouble power_real = in_register(number(k, 0)), power_imaginary = in_register(number(k, 1));
        const SimdDouble input = splat(inputs[k]);
        now_real = multiply_add(power_real, input, now_real);
        now_imaginary = multiply_add(power_imaginary, input, now_imaginary);
        sums[k] = multiply_add(-power_imaginary, weighted_imaginary, multiply_add(power_real, weighted_real, sums[k]));
      }
      store(now_real, real + j);
      store(now_imaginary, imaginary + j);
    }
    for (std::size_t k = 0; k < steps; ++k) store(sums[k], partial_sums.data() + k * lane_sums + part);
  }
  for (std::size_t k = 0; k < steps; ++k) outputs[k] += sum_of(partial_sums.data() + k * lane_sums);
}

void BlockedExponentialModes::free_response(const double* real, const double* imaginary, double* outputs) const {
  for (std::size_t j = 0; j < bases_.size(); ++j) {
    std::complex<double> term = weights_[j] * std::complex(real[j], imaginary[j]);
    for (std::size_t k = 0; k < steps; ++k, term *= bases_[j]) outputs[k] += term.real();
  }
}

double BlockedExponentialModes::read_other(const double* real, const double* imaginary,
                                           std::span<const double> inputs) const {
  std::array<double, lane_sums> partial_sums;
  for (std::size_t part = 0; part < lane_sums; part += simd_width) {
    SimdDouble sum{};
    const double* row = other_.data() + part;
    for (std::size_t j = part; j < count_; j += lane_sums, row += other_row) {
      const SimdDouble decay = load(row), rotation = load(row + lane_sums);
      SimdDouble now_real = load(real + j), now_imaginary = load(imaginary + j);
      for (auto input = inputs.rbegin(); input != inputs.rend(); ++input) {
        const SimdDouble before_real = now_real;
        now_real = multiply_add(decay, now_real, multiply_add(-rotation, now_imaginary, splat(*input)));
        now_imaginary = multiply_add(decay, now_imaginary, rotation * before_real);
      }
      sum = multiply_add(load(row + pair), now_real, multiply_add(-load(row + pair + lane_sums), now_imaginary, sum));
    }
    store(sum, partial_sums.data() + part);
  }
  return sum_of(partial_sums.data());
}

void BlockedExponentialModes::set_geometric_history(double* real, double* imaginary, double latest,
                                                    double ratio) const {
  for (std::size_t j = 0; j < bases_.size(); ++j) {
    const std::complex<double> sum = latest / (1.0 - ratio * bases_[j]);
    real[j] = sum.real();
    imaginary[j] = sum.imag();
  }
}

}  // namespace bathline
