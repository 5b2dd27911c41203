// The oscillator bath: properties, state, energy, lumped network and analytic kernel.
#include "model/oscillator_bath/oscillator_bath.hpp"

#include <algorithm>
#include <cmath>

namespace bathline {

OscillatorBathState::OscillatorBathState(DiscreteSpectrum given, int number_of_axes, const Communicator& world)
    : spectrum(std::move(given)),
      communicator(world),
      axes(static_cast<std::size_t>(number_of_axes)),
      sum(Layout(spectrum.size, world.size(),
                 ReproducibleSum::leaf_size(spectrum.size, 256, std::max<std::int64_t>(256, spectrum.size))),
          world) {}

void OscillatorBathState::refresh_pull() {
  ++changes;
  sum.allocate(static_cast<int>(axes));
  for_each_chunk([&](std::int64_t leaf, std::int64_t begin, int n) {
    for (std::size_t axis = 0; axis < axes; ++axis) {
      for (auto j = static_cast<std::size_t>(begin); j < static_cast<std::size_t>(begin + n); ++j) {
        sum.leaf(leaf)[axis] += stiffness[j] * w[axis][j];
      }
    }
  });
  sum.reduce(pull);
}

OscillatorBath::OscillatorBath(std::string name, Attachment attachment, DiscreteSpectrum spectrum, double temperature,
                               const Communicator& communicator, int steps_per_pass)
    : Environment(std::move(name), std::move(attachment), communicator),
      state_(std::move(spectrum), Environment::attachment().axes(), communicator),
      temperature_(temperature),
      steps_per_pass_(steps_per_pass) {}

EnvironmentProperties OscillatorBath::describe() const {
  const DiscreteSpectrum& spectrum = state_.spectrum;
  return {.sites = spectrum.size,
          .site_name = "oscillator",
          .damping = spectrum.damping,
          .echo = {spectrum.recurrence, "recurrence"},
          .highest_frequency = spectrum.oscillator(spectrum.size - 1).frequency,
          .temperature = temperature_};
}

std::int64_t OscillatorBath::bytes(const Scheme&) const {
  return (2 + 2 * static_cast<std::int64_t>(state_.axes)) * state_.sum.count() *
         static_cast<std::int64_t>(sizeof(double));
}

LumpedNetwork OscillatorBath::assemble(std::int64_t limit) const {
  const DiscreteSpectrum& spectrum = state_.spectrum;
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
  ReproducibleSum& sum = state_.sum;
  std::vector<double> totals(times.size() * width);
  for (std::size_t first = 0; first < times.size(); first += times_at_once) {
    const std::span<const double> some = times.subspan(first, std::min(times_at_once, times.size() - first));
    sum.allocate(static_cast<int>(some.size() * width));
    for (std::int64_t leaf = 0; leaf < sum.leaves(); ++leaf) {
      const std::int64_t end = std::min(sum.count(), (leaf + 1) * sum.leaf_size());
      for (std::int64_t j = leaf * sum.leaf_size(); j < end; ++j) {
        add(state_.spectrum.oscillator(sum.first() + j), static_cast<std::size_t>(j), some, sum.leaf(leaf));
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
    if (state_.spectrum.kernel_limit) analytic.limit.push_back(state_.spectrum.kernel_limit(t));
  }
  if (state_.w.empty()) return analytic;  // not prepared yet
  const std::size_t axes = state_.axes;
  analytic.random_force = sum_over_oscillators(
      times, axes,
      [&](const BathOscillator& oscillator, std::size_t j, std::span<const double> some, std::span<double> sums) {
        for (std::size_t i = 0; i < some.size(); ++i) {
          const double cosine = oscillator.stiffness * std::cos(oscillator.frequency * some[i]);
          // k/(m omega) = omega
          const double sine = oscillator.frequency * std::sin(oscillator.frequency * some[i]);
          for (std::size_t axis = 0; axis < axes; ++axis) {
            sums[i * axes + axis] += cosine * state_.w[axis][j] + sine * state_.p[axis][j];
          }
        }
      });
  return analytic;
}

void OscillatorBath::prepare(const RngKey& key) {
  OscillatorBathState& s = state_;
  const auto count = static_cast<std::size_t>(s.sum.count());
  s.stiffness.resize(count);
  s.inverse_mass.resize(count);
  for (std::vector<std::vector<double>>* fields : {&s.w, &s.p}) {
    fields->resize(s.axes);
    for (std::vector<double>& field : *fields) field.assign(count, 0.0);  // in place: a copy may not fit
  }
  s.pull.assign(s.axes, 0.0);
  for (std::size_t j = 0; j < count; ++j) {
    const std::int64_t site = s.sum.first() + static_cast<std::int64_t>(j);
    const BathOscillator oscillator = s.spectrum.oscillator(site);
    s.stiffness[j] = oscillator.stiffness;
    s.inverse_mass[j] = oscillator.frequency * oscillator.frequency / oscillator.stiffness;
    if (temperature_ == 0.0) continue;
    // Gibbs distribution: k w^2 and p^2/m have the mean kT.
    for (std::size_t axis = 0; axis < s.axes; ++axis) {
      const auto [first, second] = normal_pair(key, static_cast<std::uint64_t>(site) * s.axes + axis);
      s.w[axis][j] = std::sqrt(temperature_ / oscillator.stiffness) * first;
      s.p[axis][j] = std::sqrt(temperature_ / s.inverse_mass[j]) * second;
    }
  }
  s.sum.allocate(1);
  s.for_each_chunk([&](std::int64_t leaf, std::int64_t begin, int n) {
    for (int j = 0; j < n; ++j) s.sum.leaf(leaf)[0] += s.stiffness[static_cast<std::size_t>(begin + j)];
  });
  s.sum.reduce({&s.total_stiffness, 1});
  s.refresh_pull();
}

std::vector<StateField> OscillatorBath::fields() {
  std::vector<StateField> fields;
  for (std::size_t axis = 0; axis < state_.axes; ++axis) {
    const std::int64_t first = state_.sum.first(), total = state_.spectrum.size;
    fields.push_back({"w", static_cast<int>(axis), first, total, state_.w[axis]});
    fields.push_back({"p", static_cast<int>(axis), first, total, state_.p[axis]});
  }
  return fields;
}

EnvironmentEnergy OscillatorBath::energy(std::span<const double> head) {
  std::vector<double> x(head.begin(), head.end());
  communicator().broadcast(std::span<double>(x));
  OscillatorBathState& s = state_;
  s.sum.allocate(2);
  s.for_each_chunk([&](std::int64_t leaf, std::int64_t begin, int n) {
    const std::span<double> sums = s.sum.leaf(leaf);
    for (std::size_t axis = 0; axis < s.axes; ++axis) {
      for (auto j = static_cast<std::size_t>(begin); j < static_cast<std::size_t>(begin + n); ++j) {
        const double strain = s.w[axis][j] - x[axis];
        sums[0] += 0.5 * s.inverse_mass[j] * (s.p[axis][j] * s.p[axis][j]);
        sums[1] += 0.5 * s.stiffness[j] * (strain * strain);
      }
    }
  });
  double sums[2] = {};
  s.sum.reduce(sums);
  communicator().broadcast(std::span<double>(sums));
  return {.environment = sums[0], .interaction = sums[1], .dissipated = 0.0};
}

void OscillatorBath::force(std::span<const double> head, std::span<double> force) const {
  for (std::size_t axis = 0; axis < state_.axes; ++axis) {
    force[axis] = state_.pull[axis] - state_.total_stiffness * head[axis];
  }
}

std::unique_ptr<ExplicitEnvironmentStepper> OscillatorBath::explicit_stepper(const ExplicitScheme& scheme, double h) {
  return make_explicit_environment_stepper(state_, scheme, h, steps_per_pass_);
}

std::unique_ptr<ImplicitEnvironmentStepper> OscillatorBath::implicit_stepper(const PartitionedRungeKutta& scheme,
                                                                             double h) {
  return make_implicit_environment_stepper(state_, scheme, h);
}

}  // namespace bathline
