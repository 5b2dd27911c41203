// Sites of a nonlinear line from the Gibbs distribution between its ends.
#include "model/line/nonlinear_thermal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "model/thermal/boltzmann_table.hpp"
#include "solve/larger_or_nan.hpp"

namespace bathline {

namespace {

Energy energy_of(const PairPotential& potential) {
  return [&](double s) { return potential.value(s); };
}

BoltzmannTable table_of_springs(const ThermalChain& chain) {
  const Energy energy = energy_of(*chain.law->springs);
  if (!chain.last) {
    if (auto table = BoltzmannTable::of(energy, chain.temperature)) return std::move(*table);
    throw std::runtime_error(
        "the springs do not hold together at this kT, for exp(-V/kT) has no integral over all stretches; a chain "
        "between two particles or with a fixed end is under pressure");
  }
  const double mean = (*chain.last - chain.first) / static_cast<double>(chain.sites + 1);
  if (auto table = BoltzmannTable::with_mean(energy, chain.temperature, mean)) return std::move(*table);
  throw std::runtime_error("no pressure gives the springs the length between the ends at this kT");
}

/// Independent stretches with a given sum S, exactly: of n that are left half are drawn until a number that is uniform
/// in (0, 1) is below the likelihood of the sum of the others, in parts of its bound; then half of the rest, and so on.
/// The last spring has what is left. The tilted density, whose mean is S/n, has the same conditional distribution.
void draw_springs(const ThermalChain& chain, const UniformNumber& uniform,
                  const std::function<void(std::int64_t, double)>& use) {
  constexpr std::int64_t few = 64;
  const BoltzmannTable table = table_of_springs(chain);
  const std::int64_t springs = chain.sites + (chain.last ? 1 : 0);
  double place = chain.first, likelihood = 1.0;
  for (std::int64_t begin = 0, end = 0; begin < chain.sites; begin = end) {
    const std::int64_t left = springs - begin;
    end = !chain.last || left <= few ? chain.sites : begin + left / 2;
    std::int64_t draw = 0;
    const auto stretch = [&](std::int64_t spring) { return table.quantile(uniform(draw, 2 * spring)); };
    do {
      ++draw;
      if (!chain.last) break;
      double rest = *chain.last - place;
      for (std::int64_t spring = begin; spring < end; ++spring) rest -= stretch(spring);
      likelihood = end == chain.sites ? table.density(rest) : table.likelihood_of_sum(springs - end, rest);
    } while (!(uniform(draw, 2 * begin + 1) <= likelihood));
    for (std::int64_t spring = begin; spring < end; ++spring) use(spring, place += stretch(spring));
  }
}

/// Sites in a potential, each drawn given the one before it from
///
///   p(w | before) = exp(-V(w - before)/kT) g(w),   g(w) = exp(-U(w)/kT) beta(w)
///
/// where beta, the weight of all that follows, is computed from the far end on a grid until it does not change any
/// more. Source: scalapino1972.
class HeldSites {
 public:
  explicit HeldSites(const ThermalChain& chain) : chain_(chain) {
    const auto held = BoltzmannTable::of(energy_of(*chain.law->sites), chain.temperature);
    if (!held)
      throw std::runtime_error(
          "`external` does not hold the sites at this kT: exp(-U/kT) has no integral over all places");
    if (!find_nodes(*held) || !find_weights(*held))
      throw std::runtime_error("sites depend on others that are too far away at this kT, which is low for `external`");
  }

  /// The site behind one at `before`, with `following` sites behind it.
  double next(double before, std::int64_t following, double u) {
    constexpr double nowhere = -std::numeric_limits<double>::infinity();
    const std::vector<double>& g =
        weights_[static_cast<std::size_t>(std::min<std::int64_t>(following, weights_.size() - 1))];
    const PairPotential& springs = *chain_.law->springs;
    density_.resize(g.size());
    double largest = nowhere;
    for (std::size_t i = 0; i < g.size(); ++i) {
      const double exponent = g[i] > 1e-30 ? -springs.value(nodes_[i] - before) / chain_.temperature : nowhere;
      density_[i] = std::isfinite(exponent) ? exponent : nowhere;
      largest = std::max(largest, density_[i]);
    }
    for (std::size_t i = 0; i < g.size(); ++i) density_[i] = g[i] * std::exp(density_[i] - largest);
    table_.tabulate(nodes_.front(), step_, density_);
    return table_.quantile(u);
  }

 private:
  static constexpr double nodes_per_deviation = 16.0;
  static constexpr double max_nodes = 1500.0;
  static constexpr std::int64_t max_weights = 512;

  bool find_nodes(const BoltzmannTable& held) {
    const double lowest = std::min({held.lowest(), chain_.first, chain_.last.value_or(chain_.first)});
    const double highest = std::max({held.highest(), chain_.first, chain_.last.value_or(chain_.first)});
    const double width = highest - lowest;
    const auto stretch = BoltzmannTable::with_mean(energy_of(*chain_.law->springs), chain_.temperature, 0.0);
    const double deviation = std::sqrt(std::min(held.variance(), stretch ? stretch->variance() : held.variance()));
    const double count = std::ceil(width / deviation * nodes_per_deviation) + 1.0;
    if (!(count <= max_nodes)) return false;
    step_ = width / (count - 1.0);
    for (int i = 0; i < static_cast<int>(count); ++i) nodes_.push_back(lowest + step_ * i);
    return true;
  }

  double spring_weight(double stretch) const {
    const PairPotential& springs = *chain_.law->springs;
    const double weight = std::exp((springs.value(0.0) - springs.value(stretch)) / chain_.temperature);
    return std::isfinite(weight) ? weight : 0.0;
  }

  /// g by the number of sites that follow, at most those after which it is the same.
  bool find_weights(const BoltzmannTable& held) {
    const std::size_t n = nodes_.size();
    std::vector<double> between(2 * n - 1), beta(n, 1.0);
    for (std::size_t i = 0; i < n && chain_.last; ++i) beta[i] = spring_weight(*chain_.last - nodes_[i]);
    for (std::size_t i = 0; i < between.size(); ++i)
      between[i] = spring_weight(step_ * (static_cast<double>(i) - static_cast<double>(n - 1)));
    for (std::int64_t following = 0; following < std::min(chain_.sites, max_weights); ++following) {
      std::vector<double> g(n);
      for (std::size_t i = 0; i < n; ++i) g[i] = held.density(nodes_[i]) * beta[i];
      const double largest = *std::ranges::max_element(g);
      double change = weights_.empty() ? 1.0 : 0.0;
      for (std::size_t i = 0; i < n; ++i) {
        g[i] /= largest;
        if (following > 0) change = larger_or_nan(change, std::abs(g[i] - weights_.back()[i]));
      }
      for (std::size_t i = 0; i < n; ++i) beta[i] = std::inner_product(g.begin(), g.end(), &between[n - 1 - i], 0.0);
      weights_.push_back(std::move(g));
      if (change < 1e-13) return true;
    }
    return static_cast<std::int64_t>(weights_.size()) == chain_.sites;
  }

  ThermalChain chain_;
  double step_ = 0.0;
  std::vector<double> nodes_;
  std::vector<std::vector<double>> weights_;  // g by the number of sites that follow
  // Of the last site:
  std::vector<double> density_;
  TabulatedDensity table_;
};

}  // namespace

std::string thermal_unsupported_reason(const ThermalChain& chain) {
  try {
    if (chain.law->sites) {
      HeldSites{chain};
    } else {
      table_of_springs(chain);
    }
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

void draw_thermal_places(const ThermalChain& chain, const UniformNumber& uniform,
                         const std::function<void(std::int64_t site, double place)>& use) {
  if (!chain.law->sites) return draw_springs(chain, uniform, use);
  HeldSites sites(chain);
  double place = chain.first;
  for (std::int64_t site = 0; site < chain.sites; ++site)
    use(site, place = sites.next(place, chain.sites - 1 - site, uniform(1, 2 * site)));
}

}  // namespace bathline
