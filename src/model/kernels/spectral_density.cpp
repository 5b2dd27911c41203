// Densities are evaluated over sixty decades, since their units are not known.
// Tested by tests/model/kernels/gauss_rule_bath_test.cpp.
#include "model/kernels/spectral_density.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "model/kernels/adaptive_quadrature.hpp"

namespace bathline {

namespace {

using std::numbers::pi;

constexpr int per_decade = 32, lowest_power = 30;
constexpr double spacing = std::numbers::ln10 / per_decade;

}  // namespace

double checked_value(const SpectralDensity& density, double w) {
  const double j = density.value(w);
  if (!std::isfinite(j)) throw UnsuitableFunction(fmt::format("J has no finite value at w = {:.4g}", w));
  if (j >= 0.0) return j;
  if (j >= -density.noise * w) return 0.0;
  throw UnsuitableFunction(
      fmt::format("J is {:.4g} at w = {:.4g}, but the density of a passive environment is not negative", j, w));
}

double checked_weight(const SpectralDensity& density, double w) { return 2.0 / pi * checked_value(density, w) / w; }

std::vector<double> breakpoints_until(double end, std::vector<double> kinks) {
  std::sort(kinks.begin(), kinks.end());
  std::vector<double> pieces = {0.0};
  for (const double kink : kinks) {
    if (kink > pieces.back() && kink < end) pieces.push_back(kink);
  }
  pieces.push_back(end);
  return pieces;
}

double damping_of(const SpectralDensity& density, double highest) {
  const double w = 1e-9 * highest, far = density.value(w) / w, near = density.value(0.1 * w) / (0.1 * w);
  if (std::abs(near - far) <= 0.01 * std::abs(far)) return far;
  return near > far ? std::numeric_limits<double>::infinity() : 0.0;
}

DensityScan::DensityScan(const SpectralDensity& density) {
  for (int i = -lowest_power * per_decade; i <= lowest_power * per_decade; ++i) {
    const double w = std::pow(10.0, static_cast<double>(i) / per_decade);
    if (w > density.highest) break;
    w_.push_back(w);
    j_.push_back(checked_value(density, w));
  }
  if (j_.empty() || !(peak() > 0.0)) {
    throw UnsuitableFunction(fmt::format(
        "it is 0 at all of {} frequencies per decade; give a sharp line as an oscillator of a `heat-bath` with a table",
        per_decade));
  }
  // Growth over the first decade.
  const double first = j_.front() > 0.0 ? j_[per_decade] / j_.front() : 10.0;
  if (first < 1.1) {
    throw UnsuitableFunction(
        fmt::format("J(w)/w has no integral at low frequencies: J must tend to 0 with w, but is {:.4g} at w = {:.0e}",
                    j_.front(), w_.front()));
  }
  if (std::isfinite(density.highest)) return;
  if (j_.back() > 1e-14 * peak()) {
    throw UnsuitableFunction(
        fmt::format("J(w)/w has no integral at high frequencies: J is {:.4g} at w = {:.0e}; add a cutoff such as "
                    "exp(-w/w_c), or give `omega_max`",
                    j_.back(), w_.back()));
  }
}

double DensityScan::norm(double horizon) const {
  double squares = 0.0;
  for (std::size_t i = 0; i < w_.size(); ++i) {
    if (w_[i] * horizon > 1.0) squares += 2.0 / pi * j_[i] * j_[i] / w_[i] * spacing;
  }
  return squares > 0.0 ? std::min(squares / value(), value() * horizon) : value() * horizon;
}

double DensityScan::highest(double horizon, double fraction) const {
  std::size_t i = w_.size() - 1;
  while (i > index_of_peak() && truncation_error_above(w_[i - 1], horizon) <= fraction) --i;
  return w_[i];
}

double DensityScan::truncation_error_above(double w, double horizon) const {
  const auto i = static_cast<std::size_t>(std::lower_bound(w_.begin(), w_.end(), w) - w_.begin());
  if (i + 1 >= w_.size()) return 0.0;
  const double m = sum_from(i), g = 2.0 / pi * j_[i] / w_[i];
  const double crossover = m > 0.0 ? 2.0 * g / m : 0.0;
  return horizon <= crossover ? m * horizon : 2.0 * g * (1.0 + (crossover > 0.0 ? std::log(horizon / crossover) : 0.0));
}

std::size_t DensityScan::index_of_peak() const {
  return static_cast<std::size_t>(std::max_element(j_.begin(), j_.end()) - j_.begin());
}

double DensityScan::sum_from(std::size_t begin) const {
  double sum = 0.0;
  for (std::size_t i = begin; i < j_.size(); ++i) sum += 2.0 / pi * j_[i] * spacing;
  return sum;
}

KernelScan::KernelScan(const std::function<double(double)>& kernel, double tolerance, double longest) : end(longest) {
  std::vector<double> times, sizes;
  if (std::isinf(kernel(0.0))) throw UnsuitableFunction("it is infinite at t = 0");
  // The largest values of all times and of the last decade, and the contribution of the latter to the integral.
  double largest = 0.0, max_of_last_decade = 0.0, last_contribution = 0.0;
  for (int i = -lowest_power * per_decade; i <= lowest_power * per_decade; ++i) {
    const double t = std::pow(10.0, static_cast<double>(i) / per_decade), value = kernel(t);
    if (!std::isfinite(value)) throw UnsuitableFunction(fmt::format("it has no finite value at t = {:.4g}", t));
    largest = std::max(largest, std::abs(value));
    const bool is_last = i > (lowest_power - 1) * per_decade;
    max_of_last_decade = is_last ? std::max(max_of_last_decade, std::abs(value)) : 0.0;
    damping += value * t * spacing;
    last_contribution += is_last ? std::abs(value) * t * spacing : 0.0;
    if (t > longest) continue;
    times.push_back(t);
    sizes.push_back(std::abs(value) * t * spacing);
    norm += sizes.back();
  }
  if (!(norm > 0.0)) throw UnsuitableFunction("it is 0 everywhere");
  if (last_contribution > 1e-3 * std::abs(damping)) damping = std::numeric_limits<double>::infinity();
  double tail = 0.0;
  std::size_t i = times.size() - 1;
  while (i > 0 && (tail += sizes[i]) <= 0.01 * tolerance * norm) --i;
  if (i + 1 < times.size()) {
    end = times[i + 1];
    return;
  }
  constexpr double persistent = 0.1;
  if (max_of_last_decade > persistent * largest) {
    throw UnsuitableFunction(
        "the kernel does not decay; give undamped oscillations as `stiffness`, `rate` = 0 and `frequency`");
  }
  if (std::isfinite(longest)) return;
  throw UnsuitableFunction("the kernel decays too slowly for a star or a chain");
}

}  // namespace bathline
