// From a density to a rule: where it lies, panels that hold all of it, the recursion of these, and what came out.
#include "model/spectral/bath.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "model/spectral/panels.hpp"
#include "model/spectral/star_and_chain.hpp"

namespace bathline {

namespace {

using std::numbers::pi;

/// More would take minutes.
constexpr double most_sites = 12'000;

/// J on a logarithmic grid: where it lies, whatever the units.
class Scan {
 public:
  explicit Scan(const SpectralDensity& density) {
    for (int i = -lowest_power * per_decade; i <= lowest_power * per_decade; ++i) {
      const double w = std::pow(10.0, static_cast<double>(i) / per_decade);
      if (w > density.highest) break;
      w_.push_back(w);
      j_.push_back(checked_value(density, w));
    }
    if (j_.empty() || !(peak() > 0.0)) {
      throw UnsuitableFunction(
          fmt::format("it is 0 everywhere, as far as {} frequencies a decade show; a line sharper than that is an "
                      "oscillator: take a `heat-bath` with a table",
                      per_decade));
    }
    // By how much it grows over the first decade, and over the last.
    const double first = j_.front() > 0.0 ? j_[per_decade] / j_.front() : 10.0;
    if (first < 1.1) {
      throw UnsuitableFunction(
          fmt::format("J(w)/w has no integral at low frequencies: J has to go to 0 with w, but is {:.4g} at w = {:.0e}",
                      j_.front(), w_.front()));
    }
    if (std::isfinite(density.highest)) return;
    if (j_.back() > 1e-14 * peak()) {
      throw UnsuitableFunction(fmt::format(
          "J(w)/w has no integral at high frequencies: J is {:.4g} at w = {:.0e}; let it fall, as with a factor "
          "exp(-w/w_c), or give `omega_max`",
          j_.back(), w_.back()));
    }
  }

  static double checked_value(const SpectralDensity& density, double w) {
    const double j = density.value(w);
    if (!std::isfinite(j)) throw UnsuitableFunction(fmt::format("J has no finite value at w = {:.4g}", w));
    if (j >= 0.0) return j;
    if (j >= -density.noise * w) return 0.0;
    throw UnsuitableFunction(
        fmt::format("J is {:.4g} at w = {:.4g}: no passive environment has a density below 0", j, w));
  }

  double peak() const { return *std::max_element(j_.begin(), j_.end()); }
  double place_of_peak() const { return w_[index_of_peak()]; }
  /// gamma(0), roughly.
  double value() const { return sum_from(0); }
  /// A lower bound of the integral of the kernel's absolute values, roughly: that of its square over gamma(0).
  double norm(double until) const {
    double squares = 0.0;
    for (std::size_t i = 0; i < w_.size(); ++i) {
      if (w_[i] * until > 1.0) squares += 2.0 / pi * j_[i] * j_[i] / w_[i] * spacing;
    }
    return squares > 0.0 ? std::min(squares / value(), value() * until) : value() * until;
  }
  /// Where so little lies above that the integral of its kernel is at most `share`.
  double highest(double until, double share) const {
    std::size_t i = w_.size() - 1;
    while (i > index_of_peak() && lost_above(w_[i - 1], until) <= share) --i;
    return w_[i];
  }
  /// With m the integral of J/w above and g = (2/pi) J/w there, which falls from there on, that kernel is at most m,
  /// and 2 g/t.
  double lost_above(double w, double until) const {
    const auto i = static_cast<std::size_t>(std::lower_bound(w_.begin(), w_.end(), w) - w_.begin());
    if (i + 1 >= w_.size()) return 0.0;
    const double m = sum_from(i), g = 2.0 / pi * j_[i] / w_[i];
    const double turn = m > 0.0 ? 2.0 * g / m : 0.0;
    return until <= turn ? m * until : 2.0 * g * (1.0 + (turn > 0.0 ? std::log(until / turn) : 0.0));
  }

 private:
  static constexpr int per_decade = 32, lowest_power = 30;
  static constexpr double spacing = std::numbers::ln10 / per_decade;

  std::size_t index_of_peak() const {
    return static_cast<std::size_t>(std::max_element(j_.begin(), j_.end()) - j_.begin());
  }
  double sum_from(std::size_t begin) const {
    double sum = 0.0;
    for (std::size_t i = begin; i < j_.size(); ++i) sum += 2.0 / pi * j_[i] * spacing;
    return sum;
  }

  std::vector<double> w_, j_;
};

/// J(w)/w at 0.
double damping_of(const SpectralDensity& density, double highest) {
  const double w = 1e-9 * highest, far = density.value(w) / w, near = density.value(0.1 * w) / (0.1 * w);
  if (std::abs(near - far) <= 0.01 * std::abs(far)) return far;
  return near > far ? std::numeric_limits<double>::infinity() : 0.0;
}

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
  const auto g = [&](double w) { return 2.0 / pi * Scan::checked_value(density, w) / w; };
  std::vector<BathOscillator> all;
  for (const WeightedNode& node : nodes_on(panels, g)) all.push_back({node.place, node.weight});
  return all;
}

/// Measures the star's kernel on parts of the time that double from one to the next.
void measure(Bath& bath, double until) {
  constexpr int samples = 24;
  bath.norm = bath.measured = 0.0;
  double begin = 0.0, end = std::min(until, 0.25 / bath.highest);
  while (begin < until) {
    double largest = 0.0, sum = 0.0;
    for (int i = 0; i < samples; ++i) {
      // No even spacing, which some frequency would go with.
      const double t = begin + (end - begin) * 0.5 * (1.0 - std::cos(pi * (i + 0.5) / samples));
      const double wanted = bath.kernel(t);
      largest = std::max(largest, std::abs(kernel_at(bath.star, t) - wanted));
      sum += std::abs(wanted);
    }
    bath.measured += (end - begin) * largest;
    bath.norm += (end - begin) * sum / samples;
    begin = end;
    end = std::min(until, 2.0 * end);
  }
  bath.measured /= bath.norm;
}

}  // namespace

double kernel_at(const std::vector<BathOscillator>& star, double t) {
  double sum = 0.0;
  for (const BathOscillator& one : star) sum += one.stiffness * std::cos(one.frequency * t);
  return sum;
}

Bath make_bath(const SpectralDensity& density, const BathDemand& demand) {
  const Scan scan(density);
  const double norm = scan.norm(demand.until), share = 0.25 * demand.tolerance * norm;
  Bath bath;
  const bool is_open = !std::isfinite(density.highest);
  bath.highest = is_open ? scan.highest(demand.until, share) : density.highest;
  const double x = bath.highest * demand.until;
  const double wanted = sites_for(x, share / (scan.value() * demand.until));
  if (wanted > most_sites) {
    throw UnsuitableFunction(
        fmt::format("it would take {:.0f} oscillators, with frequencies up to {:.4g} rad/s for {:.4g} s, more than "
                    "{:.0f}; allow for a larger `tolerance`, or give a shorter `until` or a lower `omega_max`",
                    wanted, bath.highest, demand.until, most_sites));
  }
  std::vector<double> kinks = {0.0};
  std::vector<double> inner = density.kinks;
  inner.push_back(scan.place_of_peak());
  std::sort(inner.begin(), inner.end());
  for (const double kink : inner) {
    if (kink > kinks.back() && kink < bath.highest) kinks.push_back(kink);
  }
  kinks.push_back(bath.highest);
  const std::vector<Panel> panels =
      panels_for([&](double w) { return 2.0 / pi * Scan::checked_value(density, w) / w; }, kinks,
                 {.scale = scan.value(), .oscillation = 4.0 * wanted / bath.highest, .edge = bath.highest});
  bath.chain = chain_of_star(oscillators_on(panels, density), static_cast<std::int64_t>(wanted));
  bath.star = star_of_chain(bath.chain);
  bath.kernel = density.kernel;
  if (!bath.kernel)
    bath.kernel = [all = oscillators_on(halved(panels), density)](double t) { return kernel_at(all, t); };
  bath.damping = damping_of(density, bath.highest);
  measure(bath, demand.until);
  const bool is_whole = static_cast<double>(bath.chain.size()) < wanted;
  const double left_out = is_whole ? 0.0 : bound_of_rule(static_cast<double>(bath.chain.size()), x);
  bath.bound = left_out * scan.value() * demand.until / bath.norm;
  bath.lost = is_open ? scan.lost_above(bath.highest, demand.until) / bath.norm : 0.0;
  return bath;
}

namespace {

/// A kernel on a logarithmic grid of time.
struct KernelScan {
  KernelScan(const std::function<double(double)>& kernel, double tolerance) {
    constexpr int per_decade = 32, powers = 30;
    constexpr double spacing = std::numbers::ln10 / per_decade;
    std::vector<double> times, sizes;
    for (int i = -powers * per_decade; i <= powers * per_decade; ++i) {
      times.push_back(std::pow(10.0, static_cast<double>(i) / per_decade));
      const double value = kernel(times.back());
      if (!std::isfinite(value)) {
        throw UnsuitableFunction(fmt::format("it has no finite value at t = {:.4g}", times.back()));
      }
      sizes.push_back(std::abs(value) * times.back() * spacing);
      norm += sizes.back();
    }
    if (!(norm > 0.0)) throw UnsuitableFunction("it is 0 everywhere");
    double left = 0.0;
    std::size_t i = times.size() - 1;
    while (i > 0 && (left += sizes[i]) <= 0.01 * tolerance * norm) --i;
    end = times[std::min(i + 1, times.size() - 1)];
    if (i + 1 < times.size()) return;
    throw UnsuitableFunction(
        "it does not die down: what never ends is no memory; give oscillations that last as `stiffness`, `rate` = 0 "
        "and `frequency`");
  }
  double norm = 0.0;  ///< integral of its absolute values
  double end = 0.0;   ///< what is later does not matter
};

}  // namespace

SpectralDensity density_of_kernel(const std::function<double(double)>& kernel, const std::vector<double>& kinks,
                                  const BathDemand& demand) {
  // Of nodes in time with those in frequency.
  constexpr double most_products = 5e7;
  const KernelScan scan(kernel, demand.tolerance);
  const double end = kinks.empty() ? scan.end : std::min(scan.end, kinks.back());
  std::vector<double> pieces = {0.0};
  for (const double kink : kinks) {
    if (kink > 0.0 && kink < end) pieces.push_back(kink);
  }
  pieces.push_back(end);
  for (double highest = 4.0 / end;; highest *= 1.5) {
    auto nodes = std::make_shared<const std::vector<WeightedNode>>(
        nodes_on(panels_for(kernel, pieces, {.scale = scan.norm, .oscillation = highest}), kernel));
    const double x = highest * demand.until;
    if (static_cast<double>(nodes->size()) * std::max(x, 32.0) > most_products) {
      throw UnsuitableFunction(
          fmt::format("its density still counts at {:.4g} rad/s, which would take too many oscillators; allow for a "
                      "larger `tolerance`, or give exponentials as `stiffness`, `rate` and `frequency`",
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
    if (2.0 * left * (1.0 + std::log(std::max(1.0, x))) > 0.25 * demand.tolerance * scan.norm) continue;
    return {.value = [transform](double w) { return w * transform(w); },
            .kinks = {},
            .highest = highest,
            .noise = 0.1 * demand.tolerance * scan.norm,
            .kernel = kernel};
  }
}

}  // namespace bathline
