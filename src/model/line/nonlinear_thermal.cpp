// Sites of a nonlinear line from the Gibbs distribution between its ends.
#include "model/line/nonlinear_thermal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "model/line/boltzmann_table.hpp"

namespace bathline {

namespace {

/// Springs or sites of a block, the first of which does not depend on how the ranks share the line.
constexpr std::int64_t block = 4096;

/// Independent stretches with a given sum S, exactly: of n that are left about half, m, are drawn until a number that
/// is uniform in (0, 1) is below the likelihood of the sum of the others, in parts of its bound; then half of the rest,
/// and so on. The tilted density, whose mean is S/n, has the same conditional distribution.
class SpringsInSeries final : public ThermalPlaces {
 public:
  SpringsInSeries(const ThermalChain& chain, BoltzmannTable table, UniformNumber uniform,
                  const Communicator& communicator)
      : table_(std::move(table)),
        uniform_(std::move(uniform)),
        communicator_(communicator),
        first_(chain.first),
        springs_(chain.sites + (chain.last ? 1 : 0)),
        tail_(springs_) {
    if (!chain.last) {
      levels_ = {{0, 1}};
      add_blocks(sums_of_blocks(0, springs_, 1));
      return;
    }
    const double sum = *chain.last - chain.first;
    std::int64_t begin = 0;
    while (springs_ - begin > 2 * block) {
      const std::int64_t end = begin + (springs_ - begin) / 2 / block * block;
      for (std::int64_t draw = 1;; ++draw) {
        const std::vector<double> sums = sums_of_blocks(begin, end, draw);
        double rest = sum - starts_.back();
        for (const double one : sums) rest -= one;
        if (!accepts(begin, draw, [&] { return table_.likelihood_of_sum(springs_ - end, rest); })) continue;
        levels_.push_back({begin, draw});
        add_blocks(sums);
        break;
      }
      begin = end;
    }
    draw_tail(begin, sum - starts_.back());
  }

  void for_each(std::int64_t begin, std::int64_t end,
                const std::function<void(std::int64_t, double)>& use) const override {
    const std::int64_t from = begin / block * block;
    double before = starts_[static_cast<std::size_t>(from / block)], in_block = 0.0;
    std::size_t level = 0;
    for (std::int64_t spring = from; spring < end; ++spring) {
      if (spring % block == 0) {
        before = starts_[static_cast<std::size_t>(spring / block)];
        in_block = 0.0;
      }
      while (level + 1 < levels_.size() && levels_[level + 1].begin <= spring) ++level;
      in_block += spring >= tail_ ? tail_stretches_[static_cast<std::size_t>(spring - tail_)]
                                  : stretch(levels_[level].draw, spring);
      if (spring >= begin) use(spring, first_ + (before + in_block));
    }
  }

 private:
  /// Springs from here on are those of one draw.
  struct Level {
    std::int64_t begin, draw;
  };

  double stretch(std::int64_t draw, std::int64_t spring) const { return table_.quantile(uniform_(draw, 2 * spring)); }
  template <class Likelihood>
  bool accepts(std::int64_t begin, std::int64_t draw, Likelihood likelihood) const {
    bool is_accepted = false;
    if (communicator_.is_root()) is_accepted = uniform_(draw, 2 * begin + 1) <= likelihood();
    return communicator_.broadcast(is_accepted);
  }
  /// Blocks are summed by the ranks in turn.
  std::vector<double> sums_of_blocks(std::int64_t begin, std::int64_t end, std::int64_t draw) const {
    const std::int64_t blocks = (end - begin + block - 1) / block, ranks = communicator_.size();
    std::vector<double> own(static_cast<std::size_t>((blocks + ranks - 1) / ranks));
    for (std::size_t i = 0; i < own.size(); ++i) {
      const std::int64_t from = begin + (static_cast<std::int64_t>(i) * ranks + communicator_.rank()) * block;
      for (std::int64_t spring = from; spring < std::min(from + block, end); ++spring) own[i] += stretch(draw, spring);
    }
    const std::vector<double> all = communicator_.gather_all(own);
    std::vector<double> sums;
    for (std::int64_t i = 0; i < blocks; ++i)
      sums.push_back(all[static_cast<std::size_t>(i % ranks) * own.size() + static_cast<std::size_t>(i / ranks)]);
    return sums;
  }
  void add_blocks(const std::vector<double>& sums) {
    for (const double sum : sums) starts_.push_back(starts_.back() + sum);
  }
  void draw_tail(std::int64_t begin, double rest) {
    constexpr std::int64_t few = 64;
    tail_ = begin;
    while (springs_ - begin > 1) {
      const bool is_last = springs_ - begin <= few;
      const std::int64_t end = is_last ? springs_ - 1 : begin + (springs_ - begin) / 2;
      std::vector<double> drawn(static_cast<std::size_t>(end - begin));
      double left = 0.0;
      std::int64_t draw = 0;
      do {
        ++draw;
        left = rest;
        for (std::int64_t spring = begin; spring < end; ++spring) {
          drawn[static_cast<std::size_t>(spring - begin)] = stretch(draw, spring);
          left -= drawn[static_cast<std::size_t>(spring - begin)];
        }
      } while (!accepts(begin, draw, [&] {
        return is_last ? table_.density(left) / table_.largest_density()
                       : table_.likelihood_of_sum(springs_ - end, left);
      }));
      tail_stretches_.insert(tail_stretches_.end(), drawn.begin(), drawn.end());
      begin = end;
      rest = left;
    }
    tail_stretches_.push_back(rest);
    for (std::int64_t from = tail_; from < springs_; from += block) {
      double sum = 0.0;
      for (std::int64_t spring = from; spring < std::min(from + block, springs_); ++spring)
        sum += tail_stretches_[static_cast<std::size_t>(spring - tail_)];
      add_blocks({sum});
    }
  }

  BoltzmannTable table_;
  UniformNumber uniform_;
  Communicator communicator_;
  double first_;
  std::int64_t springs_;
  std::vector<Level> levels_;
  std::int64_t tail_;  // the first spring whose stretch is stored
  std::vector<double> tail_stretches_;
  std::vector<double> starts_ = {0.0};  // sums of all stretches before a block
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
  static std::unique_ptr<HeldSites> of(const ThermalChain& chain, UniformNumber uniform, std::string& reason) {
    const std::optional<BoltzmannTable> held = BoltzmannTable::of(*chain.law->sites, chain.temperature);
    if (!held) {
      reason = "`external` does not hold the sites at this kT: exp(-U/kT) has no integral over all places";
      return nullptr;
    }
    std::unique_ptr<HeldSites> sites(new HeldSites(chain, *held, std::move(uniform)));
    if (!sites->find_weights() || !sites->find_run_in()) {
      reason = "sites depend on others that are too far away at this kT, which is low for `external`";
      return nullptr;
    }
    return sites;
  }

  void for_each(std::int64_t begin, std::int64_t end,
                const std::function<void(std::int64_t, double)>& use) const override {
    for (std::int64_t first = begin / block * block; first < end; first += block) {
      const std::int64_t start = std::max<std::int64_t>(0, first - run_in_);
      double place = start == 0 ? chain_.first : 0.5 * (nodes_.front() + nodes_.back());
      for (std::int64_t site = start; site < std::min(end, first + block); ++site) {
        place = next(place, chain_.sites - 1 - site, uniform_(1, 2 * site));
        if (site >= std::max(begin, first)) use(site, place);
      }
    }
  }

 private:
  static constexpr double nowhere = -std::numeric_limits<double>::infinity();
  static constexpr double nodes_per_deviation = 16.0;
  static constexpr double max_nodes = 1500.0;
  static constexpr std::size_t max_weights = 512;
  static constexpr std::int64_t max_run_in = 16 * block;

  HeldSites(const ThermalChain& chain, const BoltzmannTable& held, UniformNumber uniform)
      : chain_(chain), uniform_(std::move(uniform)) {
    const double lowest = std::min({held.lowest(), chain.first, chain.last.value_or(chain.first)});
    const double highest = std::max({held.highest(), chain.first, chain.last.value_or(chain.first)});
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
    if (!(count <= max_nodes)) return;
    step_ = width / (count - 1.0);
    for (int i = 0; i < static_cast<int>(count); ++i) nodes_.push_back(lowest + step_ * i);
  }

  double spring_weight(double stretch) const {
    const PairPotential& springs = *chain_.law->springs;
    const double weight = std::exp((springs.value(0.0) - springs.value(stretch)) / chain_.temperature);
    return std::isfinite(weight) ? weight : 0.0;
  }

  /// g by the number of sites that follow, at most those after which it is the same.
  bool find_weights() {
    const std::size_t n = nodes_.size();
    if (n == 0) return false;
    std::vector<double> held(n), between(2 * n - 1), beta(n, 1.0);
    const PairPotential& sites = *chain_.law->sites;
    double least = sites.value(nodes_[0]);
    for (const double node : nodes_) least = std::min(least, sites.value(node));
    for (std::size_t i = 0; i < n; ++i) {
      const double weight = std::exp((least - sites.value(nodes_[i])) / chain_.temperature);
      held[i] = std::isfinite(weight) ? weight : 0.0;
      if (chain_.last) beta[i] = spring_weight(*chain_.last - nodes_[i]);
    }
    for (std::size_t i = 0; i < between.size(); ++i)
      between[i] = spring_weight(step_ * (static_cast<double>(i) - static_cast<double>(n - 1)));
    while (weights_.size() < max_weights && static_cast<std::int64_t>(weights_.size()) < chain_.sites) {
      std::vector<double>& g = weights_.emplace_back(n);
      for (std::size_t i = 0; i < n; ++i) g[i] = held[i] * beta[i];
      const double largest = *std::max_element(g.begin(), g.end());
      double change = 1.0;
      for (double& value : g) value /= largest;
      if (weights_.size() > 1) {
        change = 0.0;
        const std::vector<double>& before = weights_[weights_.size() - 2];
        for (std::size_t i = 0; i < n; ++i) change = std::max(change, std::abs(g[i] - before[i]));
      }
      if (change < 1e-13) return true;
      for (std::size_t i = 0; i < n; ++i) {
        beta[i] = 0.0;
        for (std::size_t k = 0; k < n; ++k) beta[i] += between[k + n - 1 - i] * g[k];
      }
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

  /// The site behind one at `before`, with `following` sites behind it.
  double next(double before, std::int64_t following, double u) const {
    const std::vector<double>& g =
        weights_[static_cast<std::size_t>(std::min<std::int64_t>(following, weights_.size() - 1))];
    const PairPotential& springs = *chain_.law->springs;
    const std::size_t n = nodes_.size();
    thread_local std::vector<double> exponents, density, sums;
    exponents.resize(n);
    density.assign(n + 2, 0.0);  // one more on either side
    sums.resize(n);
    double largest = nowhere;
    for (std::size_t i = 0; i < n; ++i) {
      const double exponent = g[i] > 1e-30 ? -springs.value(nodes_[i] - before) / chain_.temperature : nowhere;
      exponents[i] = std::isfinite(exponent) ? exponent : nowhere;
      largest = std::max(largest, exponents[i]);
    }
    for (std::size_t i = 0; i < n; ++i) density[i + 1] = g[i] * std::exp(exponents[i] - largest);
    sums[0] = 0.0;
    for (std::size_t i = 0; i + 1 < n; ++i) {
      const double* const f = &density[i];
      sums[i + 1] = sums[i] + std::max(0.0, 13.0 * (f[1] + f[2]) - f[0] - f[3]);
    }
    const double wanted = u * sums[n - 1];
    const auto behind = std::lower_bound(sums.begin() + 1, sums.end() - 1, wanted);
    const auto cell = static_cast<std::size_t>(behind - sums.begin()) - 1;
    const double part = std::clamp((wanted - sums[cell]) / (sums[cell + 1] - sums[cell]), 0.0, 1.0);
    const double ratio = density[cell + 2] / density[cell + 1];
    const double rise = ratio > 0.0 && std::isfinite(ratio) ? std::log(ratio) : 0.0;
    const double inside = std::abs(rise) < 1e-9 ? part : std::log1p(part * std::expm1(rise)) / rise;
    return nodes_[cell] + step_ * inside;
  }

  ThermalChain chain_;
  UniformNumber uniform_;
  double step_ = 0.0;
  std::vector<double> nodes_;
  std::vector<std::vector<double>> weights_;
  std::int64_t run_in_ = 0;
};

/// Of the stretches of a chain without forces on its sites.
std::optional<BoltzmannTable> stretches_of(const ThermalChain& chain, std::string& reason) {
  const PairPotential& springs = *chain.law->springs;
  std::optional<BoltzmannTable> table;
  if (chain.last) {
    const double mean = (*chain.last - chain.first) / static_cast<double>(chain.sites + 1);
    table = BoltzmannTable::with_mean(springs, chain.temperature, mean);
    if (!table) reason = "no pressure gives the springs the length between the ends at this kT";
  } else {
    table = BoltzmannTable::of(springs, chain.temperature);
    if (!table) {
      reason =
          "the springs do not hold together at this kT, for exp(-V/kT) has no integral over all stretches; a chain "
          "between two particles or with a fixed end is under pressure";
    }
  }
  return table;
}

}  // namespace

std::string thermal_unsupported_reason(const ThermalChain& chain) {
  std::string reason;
  if (chain.law->sites) {
    HeldSites::of(chain, {}, reason);
  } else {
    stretches_of(chain, reason);
  }
  return reason;
}

std::unique_ptr<ThermalPlaces> draw_thermal_places(const ThermalChain& chain, UniformNumber uniform,
                                                   const Communicator& communicator) {
  std::string reason;
  std::unique_ptr<ThermalPlaces> places;
  if (chain.law->sites) {
    places = HeldSites::of(chain, std::move(uniform), reason);
  } else if (std::optional<BoltzmannTable> table = stretches_of(chain, reason)) {
    places = std::make_unique<SpringsInSeries>(chain, std::move(*table), std::move(uniform), communicator);
  }
  if (!places) throw std::runtime_error(reason);
  return places;
}

}  // namespace bathline
