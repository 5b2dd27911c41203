// Random numbers with the density exp(-V(s)/kT), by the inverse of its distribution.
// Tested by tests/model/line/nonlinear_thermal_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "model/potentials/pair_potential.hpp"

namespace bathline {

/// V(s) in J. Where it is not finite, no s is.
using Energy = std::function<double(double)>;

/// Outermost places at which V is at most `energy` above its minimum; infinite where there is none.
std::pair<double, double> turning_points(const Energy& potential, double energy);

/// The largest V'' between them, at least 0. On a side without one V'' is sampled as far as on the other.
double largest_curvature(const PairPotential& potential, double energy);

/// A density that is known at equally distant nodes and 0 beyond them. Its logarithm is interpolated linearly within a
/// cell, and the probability of a cell is that of the cubic through the nearest four nodes.
class TabulatedDensity {
 public:
  /// At least two values, those at `first` and behind it, in any unit.
  void tabulate(double first, double step, std::span<const double> values);
  /// The number below which a number lies with probability u, 0 < u <= 1.
  double quantile(double u) const;
  double lowest() const { return first_; }
  double highest() const { return first_ + step_ * static_cast<double>(values_.size() - 1); }

 protected:
  double first_ = 0.0, step_ = 0.0;
  std::vector<double> values_, sums_;  // at each node, and up to it
};

/// The density of a stretch, or of a place, of thermal springs, sites and particles, in cells of equal width: averages
/// of smooth functions are right to about 1e-10.
class BoltzmannTable : public TabulatedDensity {
 public:
  /// `temperature` is kT, J. Nothing where the density has no integral.
  static std::optional<BoltzmannTable> of(Energy potential, double temperature) {
    return tabulate(std::move(potential), temperature, many_cells);
  }
  /// That of V(s) + P s whose mean is given, to 1e-4 standard deviations at least; nothing where there is none.
  static std::optional<BoltzmannTable> with_mean(const Energy& potential, double temperature, double mean);

  double mean() const { return mean_; }
  double variance() const { return variance_; }
  double pressure() const { return pressure_; }  ///< P, N
  /// In parts of the largest one.
  double density(double s) const;
  /// The probability that a sum of `count` numbers is near `sum`, in parts of a bound of it: at most 1. `count` must
  /// not be small, since it is an integral of powers of the characteristic function.
  double likelihood_of_sum(std::int64_t count, double sum) const;

 private:
  static constexpr int many_cells = 8192;

  static std::optional<BoltzmannTable> tabulate(Energy potential, double temperature, int cells);

  Energy potential_;
  double temperature_ = 0.0, pressure_ = 0.0, mean_ = 0.0, variance_ = 0.0;
  double least_ = 0.0;  // the energy of the largest density
};

}  // namespace bathline
