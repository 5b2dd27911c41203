// Random numbers with the density exp(-(V(s) + P s)/kT), by the inverse of its distribution.
// Tested by tests/model/line/nonlinear_thermal_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "model/potentials/pair_potential.hpp"

namespace bathline {

/// Outermost places at which V(s) + P s is at most `energy` above its minimum; infinite where there is none.
std::pair<double, double> turning_points(const PairPotential& potential, double pressure, double energy);

/// The largest V'' between them for P = 0, at least 0. On a side without one V'' is sampled as far as on the other.
double largest_curvature(const PairPotential& potential, double energy);

/// The density of a stretch, or of a place, of thermal springs and sites. The logarithm is interpolated linearly within
/// each of 8192 cells, whose probabilities are integrals of the density itself: averages of smooth functions are right
/// to about 1e-10.
class BoltzmannTable {
 public:
  /// `temperature` is kT, J; the potential must outlive the table. Nothing where the density has no integral.
  static std::optional<BoltzmannTable> of(const PairPotential& potential, double temperature, double pressure = 0.0) {
    return tabulate(potential, temperature, pressure, 8192);
  }
  /// The one whose mean is given, to 1e-4 standard deviations at least; nothing where there is none.
  static std::optional<BoltzmannTable> with_mean(const PairPotential& potential, double temperature, double mean);

  double mean() const { return mean_; }
  double variance() const { return variance_; }
  double pressure() const { return pressure_; }  ///< P, N
  double lowest() const { return first_; }
  double highest() const { return first_ + step_ * cells_; }
  double density(double s) const;
  double largest_density() const { return 1.0 / integral_; }
  /// The number below which a number lies with probability u, 0 < u <= 1.
  double quantile(double u) const;
  /// The probability that a sum of `count` numbers is near `sum`, in parts of a bound of it: at most 1. `count` must
  /// not be small, since it is an integral of powers of the characteristic function.
  double likelihood_of_sum(std::int64_t count, double sum) const;

 private:
  BoltzmannTable() = default;
  static std::optional<BoltzmannTable> tabulate(const PairPotential& potential, double temperature, double pressure,
                                                int cells);

  int cells_ = 0;
  const PairPotential* potential_ = nullptr;
  double temperature_ = 0.0, pressure_ = 0.0, mean_ = 0.0, variance_ = 0.0;
  double first_ = 0.0, step_ = 0.0;
  double least_ = 0.0;                             // V + P s at its minimum
  double integral_ = 0.0;                          // of exp(-(V + P s - least)/kT)
  std::vector<double> logarithms_, distribution_;  // of the density in units of the largest, and up to each node
  std::vector<int> guide_;                         // the first cell of each of as many equal parts of (0, 1)
};

}  // namespace bathline
