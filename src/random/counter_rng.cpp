// Random numbers by the counter-based generator Philox.
#include "random/counter_rng.hpp"

#include <Random123/philox.h>

#include <cmath>
#include <numbers>

namespace bathline {

std::pair<double, double> uniform_pair(const RngKey& key, std::uint64_t index) {
  using Generator = r123::Philox4x32;
  const Generator::ctr_type counter = {
      {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32), key.realisation, key.stream}};
  const Generator::key_type words = {
      {static_cast<std::uint32_t>(key.seed), static_cast<std::uint32_t>(key.seed >> 32)}};
  const Generator::ctr_type bits = Generator()(counter, words);
  const auto uniform = [&](int first_word) {
    const std::uint64_t word = (static_cast<std::uint64_t>(bits[first_word]) << 32 | bits[first_word + 1]) >> 11;
    return static_cast<double>(word + 1) * 0x1p-53;
  };
  return {uniform(0), uniform(2)};
}

std::pair<double, double> normal_pair(const RngKey& key, std::uint64_t index) {
  const auto [first, second] = uniform_pair(key, index);
  const double radius = std::sqrt(-2.0 * std::log(first));
  const double angle = 2.0 * std::numbers::pi * second;
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

}  // namespace bathline
