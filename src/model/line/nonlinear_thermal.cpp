// Sites of a nonlinear line from the Gibbs distribution between its ends.
#include "model/line/nonlinear_thermal.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "model/thermal/boltzmann_table.hpp"

namespace bathline {

void ThermalPlaces::for_each(std::int64_t begin, std::int64_t end,
                             const std::function<void(std::int64_t, double)>& use) const {
  for (std::int64_t first = begin / block * block; first < end; first += block) {
    auto [site, place] = start_of_block(first);
    for (; site < std::min(end, first + block); ++site) {
      place = next(site, place);
      if (site >= std::max(begin, first)) use(site, place);
    }
  }
}

namespace {

Energy energy_of(const PairPotential& potential) {
  return [&](double s) { return potential.value(s); };
}

/// Independent stretches with a given sum S, exactly: of n that are left about half, m, are drawn until a number that
/// is uniform in (0, 1) is below the likelihood of the sum of the others, in parts of its bound; then half of the rest,
/// and so on. The tilted density, whose mean is S/n, has the same conditional distribution.
class SpringsInSeries final : public ThermalPlaces {
 public:
  SpringsInSeries(const ThermalChain& chain, UniformNumber uniform)
      : chain_(chain), table_(table_of(chain)), uniform_(std::move(uniform)) {}

  void draw(const Communicator& communicator) override {
    constexpr std::int64_t few = 64;
    const std::int64_t springs = chain_.sites + (chain_.last ? 1 : 0);
    std::vector<double> by_block(static_cast<std::size_t>((springs + block - 1) / block));
    double rest = chain_.last.value_or(0.0) - chain_.first;
    std::int64_t begin = 0;
    // The last spring has what is left.
    while (begin < chain_.sites) {
      const std::int64_t left = springs - begin, half = left > 2 * block ? left / 2 / block * block : left / 2;
      const std::int64_t end = !chain_.last || left <= few ? chain_.sites : begin + half;
      std::vector<double> sums;
      double others = 0.0;
      std::int64_t number = 0;
      const auto likelihood = [&] {
        if (!chain_.last) return 1.0;
        return end == chain_.sites ? table_.density(others) : table_.likelihood_of_sum(springs - end, others);
      };
      do {
        sums = sums_of_blocks(begin, end, ++number, communicator);
        others = std::accumulate(sums.begin(), sums.end(), rest, std::minus());
      } while (!communicator.broadcast(communicator.is_root() && uniform_(number, 2 * begin + 1) <= likelihood()));
      for (std::size_t i = 0; i < sums.size(); ++i) by_block[static_cast<std::size_t>(begin / block) + i] += sums[i];
      draws_.push_back({begin, number});
      begin = end;
      rest = others;
    }
    starts_ = {chain_.first};
    for (const double sum : by_block) starts_.push_back(starts_.back() + sum);
  }

 private:
  /// Springs from `begin` on are those of the draw with this number.
  struct Draw {
    std::int64_t begin, number;
  };

  static BoltzmannTable table_of(const ThermalChain& chain) {
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
  std::pair<std::int64_t, double> start_of_block(std::int64_t first) const override {
    return {first, starts_[static_cast<std::size_t>(first / block)]};
  }
  double next(std::int64_t site, double before) const override {
    const auto draw = std::ranges::upper_bound(draws_, site, {}, &Draw::begin) - 1;
    return before + stretch(draw->number, site);
  }
  double stretch(std::int64_t draw, std::int64_t spring) const { return table_.quantile(uniform_(draw, 2 * spring)); }
  /// The sums of the springs [begin, end) in every block, which the ranks compute in turn.
  std::vector<double> sums_of_blocks(std::int64_t begin, std::int64_t end, std::int64_t draw,
                                     const Communicator& communicator) const {
    const std::int64_t first = begin / block, blocks = (end - 1) / block + 1 - first, ranks = communicator.size();
    std::vector<double> own(static_cast<std::size_t>((blocks + ranks - 1) / ranks)), sums;
    for (std::size_t i = 0; i < own.size(); ++i) {
      const std::int64_t from = (first + static_cast<std::int64_t>(i) * ranks + communicator.rank()) * block;
      for (std::int64_t spring = std::max(begin, from); spring < std::min(from + block, end); ++spring)
        own[i] += stretch(draw, spring);
    }
    const std::vector<double> all = communicator.gather_all(own);
    for (std::int64_t i = 0; i < blocks; ++i)
      sums.push_back(all[static_cast<std::size_t>(i % ranks) * own.size() + static_cast<std::size_t>(i / ranks)]);
    return sums;
  }

  ThermalChain chain_;
  BoltzmannTable table_;
  UniformNumber uniform_;
  std::vector<Draw> draws_;
  std::vector<double> starts_;  // the places before the blocks
};

/// Sites in a potential, each drawn given the one before it from
///
///   p(w | before) = exp(-V(w - before)/kT) g(w),   g(w) = exp(-U(w)/kT) beta(w)
///
/// where beta, the weight of all that follows, is computed from the far end on a grid until it does not change any
/// more. By the inverse of the distribution paths with the same random numbers come together, from wherever they begin,
/// so that a block begins with sites before it. Source: scalapino1972; propp1996 for paths that come together.
class HeldSites final : public ThermalPlaces {
 public:
  HeldSites(const ThermalChain& chain, UniformNumber uniform) : chain_(chain), uniform_(std::move(uniform)) {
    const auto held = BoltzmannTable::of(energy_of(*chain.law->sites), chain.temperature);
    if (!held)
      throw std::runtime_error(
          "`external` does not hold the sites at this kT: exp(-U/kT) has no integral over all places");
    if (!find_nodes(*held) || !find_weights(*held) || !find_run_in())
      throw std::runtime_error("sites depend on others that are too far away at this kT, which is low for `external`");
  }

 private:
  static constexpr double nodes_per_deviation = 16.0;
  static constexpr double max_nodes = 1500.0;
  static constexpr std::int64_t max_weights = 512;
  static constexpr std::int64_t max_run_in = 16 * block;

  bool find_nodes(const BoltzmannTable& held) {
    const double lowest = std::min({held.lowest(), chain_.first, chain_.last.value_or(chain_.first)});
    const double highest = std::max({held.highest(), chain_.first, chain_.last.value_or(chain_.first)});
    const double width = highest - lowest;
    // The deviation of a stretch, as far as the sites allow it.
    double weights = 0.0, squares = 0.0;
    for (int i = -2000; i <= 2000; ++i) {
      const double s = width * i / 2000.0, weight = spring_weight(s);
      weights += weight;
      squares += weight * s * s;
    }
    const double deviation = std::sqrt(std::min(held.variance(), squares / weights));
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
        if (following > 0) change = std::max(change, std::abs(g[i] - weights_.back()[i]));
      }
      for (std::size_t i = 0; i < n; ++i) beta[i] = std::inner_product(g.begin(), g.end(), &between[n - 1 - i], 0.0);
      weights_.push_back(std::move(g));
      if (change < 1e-13) return true;
    }
    return static_cast<std::int64_t>(weights_.size()) == chain_.sites;
  }

  /// How many sites it takes until two paths from the ends of the grid meet, with a wide margin; nothing random.
  bool find_run_in() {
    constexpr double golden = 0.6180339887498949;
    constexpr std::int64_t margin = 8;
    const std::int64_t many = chain_.sites;
    double low = nodes_.front(), high = nodes_.back();
    for (std::int64_t i = 1; i <= max_run_in / margin; ++i) {
      const double turns = golden * static_cast<double>(i), u = std::max(1e-12, turns - std::floor(turns));
      low = next(low, many, u);
      high = next(high, many, u);
      if (std::abs(high - low) > 1e-13 * (nodes_.back() - nodes_.front())) continue;
      run_in_ = margin * (i + 8);
      return true;
    }
    return many <= block;
  }

  std::pair<std::int64_t, double> start_of_block(std::int64_t first) const override {
    if (first <= run_in_) return {0, chain_.first};
    return {first - run_in_, 0.5 * (nodes_.front() + nodes_.back())};
  }
  double next(std::int64_t site, double before) const override {
    return next(before, chain_.sites - 1 - site, uniform_(1, 2 * site));
  }
  /// The site behind one at `before`, with `following` sites behind it.
  double next(double before, std::int64_t following, double u) const {
    constexpr double nowhere = -std::numeric_limits<double>::infinity();
    const std::vector<double>& g =
        weights_[static_cast<std::size_t>(std::min<std::int64_t>(following, weights_.size() - 1))];
    const PairPotential& springs = *chain_.law->springs;
    thread_local std::vector<double> density;
    thread_local TabulatedDensity table;
    density.resize(g.size());
    double largest = nowhere;
    for (std::size_t i = 0; i < g.size(); ++i) {
      const double exponent = g[i] > 1e-30 ? -springs.value(nodes_[i] - before) / chain_.temperature : nowhere;
      density[i] = std::isfinite(exponent) ? exponent : nowhere;
      largest = std::max(largest, density[i]);
    }
    for (std::size_t i = 0; i < g.size(); ++i) density[i] = g[i] * std::exp(density[i] - largest);
    table.tabulate(nodes_.front(), step_, density);
    return table.quantile(u);
  }

  ThermalChain chain_;
  UniformNumber uniform_;
  double step_ = 0.0;
  std::vector<double> nodes_;
  std::vector<std::vector<double>> weights_;
  std::int64_t run_in_ = 0;
};

std::unique_ptr<ThermalPlaces> find_places(const ThermalChain& chain, UniformNumber uniform) {
  if (chain.law->sites) return std::make_unique<HeldSites>(chain, std::move(uniform));
  return std::make_unique<SpringsInSeries>(chain, std::move(uniform));
}

}  // namespace

std::string thermal_unsupported_reason(const ThermalChain& chain) {
  try {
    find_places(chain, {});
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

std::unique_ptr<ThermalPlaces> draw_thermal_places(const ThermalChain& chain, UniformNumber uniform,
                                                   const Communicator& communicator) {
  std::unique_ptr<ThermalPlaces> places = find_places(chain, std::move(uniform));
  places->draw(communicator);
  return places;
}

}  // namespace bathline
