// Terms are searched on a grid of rates and frequencies, and improved by a pattern search.
// Tested by tests/model/kernels/exponential_fit_test.cpp.
#include "model/kernels/passive_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "solve/dense.hpp"

namespace bathline {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Index max_terms = 40;

/// exp(-rate t) cos(frequency t)
struct Cosine {
  double rate, frequency;
};

/// A time, the weight of a quadrature rule there, and the kernel.
struct Sample {
  double t, weight, value;
};

/// Samples of three-point Gauss rules on parts, at most `width` wide, of the intervals between the breakpoints.
void add_samples(const std::function<double(double)>& kernel, const std::vector<double>& breakpoints, double width,
                 std::vector<Sample>& samples) {
  constexpr std::array nodes = {-0.7745966692414834, 0.0, 0.7745966692414834},
                       weights = {5.0 / 9.0, 8.0 / 9.0, 5.0 / 9.0};
  for (std::size_t i = 0; i + 1 < breakpoints.size(); ++i) {
    const double length = breakpoints[i + 1] - breakpoints[i];
    const int parts = static_cast<int>(std::ceil(length / width * (1.0 - 1e-9)));
    const double half = 0.5 * length / parts;
    for (int part = 0; part < parts; ++part) {
      for (std::size_t k = 0; k < nodes.size(); ++k) {
        const double t = breakpoints[i] + half * (2 * part + 1 + nodes[k]);
        samples.push_back({t, half * weights[k], kernel(t)});
      }
    }
  }
}

class PassiveFit {
 public:
  PassiveFit(const std::function<double(double)>& kernel, const std::vector<double>& kinks,
             const BathAccuracy& accuracy)
      : horizon_(accuracy.horizon) {
    // Later times have a weight below 1e-8.
    const KernelScan scan(kernel, 1e-6, 10.0 * horizon_);
    const double end = kinks.empty() ? scan.end : std::min(scan.end, kinks.back());
    const std::vector<double> pieces = breakpoints_until(end, kinks);
    std::vector<double> breakpoints = pieces;
    if (kinks.empty()) {
      breakpoints = {0.0};
      for (const Panel& panel : adaptive_panels(kernel, pieces, {.scale = scan.norm})) breakpoints.push_back(panel.end);
    }
    // Parts that resolve frequencies up to `highest_`: of a table those between its rows.
    highest_ = 2048.0 * std::numbers::pi / end;
    double closest = end;
    for (std::size_t i = 1; i < pieces.size(); ++i) closest = std::min(closest, pieces[i] - pieces[i - 1]);
    if (!kinks.empty()) highest_ = std::min(highest_, std::max(std::numbers::pi / closest, 64.0 / end));
    add_samples(kernel, breakpoints, std::numbers::pi / highest_, samples_);
    if (end < horizon_) {
      std::vector<double> tail = {end};
      while (tail.back() < horizon_) tail.push_back(std::min(horizon_, 2.0 * tail.back()));
      add_samples([](double) { return 0.0; }, tail, 0.1 * end, samples_);
    }
    for (const Sample& sample : samples_) norm_ += sample.t <= horizon_ ? sample.weight * std::abs(sample.value) : 0.0;
    const double length = std::min(end, horizon_);
    for (double rate = 0.5 / length; rate < 2.0 * highest_; rate *= 2.0) {
      for (double w = 0.0; w < highest_; w += std::max(rate, std::min(w / 16.0, highest_ / 200.0)))
        grid_.push_back({rate, w});
    }
    for (const Cosine& term : grid_) grid_products_.push_back(product(term));
  }

  double norm() const { return norm_; }
  double highest() const { return highest_; }

  /// Adds a term; returns false if none reduces the distance.
  bool add_term() {
    double largest = 0.0;
    Cosine best{};
    for (std::size_t i = 0; i < grid_.size(); ++i) {
      const double gain = gain_of(grid_[i], grid_products_[i]);
      if (gain <= largest) continue;
      largest = gain;
      best = grid_[i];
    }
    if (first_gain_ == 0.0) first_gain_ = largest;
    if (!(largest > 1e-6 * first_gain_)) return false;
    terms_.push_back(best);
    products_.push_back(product(best));
    weights_ = solve();
    // Few terms may be an exact sum; many represent what is left of the noise.
    const double smallest_step = terms_.size() <= 6 ? 1e-7 : 0.02;
    for (double step = 0.25; step > smallest_step; step *= 0.5) {
      for (std::size_t j = terms_.size(); j-- > 0;) improve(j, step);
    }
    drop_zeros();
    return true;
  }

  std::vector<PronyTerm> terms() const {
    std::vector<PronyTerm> terms;
    for (std::size_t j = 0; j < terms_.size(); ++j) {
      terms.push_back({.k = weights_[static_cast<Index>(j)], .r = terms_[j].rate, .w = terms_[j].frequency});
    }
    return terms;
  }

  double distance() const {
    const std::vector<PronyTerm> all = terms();
    double sum = 0.0;
    for (const Sample& sample : samples_) {
      if (sample.t <= horizon_) sum += sample.weight * std::abs(sample.value - kernel_at(all, sample.t));
    }
    return sum / norm_;
  }

 private:
  /// Integral of the product of two terms with the weight exp(-2 t/T).
  double product(const Cosine& x, const Cosine& y) const {
    const double rate = x.rate + y.rate + 2.0 / horizon_, sum = x.frequency + y.frequency,
                 difference = x.frequency - y.frequency;
    return 0.5 * rate * (1.0 / (rate * rate + sum * sum) + 1.0 / (rate * rate + difference * difference));
  }
  /// The same of a term and the kernel.
  double product(const Cosine& term) const {
    double sum = 0.0;
    for (const Sample& sample : samples_) {
      if (sample.value == 0.0) continue;
      sum += sample.weight * sample.value * std::exp(-(term.rate + 2.0 / horizon_) * sample.t) *
             std::cos(term.frequency * sample.t);
    }
    return sum;
  }
  double gain_of(const Cosine& term, double product_with_kernel) const {
    double residual = product_with_kernel;
    for (std::size_t j = 0; j < terms_.size(); ++j)
      residual -= weights_[static_cast<Index>(j)] * product(term, terms_[j]);
    return residual / std::sqrt(product(term, term));
  }
  VectorXd solve() const {
    const auto n = static_cast<Index>(terms_.size());
    MatrixXd gram(n, n);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j <= i; ++j) {
        gram(i, j) = gram(j, i) = product(terms_[static_cast<std::size_t>(i)], terms_[static_cast<std::size_t>(j)]);
      }
    }
    return nonnegative_least_squares(gram, Eigen::Map<const VectorXd>(products_.data(), n));
  }
  /// The decrease of half the sum of squares by the terms: at the minimum it is half of k^T products.
  double decrease(const VectorXd& weights) const {
    return weights.dot(Eigen::Map<const VectorXd>(products_.data(), weights.size()));
  }
  /// Moves rate and frequency of a term by a relative step as long as that reduces the sum of squares.
  void improve(std::size_t j, double step) {
    constexpr int max_moves = 8;
    double best = decrease(weights_);
    const auto accept = [&](const Cosine& moved) {
      if (moved.rate > 2.0 * highest_ || moved.frequency > highest_) return false;  // beyond what the samples resolve
      const Cosine term = terms_[j];
      const double with_kernel = products_[j];
      terms_[j] = moved;
      products_[j] = product(moved);
      const VectorXd weights = solve();
      if (decrease(weights) > best * (1.0 + 1e-15)) {
        best = decrease(weights);
        weights_ = weights;
        return true;
      }
      terms_[j] = term;
      products_[j] = with_kernel;
      return false;
    };
    for (int move = 0; move < max_moves; ++move) {
      const auto [rate, w] = terms_[j];
      const bool is_moved = accept({rate * (1.0 + step), w}) || accept({rate / (1.0 + step), w}) ||
                            accept({rate, w + step * rate}) || accept({rate, std::max(0.0, w - step * rate)});
      if (!is_moved) return;
    }
  }
  void drop_zeros() {
    std::vector<double> weights;
    for (std::size_t j = terms_.size(); j-- > 0;) {
      if (weights_[static_cast<Index>(j)] > 0.0) {
        weights.insert(weights.begin(), weights_[static_cast<Index>(j)]);
        continue;
      }
      terms_.erase(terms_.begin() + static_cast<std::ptrdiff_t>(j));
      products_.erase(products_.begin() + static_cast<std::ptrdiff_t>(j));
    }
    weights_ = Eigen::Map<const VectorXd>(weights.data(), static_cast<Index>(weights.size()));
  }

  double horizon_, norm_ = 0.0, highest_ = 0.0, first_gain_ = 0.0;
  std::vector<Sample> samples_;
  std::vector<Cosine> grid_, terms_;
  std::vector<double> grid_products_, products_;  // with the kernel
  VectorXd weights_;
};

/// The next number with two digits above `x`.
double rounded_up(double x) {
  const double unit = std::pow(10.0, std::floor(std::log10(x)) - 1.0);
  return std::ceil(x / unit) * unit;
}

}  // namespace

Eigen::VectorXd nonnegative_least_squares(const MatrixXd& gram, const VectorXd& products) {
  const Index n = products.size();
  VectorXd k = VectorXd::Zero(n);
  std::vector<Index> free;
  const VectorXd scale = gram.diagonal().cwiseSqrt();
  const double roundoff = 1e-13 * products.cwiseQuotient(scale).cwiseAbs().maxCoeff();
  for (Index iteration = 0; iteration < 3 * n; ++iteration) {
    // The largest gradient among the variables that are 0.
    VectorXd gradient = (products - gram * k).cwiseQuotient(scale);
    for (const Index j : free) gradient[j] = 0.0;
    Index next = 0;
    if (!(gradient.maxCoeff(&next) > roundoff)) break;
    free.push_back(next);
    while (!free.empty()) {
      const VectorXd solution = Lu(gram(free, free)).solve(VectorXd(products(free)));
      if (!solution.allFinite()) return k;
      double fraction = 1.0;
      for (std::size_t i = 0; i < free.size(); ++i) {
        const double from = k[free[i]], to = solution[static_cast<Index>(i)];
        if (to <= 0.0) fraction = std::min(fraction, from / (from - to));
      }
      std::vector<Index> positive;
      for (std::size_t i = 0; i < free.size(); ++i) {
        const Index j = free[i];
        const double to = solution[static_cast<Index>(i)];
        k[j] += fraction * (to - k[j]);
        if (to <= 0.0 && k[j] <= 1e-14 * k.maxCoeff()) k[j] = 0.0;
        if (k[j] > 0.0) positive.push_back(j);
      }
      const bool is_done = positive.size() == free.size();
      free = std::move(positive);
      if (is_done) break;
    }
  }
  return k;
}

ExponentialSum fit_passive(const std::function<double(double)>& kernel, const std::vector<double>& kinks,
                           const BathAccuracy& accuracy) {
  PassiveFit fit(kernel, kinks, accuracy);
  ExponentialSum sum;
  sum.kernel = kernel;
  sum.norm = fit.norm();
  std::vector<double> distances;
  const auto stagnates = [&] {
    constexpr std::size_t patience = 8;
    return distances.size() > patience && distances.back() > 0.9 * distances[distances.size() - 1 - patience];
  };
  while (static_cast<Index>(distances.size()) < max_terms && !stagnates() && fit.add_term()) {
    distances.push_back(fit.distance());
    if (!(distances.back() <= accuracy.tolerance)) continue;
    sum.modes = fit.terms();
    sum.measured = distances.back();
    sum.exponentials = static_cast<int>(sum.modes.size());
    sum.damping = resistance_at(sum.modes, 0.0);
    return sum;
  }
  if (distances.empty()) throw UnsuitableFunction("the nearest passive kernel is 0");
  const double nearest = *std::min_element(distances.begin(), distances.end());
  // The first sum that is nearly as near: more terms represent noise.
  const double sufficient =
      *std::find_if(distances.begin(), distances.end(), [&](double distance) { return distance <= 1.25 * nearest; });
  throw TooFarFromPassive(
      fmt::format("the nearest passive kernel is at a distance of {:.2g}, above the `tolerance` {:.2g}", nearest,
                  accuracy.tolerance),
      rounded_up(sufficient));
}

}  // namespace bathline
