// Sums are over eight numbers by turns, one lane's share after the other: the sums of all steps of a block are in
// registers then.
// Tested by tests/model/semi_infinite_line/discrete_convolution_test.cpp.
#include "model/semi_infinite_line/blocked_exponential_modes.hpp"

#include <array>

#include "simd/simd_double.hpp"

namespace bathline {

namespace {

constexpr std::size_t turns = 8;

/// Numbers for eight modes: real parts, then imaginary ones.
constexpr std::size_t pair = 2 * turns;
/// w z^m, z, z^2, ... z^m.
constexpr std::size_t table_row = (BlockedExponentialModes::steps + 1) * pair;
/// z and the other w.
constexpr std::size_t other_row = 2 * pair;

double sum_of(const double* all) {
  return ((all[0] + all[4]) + (all[2] + all[6])) + ((all[1] + all[5]) + (all[3] + all[7]));
}

/// The same number, which the compiler then cannot load a second time in the place of keeping it.
[[gnu::always_inline]] inline SimdDouble in_register(SimdDouble x) {
#if defined(__x86_64__)
  asm("" : "+v"(x));
#endif
  return x;
}

void put(std::complex<double> value, double* to) {
  to[0] = value.real();
  to[turns] = value.imag();
}

}  // namespace

BlockedExponentialModes::BlockedExponentialModes(const Row& bases, const Row& weights, const Row& other_weights)
    : bases_(bases), weights_(weights), count_((bases.size() + turns - 1) / turns * turns) {
  table_.resize(count_ / turns * table_row);
  other_.resize(count_ / turns * other_row);
  for (std::size_t j = 0; j < bases.size(); ++j) {
    const std::size_t group = j / turns, turn = j % turns;
    double* row = &table_[group * table_row + turn];
    std::complex<double> power = 1.0;
    for (std::size_t k = 1; k <= steps; ++k) put(power *= bases[j], row + k * pair);
    put(weights[j] * power, row);
    double* other = &other_[group * other_row + turn];
    put(bases[j], other);
    put(other_weights[j], other + pair);
  }
}

double BlockedExponentialModes::kernel(std::size_t n) const {
  double sum = 0.0;
  for (std::size_t j = 0; j < bases_.size(); ++j) {
    std::complex<double> share = weights_[j];
    for (std::size_t k = 0; k < n; ++k) share *= bases_[j];
    sum += share.real();
  }
  return sum;
}

void BlockedExponentialModes::advance(double* real, double* imaginary, const double* inputs, double* outputs) const {
  std::array<double, steps * turns> shares;
  for (std::size_t part = 0; part < turns; part += simd_width) {
    std::array<SimdDouble, steps> sums{};
    const double* row = table_.data() + part;
    for (std::size_t j = part; j < count_; j += turns, row += table_row) {
      const auto number = [row](std::size_t k, std::size_t of_pair) { return load(row + k * pair + of_pair * turns); };
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
    for (std::size_t k = 0; k < steps; ++k) store(sums[k], shares.data() + k * turns + part);
  }
  for (std::size_t k = 0; k < steps; ++k) outputs[k] += sum_of(shares.data() + k * turns);
}

void BlockedExponentialModes::free_response(const double* real, const double* imaginary, double* outputs) const {
  for (std::size_t j = 0; j < bases_.size(); ++j) {
    std::complex<double> share = weights_[j] * std::complex(real[j], imaginary[j]);
    for (std::size_t k = 0; k < steps; ++k, share *= bases_[j]) outputs[k] += share.real();
  }
}

double BlockedExponentialModes::read_other(const double* real, const double* imaginary,
                                           std::span<const double> inputs) const {
  std::array<double, turns> shares;
  for (std::size_t part = 0; part < turns; part += simd_width) {
    SimdDouble sum{};
    const double* row = other_.data() + part;
    for (std::size_t j = part; j < count_; j += turns, row += other_row) {
      const SimdDouble decay = load(row), rotation = load(row + turns);
      SimdDouble now_real = load(real + j), now_imaginary = load(imaginary + j);
      for (auto input = inputs.rbegin(); input != inputs.rend(); ++input) {
        const SimdDouble before_real = now_real;
        now_real = multiply_add(decay, now_real, multiply_add(-rotation, now_imaginary, splat(*input)));
        now_imaginary = multiply_add(decay, now_imaginary, rotation * before_real);
      }
      sum = multiply_add(load(row + pair), now_real, multiply_add(-load(row + pair + turns), now_imaginary, sum));
    }
    store(sum, shares.data() + part);
  }
  return sum_of(shares.data());
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
