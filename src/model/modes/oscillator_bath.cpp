// The oscillator bath: properties, lumped network and analytic kernel.
// Tested by tests/model/modes/oscillator_bath_test.cpp.
#include "model/modes/oscillator_bath.hpp"

#include <algorithm>
#include <cmath>

namespace bathline {

namespace {

ModeTable table_of(const DiscreteSpectrum& spectrum) {
  return {spectrum.size, [of = spectrum.oscillator](std::int64_t j) {
            const auto [frequency, stiffness] = of(j);
            return Mode{.k = stiffness, .w = frequency};
          }};
}

}  // namespace

OscillatorBath::OscillatorBath(std::string name, Attachment attachment, DiscreteSpectrum spectrum, double temperature,
                               const Communicator& communicator, int steps_per_pass)
    : ModesEnvironment(std::move(name), std::move(attachment), table_of(spectrum), temperature, steps_per_pass,
                       communicator),
      spectrum_(std::move(spectrum)) {}

EnvironmentProperties OscillatorBath::describe() const {
  const DiscreteSpectrum& spectrum = spectrum_;
  return {.sites = spectrum.size,
          .site_name = "oscillator",
          .damping = spectrum.damping,
          .echo = {spectrum.recurrence, "recurrence"},
          .highest_frequency = spectrum.oscillator(spectrum.size - 1).frequency,
          .temperature = temperature()};
}

LumpedNetwork OscillatorBath::assemble(std::int64_t limit) const {
  const DiscreteSpectrum& spectrum = spectrum_;
  const std::int64_t single = spectrum.size <= limit ? spectrum.size : limit / 2;
  const std::int64_t rest = spectrum.size - single;
  const std::int64_t lump = rest == 0 ? 1 : (rest + limit - single - 1) / (limit - single);
  LumpedNetwork network;
  const auto add = [&](std::int64_t begin, std::int64_t end) {
    double stiffness = 0.0;
    for (std::int64_t j = begin; j < end; ++j) stiffness += spectrum.oscillator(j).stiffness;
    const double frequency = spectrum.oscillator(end - 1).frequency;
    network.to_head.emplace_back(static_cast<int>(network.mass.size()), stiffness);
    network.mass.push_back(stiffness / (frequency * frequency));
  };
  for (std::int64_t j = 0; j < rest; j += lump) add(j, std::min(rest, j + lump));
  for (std::int64_t j = rest; j < spectrum.size; ++j) add(j, j + 1);
  return network;
}

template <class Add>
std::vector<double> OscillatorBath::sum_over_oscillators(std::span<const double> times, std::size_t width,
                                                         Add add) const {
  // Every leaf has its own sums, so that few times are taken at once.
  constexpr std::size_t times_at_once = 64;
  ReproducibleSum& sum = state().sum;
  std::vector<double> totals(times.size() * width);
  for (std::size_t first = 0; first < times.size(); first += times_at_once) {
    const std::span<const double> some = times.subspan(first, std::min(times_at_once, times.size() - first));
    sum.allocate(static_cast<int>(some.size() * width));
    for (std::int64_t leaf = 0; leaf < sum.leaves(); ++leaf) {
      const std::int64_t end = std::min(sum.count(), (leaf + 1) * sum.leaf_size());
      for (std::int64_t j = leaf * sum.leaf_size(); j < end; ++j) {
        add(spectrum_.oscillator(sum.first() + j), static_cast<std::size_t>(j), some, sum.leaf(leaf));
      }
    }
    sum.reduce(std::span(totals).subspan(first * width, some.size() * width));
  }
  communicator().broadcast(std::span<double>(totals));
  return totals;
}

std::optional<AnalyticKernel> OscillatorBath::analytic_kernel(std::span<const double> times) const {
  AnalyticKernel analytic;
  analytic.kernel = sum_over_oscillators(
      times, 1,
      [&](const BathOscillator& oscillator, std::size_t, std::span<const double> some, std::span<double> sums) {
        for (std::size_t i = 0; i < some.size(); ++i)
          sums[i] += oscillator.stiffness * std::cos(oscillator.frequency * some[i]);
      });
  for (double t : times) {
    if (spectrum_.kernel_limit) analytic.limit.push_back(spectrum_.kernel_limit(t));
  }
  if (state().w.empty()) return analytic;  // not prepared yet
  const std::size_t axes = state().axes;
  analytic.random_force = sum_over_oscillators(
      times, axes,
      [&](const BathOscillator& oscillator, std::size_t j, std::span<const double> some, std::span<double> sums) {
        for (std::size_t i = 0; i < some.size(); ++i) {
          const double cosine = oscillator.stiffness * std::cos(oscillator.frequency * some[i]);
          // k/(m omega) = omega
          const double sine = oscillator.frequency * std::sin(oscillator.frequency * some[i]);
          for (std::size_t axis = 0; axis < axes; ++axis) {
            sums[i * axes + axis] += cosine * state().w[axis][j] + sine * state().p[axis][j];
          }
        }
      });
  return analytic;
}

}  // namespace bathline
