// Random numbers with the density exp(-V(s)/kT), by the inverse of its distribution.
// Tested by tests/model/line/nonlinear_thermal_test.cpp.
#include "model/thermal/boltzmann_table.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

namespace bathline {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// What lies higher has no part in the density, which is below 1e-20 there.
constexpr double highest_exponent = 46.0;

double finite_or_infinity(double energy) { return std::isfinite(energy) ? energy : infinity; }

}  // namespace

std::pair<double, double> turning_points(const Energy& potential, double energy) {
  // Whatever the units, a place of interest lies between these.
  static const std::vector<double> places = [] {
    std::vector<double> all = {0.0};
    for (double distance = 1e-30; distance < 1e30; distance *= 1.1) all.insert(all.end(), {-distance, distance});
    std::ranges::sort(all);
    return all;
  }();
  std::vector<double> energies;
  for (const double place : places) energies.push_back(finite_or_infinity(potential(place)));
  const double limit = *std::ranges::min_element(energies) + energy;
  const auto outermost = [&](std::size_t i, std::size_t inwards) {
    if (energies[i] <= limit) return std::copysign(infinity, places[i]);
    while (energies[i] > limit) i += inwards;
    double inside = places[i], outside = places[i - inwards];
    for (int step = 0; step < 60; ++step) {
      const double middle = 0.5 * (inside + outside);
      (finite_or_infinity(potential(middle)) <= limit ? inside : outside) = middle;
    }
    return inside;
  };
  return {outermost(0, 1), outermost(places.size() - 1, static_cast<std::size_t>(-1))};
}

double largest_curvature(const PairPotential& potential, double energy) {
  constexpr int places = 1000;
  auto [lowest, highest] = turning_points([&](double s) { return potential.value(s); }, energy);
  const double stiffness = std::abs(potential.second_derivative(0.0));
  if (!std::isfinite(lowest) && !std::isfinite(highest))
    highest = stiffness > 0.0 ? std::sqrt(energy / stiffness) : 0.0;
  if (!std::isfinite(lowest)) lowest = -std::abs(highest);
  if (!std::isfinite(highest)) highest = std::abs(lowest);
  double largest = 0.0;
  for (int i = 0; i <= places; ++i) {
    const double curvature = potential.second_derivative(lowest + (highest - lowest) * i / places);
    if (std::isfinite(curvature)) largest = std::max(largest, curvature);
  }
  return largest;
}

void TabulatedDensity::tabulate(double first, double step, std::span<const double> values) {
  first_ = first;
  step_ = step;
  values_.assign(values.begin(), values.end());
  const std::size_t cells = values.size() - 1;
  sums_.resize(cells + 1);
  for (std::size_t cell = 0; cell < cells; ++cell) {
    const double before = values[cell - std::min<std::size_t>(cell, 1)], behind = values[std::min(cell + 2, cells)];
    sums_[cell + 1] = sums_[cell] + std::max(0.0, 13.0 * (values[cell] + values[cell + 1]) - before - behind);
  }
}

double TabulatedDensity::quantile(double u) const {
  const double sum = u * sums_.back();
  const auto cell =
      static_cast<std::size_t>(std::lower_bound(sums_.begin() + 1, sums_.end() - 1, sum) - sums_.begin() - 1);
  const double probability = sums_[cell + 1] - sums_[cell], ratio = values_[cell + 1] / values_[cell];
  const double part = probability > 0.0 ? std::clamp((sum - sums_[cell]) / probability, 0.0, 1.0) : 0.5;
  const bool is_even = !(ratio > 0.0) || !std::isfinite(ratio) || std::abs(ratio - 1.0) < 1e-9;
  return first_ +
         step_ * (static_cast<double>(cell) + (is_even ? part : std::log1p(part * (ratio - 1.0)) / std::log(ratio)));
}

std::optional<BoltzmannTable> BoltzmannTable::tabulate(Energy potential, double temperature, int cells) {
  auto [lowest, highest] = turning_points(potential, highest_exponent * temperature);
  if (!std::isfinite(lowest) || !std::isfinite(highest) || !(highest > lowest)) return std::nullopt;
  BoltzmannTable table;
  std::vector<double> density;
  double step = 0.0;
  // Where the minimum is far from the places that were tried first, few cells contain the density.
  for (std::ptrdiff_t first = 0, last = 0; 2 * (last - first) <= cells;) {
    step = (highest - lowest) / cells;
    density.clear();
    for (int i = 0; i <= cells; ++i) density.push_back(finite_or_infinity(potential(lowest + step * i)));
    table.least_ = *std::ranges::min_element(density);
    for (double& value : density) value = std::exp((table.least_ - value) / temperature);
    const auto is_high = [](double value) { return value > std::exp(-highest_exponent); };
    first = std::ranges::find_if(density, is_high) - density.begin();
    last = cells - (std::find_if(density.rbegin(), density.rend(), is_high) - density.rbegin());
    table.TabulatedDensity::tabulate(lowest, step, density);
    highest = lowest + step * static_cast<double>(std::min<std::ptrdiff_t>(cells, last + 1));
    lowest += step * static_cast<double>(std::max<std::ptrdiff_t>(0, first - 1));
  }
  double sum = 0.0, first_moment = 0.0, second_moment = 0.0;
  for (int i = 0; i <= cells; ++i) {
    const double weight = (i % cells == 0 ? 0.5 : 1.0) * density[static_cast<std::size_t>(i)], s = step * i;
    sum += weight;
    first_moment += weight * s;
    second_moment += weight * s * s;
  }
  table.potential_ = std::move(potential);
  table.temperature_ = temperature;
  table.mean_ = table.lowest() + first_moment / sum;
  table.variance_ = second_moment / sum - std::pow(first_moment / sum, 2);
  return table;
}

// The mean falls as the pressure P rises, by d<s>/dP = -variance/kT, from infinity where P is too low for an integral:
// Newton's method between a pressure that is too low and one that is too high.
std::optional<BoltzmannTable> BoltzmannTable::with_mean(const Energy& potential, double temperature, double mean) {
  constexpr int few_cells = 512, max_iterations = 200;
  // Springs without an end on one side have a scale on the other.
  const auto [lowest, highest] = turning_points(potential, temperature);
  const double scale = std::isfinite(lowest) ? std::abs(lowest) : std::abs(highest);
  if (!std::isfinite(scale) || scale == 0.0) return std::nullopt;
  double low = -infinity, high = infinity, pressure = 0.0, step = temperature / scale;
  for (int i = 0; i < max_iterations; ++i) {
    const Energy tilted = [=](double s) { return potential(s) + pressure * s; };
    double excess = std::isfinite(turning_points(tilted, highest_exponent * temperature).first) ? infinity : -infinity;
    double next = infinity;
    if (const auto table = tabulate(tilted, temperature, few_cells)) {
      excess = table->mean() - mean;
      if (std::abs(excess) <= 1e-8 * std::sqrt(table->variance())) break;
      next = pressure + excess * temperature / table->variance();
    }
    (excess > 0.0 ? low : high) = pressure;
    if (low < next && next < high) {
      pressure = next;
    } else if (std::isfinite(low) && std::isfinite(high)) {
      pressure = 0.5 * (low + high);
    } else {
      pressure += excess > 0.0 ? step : -step;
      step *= 2.0;
    }
  }
  std::optional<BoltzmannTable> table =
      tabulate([=](double s) { return potential(s) + pressure * s; }, temperature, many_cells);
  if (!table || !(std::abs(table->mean() - mean) < 1e-4 * std::sqrt(table->variance()))) return std::nullopt;
  table->pressure_ = pressure;
  return table;
}

double BoltzmannTable::density(double s) const {
  return std::exp((least_ - finite_or_infinity(potential_(s))) / temperature_);
}

// The density of the sum is int phi(k)^count exp(-i k sum) dk/2 pi, at most int |phi|^count dk/2 pi.
double BoltzmannTable::likelihood_of_sum(std::int64_t count, double sum) const {
  const std::size_t stride = std::max<std::size_t>(1, values_.size() / 1024);
  constexpr double width = 40.0;  // standard deviations, after which the trapezoidal rule repeats the density
  const double deviation = sum - static_cast<double>(count) * mean_;
  const double wave =
      2.0 * std::numbers::pi / (width * std::sqrt(variance_ * static_cast<double>(count)) + 2.0 * std::abs(deviation));
  double density = 0.5, bound = 0.5;
  for (int k = 1; k < 100'000; ++k) {
    std::complex<double> phi = 0.0;
    double weights = 0.0;
    for (std::size_t i = 0; i < values_.size(); i += stride) {
      phi += values_[i] * std::polar(1.0, wave * k * (first_ + step_ * static_cast<double>(i) - mean_));
      weights += values_[i];
    }
    const double size = std::pow(std::abs(phi) / weights, static_cast<double>(count));
    const double phase = std::arg(phi) * static_cast<double>(count) - wave * k * deviation;
    density += size * std::cos(phase);
    bound += size;
    if (size < 1e-17) break;
  }
  return std::clamp(density / bound, 0.0, 1.0);
}

}  // namespace bathline
