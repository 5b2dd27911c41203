// Random numbers with the density exp(-(V(s) + P s)/kT), by the inverse of its distribution.
// Tested by tests/model/line/nonlinear_thermal_test.cpp.
#include "model/line/boltzmann_table.hpp"

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

double tilted(const PairPotential& potential, double pressure, double s) {
  const double energy = potential.value(s) + pressure * s;
  return std::isfinite(energy) ? energy : infinity;
}

}  // namespace

std::pair<double, double> turning_points(const PairPotential& potential, double pressure, double energy) {
  // Whatever the units, a place of interest lies between these.
  constexpr double factor = 1.1;
  constexpr int scales = 1450;
  static const std::vector<double> distances = [] {
    std::vector<double> all = {0.0};
    for (int i = 1; i <= scales; ++i) all.push_back(1e-30 * std::pow(factor, i));
    return all;
  }();
  const auto place = [](int i) {
    return std::copysign(distances[static_cast<std::size_t>(std::abs(i))], static_cast<double>(i));
  };
  double least = infinity;
  std::vector<double> energies;
  for (int i = -scales; i <= scales; ++i) {
    energies.push_back(tilted(potential, pressure, place(i)));
    least = std::min(least, energies.back());
  }
  const auto outermost = [&](int side) {
    int i = side * scales;
    while (energies[static_cast<std::size_t>(i + scales)] > least + energy) i -= side;
    if (i == side * scales) return side * infinity;
    double inside = place(i), outside = place(i + side);
    for (int step = 0; step < 60; ++step) {
      const double middle = 0.5 * (inside + outside);
      (tilted(potential, pressure, middle) <= least + energy ? inside : outside) = middle;
    }
    return inside;
  };
  return {outermost(-1), outermost(1)};
}

double largest_curvature(const PairPotential& potential, double energy) {
  constexpr int places = 1000;
  auto [lowest, highest] = turning_points(potential, 0.0, energy);
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

std::optional<BoltzmannTable> BoltzmannTable::tabulate(const PairPotential& potential, double temperature,
                                                       double pressure, int cells) {
  const auto [lowest, highest] = turning_points(potential, pressure, highest_exponent * temperature);
  if (!std::isfinite(lowest) || !std::isfinite(highest) || !(highest > lowest)) return std::nullopt;
  BoltzmannTable table;
  table.potential_ = &potential;
  table.temperature_ = temperature;
  table.cells_ = cells;
  table.pressure_ = pressure;
  table.first_ = lowest;
  table.step_ = (highest - lowest) / cells;
  std::vector<double> exponents;  // at nodes and in the middle of cells
  for (int i = 0; i <= 2 * cells; ++i) {
    const double s = lowest + 0.5 * table.step_ * i;
    exponents.push_back(tilted(potential, pressure, s) / temperature);
  }
  const double least = *std::min_element(exponents.begin(), exponents.end());
  table.least_ = least * temperature;
  for (double& exponent : exponents) exponent = std::max(least - exponent, -2.0 * highest_exponent);
  table.distribution_ = {0.0};
  double first_moment = 0.0, second_moment = 0.0;
  for (int cell = 0; cell < cells; ++cell) {
    // Simpson's rule.
    double integral = 0.0;
    for (int i = 0; i < 3; ++i) {
      const double s = table.step_ * (cell + 0.5 * i);
      const double part =
          (i == 1 ? 4.0 : 1.0) / 6.0 * table.step_ * std::exp(exponents[static_cast<std::size_t>(2 * cell + i)]);
      integral += part;
      first_moment += part * s;
      second_moment += part * s * s;
    }
    table.distribution_.push_back(table.distribution_.back() + integral);
  }
  for (int i = 0; i <= cells; ++i) table.logarithms_.push_back(exponents[static_cast<std::size_t>(2 * i)]);
  table.integral_ = table.distribution_.back();
  for (double& probability : table.distribution_) probability /= table.integral_;
  table.mean_ = lowest + first_moment / table.integral_;
  table.variance_ = second_moment / table.integral_ - std::pow(first_moment / table.integral_, 2);
  int cell = 0;
  for (int part = 0; part < cells; ++part) {
    while (table.distribution_[static_cast<std::size_t>(cell + 1)] * cells < part) ++cell;
    table.guide_.push_back(cell);
  }
  return table;
}

// d<s>/dP = -variance/kT: Newton's method, with smaller steps where the density has no integral or the mean is no
// nearer.
std::optional<BoltzmannTable> BoltzmannTable::with_mean(const PairPotential& potential, double temperature,
                                                        double mean) {
  constexpr int few = 512;
  std::optional<BoltzmannTable> table = tabulate(potential, temperature, 0.0, few);
  if (!table) {
    // Springs without an end on one side need a pressure from the other.
    const auto [lowest, highest] = turning_points(potential, 0.0, temperature);
    const double scale = std::isfinite(lowest) ? -lowest : highest;
    if (!std::isfinite(scale) || scale == 0.0) return std::nullopt;
    table = tabulate(potential, temperature, (std::isfinite(lowest) ? 1.0 : -1.0) * temperature / std::abs(scale), few);
  }
  for (int iteration = 0; table && iteration < 100; ++iteration) {
    const double error = table->mean() - mean;
    if (std::abs(error) <= 1e-8 * std::sqrt(table->variance())) return of(potential, temperature, table->pressure());
    double change = error * temperature / table->variance();
    std::optional<BoltzmannTable> next;
    for (int halving = 0; halving < 60; ++halving, change *= 0.5) {
      next = tabulate(potential, temperature, table->pressure() + change, few);
      if (next && std::abs(next->mean() - mean) < std::abs(error)) break;
      next = std::nullopt;
    }
    if (!next) {
      // The integrals of so few cells have errors.
      if (std::abs(error) > 1e-4 * std::sqrt(table->variance())) return std::nullopt;
      return of(potential, temperature, table->pressure());
    }
    table = std::move(next);
  }
  return std::nullopt;
}

double BoltzmannTable::density(double s) const {
  return std::exp((least_ - tilted(*potential_, pressure_, s)) / temperature_) / integral_;
}

double BoltzmannTable::quantile(double u) const {
  auto cell = static_cast<std::size_t>(guide_[static_cast<std::size_t>(std::min(u * cells_, cells_ - 1.0))]);
  while (cell + 1 < static_cast<std::size_t>(cells_) && distribution_[cell + 1] < u) ++cell;
  const double probability = distribution_[cell + 1] - distribution_[cell];
  const double part = probability > 0.0 ? std::min(1.0, (u - distribution_[cell]) / probability) : 0.5;
  const double rise = logarithms_[cell + 1] - logarithms_[cell];
  const double inside = std::abs(rise) < 1e-9 ? part : std::log1p(part * std::expm1(rise)) / rise;
  return first_ + step_ * (static_cast<double>(cell) + inside);
}

// The density of the sum is int phi(k)^count exp(-i k sum) dk/2 pi, at most int |phi|^count dk/2 pi.
double BoltzmannTable::likelihood_of_sum(std::int64_t count, double sum) const {
  const auto stride = static_cast<std::size_t>(std::max(1, cells_ / 1024));
  constexpr double width = 40.0;  // standard deviations, after which the trapezoidal rule repeats the density
  const double deviation = sum - static_cast<double>(count) * mean_;
  const double wave =
      2.0 * std::numbers::pi / (width * std::sqrt(variance_ * static_cast<double>(count)) + 2.0 * std::abs(deviation));
  double density = 0.5, bound = 0.5;
  for (int k = 1; k < 100'000; ++k) {
    std::complex<double> phi = 0.0;
    double weights = 0.0;
    for (std::size_t i = 0; i < logarithms_.size(); i += stride) {
      const double s = first_ + step_ * static_cast<double>(i) - mean_, weight = std::exp(logarithms_[i]);
      phi += weight * std::polar(1.0, wave * k * s);
      weights += weight;
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
