// From a density to a Gauss rule: its support, panels of a fine quadrature, the recursion, and the measured error.
#include "model/kernels/gauss_rule_bath.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "model/kernels/kernel_error.hpp"
#include "model/kernels/adaptive_quadrature.hpp"
#include "model/kernels/chain_mapping.hpp"
#include "solve/larger_or_nan.hpp"

namespace bathline {

namespace {

/// The conversion of more sites would take minutes.
constexpr double max_sites = 12'000;

/// Bound of the sum over k > d of 4 |J_2k(x)|, d = 2 n - 1, whose terms fall at least as exp(-2 a): J_v(v/cosh a) is at
/// most exp(-v (a - tanh a)).
double bound_of_rule(double sites, double x) {
  const double order = 4.0 * sites;
  if (order <= x) return 4.0;
  const double a = std::acosh(order / x);
  return std::min(4.0, 4.0 * std::exp(-order * (a - std::tanh(a))) / -std::expm1(-2.0 * a));
}

/// Number of nodes for which the bound is below `fraction`.
double sites_for(double x, double fraction) {
  double upper = 0.25 * x + 1.0, step = 1.0;
  while (bound_of_rule(upper, x) > fraction) {
    upper += step;
    step *= 2.0;
  }
  for (double lower = 0.25 * x; upper - lower > 0.5;) {
    const double middle = 0.5 * (lower + upper);
    (bound_of_rule(middle, x) > fraction ? lower : upper) = middle;
  }
  return std::ceil(upper);
}

std::vector<BathOscillator> oscillators_on(const std::vector<Panel>& panels, const SpectralDensity& density) {
  const auto g = [&](double w) { return checked_weight(density, w); };
  std::vector<BathOscillator> all;
  for (const WeightedNode& node : nodes_on(panels, g)) all.push_back({node.position, node.weight});
  return all;
}

/// The highest frequency of a bath, and the number of nodes of its rule.
struct BathSize {
  BathSize(const SpectralDensity& density, const DensityScan& scan, const BathAccuracy& accuracy)
      : highest(density.highest) {
    const double fraction = 0.25 * accuracy.tolerance * scan.norm(accuracy.horizon);
    if (!std::isfinite(highest)) highest = scan.highest(accuracy.horizon, fraction);
    sites = sites_for(highest * accuracy.horizon, fraction / (scan.value() * accuracy.horizon));
    if (sites <= max_sites) return;
    throw TooManyOscillators(
        fmt::format("it needs {:.0f} oscillators, with frequencies up to {:.4g} rad/s for {:.4g} s, but at most {:.0f} "
                    "are supported",
                    sites, highest, accuracy.horizon, max_sites));
  }
  double highest, sites;
};

}  // namespace

double oscillators_for(const SpectralDensity& density, const BathAccuracy& accuracy) {
  return BathSize(density, DensityScan(density), accuracy).sites;
}

double kernel_at(const std::vector<BathOscillator>& star, double t) {
  double sum = 0.0;
  for (const BathOscillator& oscillator : star) sum += oscillator.stiffness * std::cos(oscillator.frequency * t);
  return sum;
}

GaussRuleBath make_bath(const SpectralDensity& density, const BathAccuracy& accuracy) {
  const DensityScan scan(density);
  const BathSize size(density, scan, accuracy);
  GaussRuleBath bath;
  bath.highest = size.highest;
  const double sites = size.sites, x = size.highest * accuracy.horizon;
  std::vector<double> kinks = density.kinks;
  kinks.push_back(scan.peak_frequency());
  const std::vector<Panel> panels =
      adaptive_panels([&](double w) { return checked_weight(density, w); }, breakpoints_until(bath.highest, kinks),
                      {.scale = scan.value(), .oscillation = 4.0 * sites / bath.highest, .edge = bath.highest});
  bath.chain = chain_from_star(oscillators_on(panels, density), static_cast<std::int64_t>(sites));
  bath.star = star_from_chain(bath.chain);
  bath.kernel = density.kernel;
  if (!bath.kernel)
    bath.kernel = [all = oscillators_on(halved(panels), density)](double t) { return kernel_at(all, t); };
  bath.damping = damping_of(density, bath.highest);
  const KernelError error = measure_kernel_error(
      bath.kernel, [&](double t) { return kernel_at(bath.star, t); }, bath.highest, accuracy.horizon);
  bath.norm = error.norm;
  bath.measured = error.error;
  const bool is_complete = static_cast<double>(bath.chain.size()) < sites;
  const double rule_error = is_complete ? 0.0 : bound_of_rule(static_cast<double>(bath.chain.size()), x);
  bath.bound = rule_error * scan.value() * accuracy.horizon / bath.norm;
  bath.truncation_error =
      std::isfinite(density.highest) ? 0.0 : scan.truncation_error_above(bath.highest, accuracy.horizon) / bath.norm;
  return bath;
}

SpectralDensity density_of_kernel(const std::function<double(double)>& kernel, const std::vector<double>& kinks,
                                  const BathAccuracy& accuracy) {
  // Limit of the nodes in time times the nodes in frequency.
  constexpr double max_products = 5e7;
  const KernelScan scan(kernel, accuracy.tolerance);
  const double end = kinks.empty() ? scan.end : std::min(scan.end, kinks.back());
  const std::vector<double> pieces = breakpoints_until(end, kinks);
  for (double highest = 4.0 / end;; highest *= 1.5) {
    auto nodes = std::make_shared<const std::vector<WeightedNode>>(
        nodes_on(adaptive_panels(kernel, pieces, {.scale = scan.norm, .oscillation = highest}), kernel));
    const double x = highest * accuracy.horizon;
    if (static_cast<double>(nodes->size()) * std::max(x, 32.0) > max_products) {
      throw TooManyOscillators(
          fmt::format("its density is not negligible at {:.4g} rad/s, so that it needs too many oscillators", highest));
    }
    const auto transform = [nodes](double w) {
      double sum = 0.0;
      for (const WeightedNode& node : *nodes) sum += node.weight * std::cos(w * node.position);
      return sum;
    };
    // Envelope of the remaining density over one or two oscillations; it falls at least as 1/w^2.
    double remainder = 0.0;
    for (int i = 0; i <= 40; ++i) remainder = larger_or_nan(remainder, std::abs(transform(highest * (1.0 - 0.01 * i))));
    if (!(2.0 * remainder * (1.0 + std::log(std::max(1.0, x))) <= 0.25 * accuracy.tolerance * scan.norm)) continue;
    return {.value = [transform](double w) { return w * transform(w); },
            .kinks = {},
            .highest = highest,
            .noise = 0.1 * accuracy.tolerance * scan.norm,
            .kernel = kernel};
  }
}

}  // namespace bathline
