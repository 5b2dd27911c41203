// A sum has eight partial sums, mode j belonging to partial sum j % 8.
// Tested by tests/model/semi_infinite_line/semi_infinite_line_test.cpp.
#include "model/semi_infinite_line/exponential_modes.hpp"

#include <array>

#include "simd/simd_double.hpp"

namespace bathline {

namespace {

constexpr std::size_t lane_sums = 8, registers = lane_sums / simd_width;

/// Eight partial sums.
class Sum {
 public:
  void add(std::size_t part, SimdDouble value) { sums_[part] += value; }
  double value() const {
    std::array<double, lane_sums> all;
    for (std::size_t part = 0; part < registers; ++part) store(sums_[part], all.data() + part * simd_width);
    return ((all[0] + all[4]) + (all[2] + all[6])) + ((all[1] + all[5]) + (all[3] + all[7]));
  }

 private:
  std::array<SimdDouble, registers> sums_{};
};

/// Re of weight times y.
[[gnu::always_inline]] inline SimdDouble real_of_product(const double* weight_real, const double* weight_imaginary,
                                                         SimdDouble real, SimdDouble imaginary) {
  return multiply_add(-load(weight_imaginary), imaginary, load(weight_real) * real);
}

}  // namespace

ExponentialModes::ExponentialModes(const Row& bases, const std::vector<Row>& drives, const std::vector<Row>& weights)
    : count_(bases.size()), base_(parts_of(bases)) {
  for (const Row& row : drives) drives_.push_back(parts_of(row));
  for (const Row& row : weights) weights_.push_back(parts_of(row));
}

ExponentialModes::Parts ExponentialModes::parts_of(const Row& row) {
  Parts parts;
  for (const std::complex<double>& value : row) {
    parts.real.push_back(value.real());
    parts.imaginary.push_back(value.imag());
  }
  const std::size_t padded = (row.size() + lane_sums - 1) / lane_sums * lane_sums;
  parts.real.resize(padded);
  parts.imaginary.resize(padded);
  return parts;
}

void ExponentialModes::advance(double* real, double* imaginary, std::span<const double> inputs,
                               std::span<double> outputs) const {
  const std::size_t count = size();
  for (std::size_t j = 0; j < count; j += simd_width) {
    const SimdDouble decay = load(&base_.real[j]), rotation = load(&base_.imaginary[j]);
    const SimdDouble before_real = load(real + j), before_imaginary = load(imaginary + j);
    SimdDouble now_real = multiply_add(decay, before_real, -rotation * before_imaginary);
    SimdDouble now_imaginary = multiply_add(decay, before_imaginary, rotation * before_real);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const SimdDouble input = splat(inputs[i]);
      now_real = multiply_add(load(&drives_[i].real[j]), input, now_real);
      now_imaginary = multiply_add(load(&drives_[i].imaginary[j]), input, now_imaginary);
    }
    store(now_real, real + j);
    store(now_imaginary, imaginary + j);
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i] = read(real, imaginary, i);
}

void ExponentialModes::shift(double* real, double displacement) const {
  for (std::size_t j = 0; j < count_; ++j) real[j] += displacement;
}

double ExponentialModes::read(const double* real, const double* imaginary, std::size_t output) const {
  Sum sum;
  const Parts& weight = weights_[output];
  for (std::size_t begin = 0; begin < size(); begin += lane_sums) {
    for (std::size_t part = 0; part < registers; ++part) {
      const std::size_t j = begin + part * simd_width;
      sum.add(part, real_of_product(&weight.real[j], &weight.imaginary[j], load(real + j), load(imaginary + j)));
    }
  }
  return sum.value();
}

}  // namespace bathline
