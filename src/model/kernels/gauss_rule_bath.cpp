// From a density to a rule: where it lies, panels that hold all of it, the recursion of these, and what came out.
#include "model/kernels/gauss_rule_bath.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "model/kernels/kernel_error.hpp"
#include "model/kernels/adaptive_quadrature.hpp"
#include "model/kernels/chain_mapping.hpp"

namespace bathline {

namespace {

/// More would take minutes.
constexpr double max_sites = 12'000;

/// Of the sum over k > d of 4 |J_2k(x)|, d = 2 n - 1, whose terms fall by exp(-2 a) and more: J_v(v/cosh a) is at most
/// exp(-v (a - tanh a)).
double bound_of_rule(double sites, double x) {
  const double order = 4.0 * sites;
  if (order <= x) return 4.0;
  const double a = std::acosh(order / x);
  return std::min(4.0, 4.0 * std::exp(-order * (a - std::tanh(a))) / -std::expm1(-2.0 * a));
}

/// Nodes that bring that below `share`.
double sites_for(double x, double share) {
  double enough = 0.25 * x + 1.0, step = 1.0;
  while (bound_of_rule(enough, x) > share) {
    enough += step;
    step *= 2.0;
  }
  for (double low = 0.25 * x; enough - low > 0.5;) {
    const double middle = 0.5 * (low + enough);
    (bound_of_rule(middle, x) > share ? low : enough) = middle;
  }
  return std::ceil(enough);
}

std::vector<BathOscillator> oscillators_on(const std::vector<Panel>& panels, const SpectralDensity& density) {
  const auto g = [&](double w) { return checked_weight(density, w); };
  std::vector<BathOscillator> all;
  for (const WeightedNode& node : nodes_on(panels, g)) all.push_back({node.place, node.weight});
  return all;
}

/// How far up a bath reaches, and how many nodes its rule has.
struct BathSize {
  BathSize(const SpectralDensity& density, const DensityScan& scan, const BathAccuracy& accuracy)
      : highest(density.highest) {
    const double share = 0.25 * accuracy.tolerance * scan.norm(accuracy.horizon);
    if (!std::isfinite(highest)) highest = scan.highest(accuracy.horizon, share);
    sites = sites_for(highest * accuracy.horizon, share / (scan.value() * accuracy.horizon));
    if (sites <= max_sites) return;
    throw TooManyOscillators(
        fmt::format("it would take {:.0f} oscillators, with frequencies up to {:.4g} rad/s for {:.4g} s, more than "
                    "{:.0f}; allow for a larger `tolerance`, or give a shorter `horizon` or a lower `omega_max`",
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
  for (const BathOscillator& one : star) sum += one.stiffness * std::cos(one.frequency * t);
  return sum;
}

GaussRuleBath make_bath(const SpectralDensity& density, const BathAccuracy& accuracy) {
  const DensityScan scan(density);
  const BathSize size(density, scan, accuracy);
  GaussRuleBath bath;
  bath.highest = size.highest;
  const double wanted = size.sites, x = size.highest * accuracy.horizon;
  std::vector<double> kinks = density.kinks;
  kinks.push_back(scan.place_of_peak());
  const std::vector<Panel> panels =
      adaptive_panels([&](double w) { return checked_weight(density, w); }, breakpoints_until(bath.highest, kinks),
                      {.scale = scan.value(), .oscillation = 4.0 * wanted / bath.highest, .edge = bath.highest});
  bath.chain = chain_from_star(oscillators_on(panels, density), static_cast<std::int64_t>(wanted));
  bath.star = star_from_chain(bath.chain);
  bath.kernel = density.kernel;
  if (!bath.kernel)
    bath.kernel = [all = oscillators_on(halved(panels), density)](double t) { return kernel_at(all, t); };
  bath.damping = damping_of(density, bath.highest);
  const KernelError found = measure_kernel_error(
      bath.kernel, [&](double t) { return kernel_at(bath.star, t); }, bath.highest, accuracy.horizon);
  bath.norm = found.norm;
  bath.measured = found.error;
  const bool is_whole = static_cast<double>(bath.chain.size()) < wanted;
  const double left_out = is_whole ? 0.0 : bound_of_rule(static_cast<double>(bath.chain.size()), x);
  bath.bound = left_out * scan.value() * accuracy.horizon / bath.norm;
  bath.truncation_error =
      std::isfinite(density.highest) ? 0.0 : scan.truncation_error_above(bath.highest, accuracy.horizon) / bath.norm;
  return bath;
}

SpectralDensity density_of_kernel(const std::function<double(double)>& kernel, const std::vector<double>& kinks,
                                  const BathAccuracy& accuracy) {
  // Of nodes in time with those in frequency.
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
          fmt::format("its density still counts at {:.4g} rad/s, which would take too many oscillators; allow for a "
                      "larger `tolerance`, or take representation = \"exponentials\"",
                      highest));
    }
    const auto transform = [nodes](double w) {
      double sum = 0.0;
      for (const WeightedNode& node : *nodes) sum += node.weight * std::cos(w * node.place);
      return sum;
    };
    // An envelope over a wave or two of what is left, which falls at least as 1/w^2.
    double left = 0.0;
    for (int i = 0; i <= 40; ++i) left = std::max(left, std::abs(transform(highest * (1.0 - 0.01 * i))));
    if (2.0 * left * (1.0 + std::log(std::max(1.0, x))) > 0.25 * accuracy.tolerance * scan.norm) continue;
    return {.value = [transform](double w) { return w * transform(w); },
            .kinks = {},
            .highest = highest,
            .noise = 0.1 * accuracy.tolerance * scan.norm,
            .kernel = kernel};
  }
}

}  // namespace bathline
