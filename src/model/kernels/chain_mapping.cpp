// The recursion uses frequencies instead of their squares, so that low ones keep their relative accuracy: for the
// measure with half of each stiffness at both w and -w the coefficients a_i vanish, and
//
//   b_1^2 = lambda_1/M_1,   b_2^2 = lambda_2/M_1,   b_3^2 = lambda_2/M_2,   ...
#include "model/kernels/chain_mapping.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "solve/dense.hpp"

namespace bathline {

namespace {

/// Recursion coefficients of a discrete measure, updated node by node: the algorithm RKPW of Gragg and Harrod in the
/// form of Gautschi; `a` and `b` are p0 and p1 there.
class Rkpw {
 public:
  /// Computes the first `size` coefficients.
  explicit Rkpw(std::size_t size) : a_(size, 0.0), b_(size, 0.0) {}

  /// b_0, the sum of all weights, b_1^2, b_2^2, ...
  const std::vector<double>& squares() const { return b_; }

  /// Adds a node and a weight for each of the sweeps. The sweeps are interleaved, each one index behind the previous
  /// one, since a single sweep is a chain of dependent divisions.
  template <std::size_t sweeps>
  void add(const std::array<double, sweeps>& nodes, const std::array<double, sweeps>& weights) {
    std::array<Sweep, sweeps> all;
    for (std::size_t s = 0; s < sweeps; ++s) all[s] = {.node = nodes[s], .weight = weights[s]};
    const std::size_t active = std::min(count_ + sweeps, a_.size());
    for (std::size_t k = 0; k < active + sweeps - 1; ++k) {
      for (std::size_t s = 0; s < sweeps; ++s) {
        // The previous sweep has passed this index; a sweep ends at the coefficient that it adds.
        if (k >= s && k - s < std::min(count_ + s + 1, a_.size())) step(all[s], k - s);
      }
    }
    count_ += sweeps;
  }

 private:
  struct Sweep {
    double node, weight, gamma = 1.0, sigma = 0.0, t = 0.0;
  };

  void step(Sweep& sweep, std::size_t k) {
    const double rho = b_[k] + sweep.weight, new_b = sweep.gamma * rho;
    const double previous_sigma = sweep.sigma;
    sweep.gamma = rho > 0.0 ? b_[k] / rho : 1.0;
    sweep.sigma = rho > 0.0 ? sweep.weight / rho : 0.0;
    const double t = sweep.sigma * (a_[k] - sweep.node) - sweep.gamma * sweep.t;
    a_[k] -= t - sweep.t;
    sweep.t = t;
    sweep.weight = sweep.sigma > 0.0 ? t * t / sweep.sigma : previous_sigma * b_[k];
    b_[k] = new_b;
  }

  std::vector<double> a_, b_;
  std::size_t count_ = 0;
};

/// b_1, b_2, ... of a chain: the off-diagonal elements of its matrix, whose eigenvalues are its frequencies and their
/// negatives.
Eigen::VectorXd off_diagonal(std::span<const LineSite> chain) {
  Eigen::VectorXd b(2 * static_cast<Eigen::Index>(chain.size()) - 1);
  for (std::size_t j = 0; j < chain.size(); ++j) {
    const auto index = 2 * static_cast<Eigen::Index>(j);
    b[index] = std::sqrt(chain[j].stiffness / chain[j].mass);
    if (j + 1 < chain.size()) b[index + 1] = std::sqrt(chain[j + 1].stiffness / chain[j].mass);
  }
  return b;
}

/// A refined eigenvalue of the matrix with zero diagonal and off-diagonal `b`, and the square of the first component of
/// its normalised eigenvector.
struct Eigenpair {
  double value, first_component;
};

/// Refines eigenpairs by elimination from both ends, which meet at the largest component of the eigenvector: a
/// recursion from one end is unstable beyond it. Source: dhillon2004, section 4.
class TwistedElimination {
 public:
  explicit TwistedElimination(const Eigen::VectorXd& b) : b_(b), down_(b.size() + 1), up_(b.size() + 1) {}

  Eigenpair operator()(double value) {
    const Eigen::Index last = b_.size();
    down_[0] = up_[last] = pivot(-value);
    for (Eigen::Index i = 0; i < last; ++i) {
      down_[i + 1] = pivot(-value - b_[i] * (b_[i] / down_[i]));
      up_[last - i - 1] = pivot(-value - b_[last - i - 1] * (b_[last - i - 1] / up_[last - i]));
    }
    Eigen::Index twist = 0;
    const Eigen::ArrayXd gap = down_.array() + up_.array() + value;
    gap.abs().minCoeff(&twist);
    double norm = 1.0, first = 1.0, z = 1.0;
    for (Eigen::Index i = twist; i > 0; --i) {
      first *= b_[i - 1] / down_[i - 1];
      norm += first * first;
    }
    for (Eigen::Index i = twist; i < last; ++i) {
      z *= b_[i] / up_[i + 1];
      norm += z * z;
    }
    return {value + gap[twist] / norm, first * first / norm};
  }

 private:
  static double pivot(double x) { return x == 0.0 ? 1e-300 : x; }

  const Eigen::VectorXd& b_;
  Eigen::VectorXd down_, up_;
};

}  // namespace

std::vector<LineSite> chain_from_star(std::span<const BathOscillator> star, std::int64_t sites) {
  constexpr std::size_t at_once = 2;
  const std::size_t count = std::min(static_cast<std::size_t>(sites), star.size());
  // Scaled to the order of 1 against overflow and underflow.
  double highest = 0.0, total = 0.0;
  for (const BathOscillator& oscillator : star) {
    highest = std::max(highest, oscillator.frequency);
    total += oscillator.stiffness;
  }
  Rkpw recursion(2 * count);
  for (std::size_t j = 0; j < star.size(); j += at_once) {
    const bool is_last = j + 1 == star.size();
    const double w = star[j].frequency / highest, half = 0.5 * star[j].stiffness / total;
    if (is_last) {
      recursion.add<2>({w, -w}, {half, half});
      break;
    }
    const double v = star[j + 1].frequency / highest, half_of_next = 0.5 * star[j + 1].stiffness / total;
    recursion.add<4>({w, -w, v, -v}, {half, half, half_of_next, half_of_next});
  }
  const std::vector<double>& squares = recursion.squares();
  std::vector<LineSite> chain;
  double stiffness = total;
  for (std::size_t j = 0; j < count; ++j) {
    const double mass = stiffness / (squares[2 * j + 1] * highest * highest);
    // The remaining stiffnesses are negligible and would underflow.
    if (!(stiffness > 1e-250 * total) || !std::isfinite(mass)) break;
    chain.push_back({mass, stiffness});
    if (j + 1 == count) break;
    stiffness = squares[2 * j + 2] * highest * highest * mass;
  }
  return chain;
}

std::vector<BathOscillator> star_from_chain(std::span<const LineSite> chain) {
  // The matrix of half the size for squares of frequencies gives approximate values; low ones are inaccurate.
  const auto sites = static_cast<Eigen::Index>(chain.size());
  const Eigen::VectorXd b = off_diagonal(chain);
  Eigen::VectorXd diagonal(sites), off_diagonal_of_squares(sites - 1);
  for (Eigen::Index j = 0; j < sites; ++j) {
    diagonal[j] = b[2 * j] * b[2 * j];
    if (j + 1 == sites) break;
    diagonal[j] += b[2 * j + 1] * b[2 * j + 1];
    off_diagonal_of_squares[j] = b[2 * j + 1] * b[2 * j + 2];
  }
  TwistedElimination eliminate(b);
  std::vector<BathOscillator> star;
  for (const double square : tridiagonal_eigen(diagonal, off_diagonal_of_squares, false).values) {
    const Eigenpair rough = eliminate(std::sqrt(std::max(square, 0.0))), refined = eliminate(rough.value);
    star.push_back({refined.value, 2.0 * chain.front().stiffness * refined.first_component});
  }
  return star;
}

}  // namespace bathline
