// One implicit step inside a uniform line as recursions of first order along it, two for every eigenvalue of the stage
// matrix, one from either side.
//
//   D + X G D = -X (a^ 1 w + G 1 u),   G = a^ a,   X = h^2 lambda/M K,   K = -(second difference),   u = h/M p
//   w+ = w + u + b.D,   u+ = u - X (w + b.(a (1 u + D)))
//
// for the change D of the stage momenta, in units of M/h. With G = sum_i mu_i R_i L_i and
//
//   y_i = w + g_i u,   g_i = (L_i.G 1)/(L_i.a^ 1),   z_i = K/(1 + mu_i X) y_i
//
// it is D = -h^2 lambda/M sum_i R_i (L_i.a^ 1) z_i, and X/(1 + mu X) = (1 - 1/(1 + mu X))/mu gives
//
//   w+ = w + u - h^2 lambda/M sum_i (b.R_i) (L_i.a^ 1) z_i
//   u+ = u - h^2 lambda/M sum_i (b.a R_i)/mu_i (L_i.a^ 1) z_i
//
// where the terms without a pole are w + b.a 1 u - b.a G^-1 (a^ 1 w + G 1 u) = 0 because b.1 = 1. So G must have an
// inverse and be diagonalised safely: that holds for Gauss (G = a^2), not for the pair Lobatto IIIA-IIIB, whose G is
// singular.
//
// With S the shift by a site, K = (1 - S)(1 - S^-1) in units of lambda, and with c = mu h^2 lambda/M each matrix
// splits, 1 + c K = (c/r) (1 - r S)(1 - r S^-1), so
//
//   K/(1 + c K) = (r/c) (1 - S)/(1 - r S) (1 - S^-1)/(1 - r S^-1),   r = ((1 + 2c) - sqrt(1 + 4c)) / 2c
//
// Eigenvalues that are not real come in pairs, of which one is taken, twice its real part. Nothing but changes of w and
// u from site to site is computed, which small steps leave small: nothing is lost. Conserves what the scheme conserves,
// to round-off.
// Source: the scheme, hairer2006, section II.2; partial fractions and a spectral factorisation of its matrix.
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "methods/scheme.hpp"
#include "model/line/sites.hpp"

namespace bathline {

/// Summed influence below this is nothing against the round-off of a step.
inline constexpr double negligible_influence = 0x1p-60;

/// The numbers of that step.
struct LineRecursion {
  using Complex = std::complex<double>;

  /// One eigenvalue, or a pair of conjugates: p+ = p - Re(kick z), w+ = w + drift p - Re(slip z), all summed, with
  /// z = (1 - S)/(1 - r S) (1 - S^-1)/(1 - r S^-1) (w + lead p).
  struct Mode {
    Complex pole;  ///< r
    Complex input_momentum_weight;
    Complex momentum_weight;
    Complex displacement_weight;
    /// The changes of the stage momenta are the sum of all Re(to_stages z).
    std::vector<Complex> to_stages;
    /// Where velocities V of its stages are all that a site has, it has z = from_velocities.V.
    std::vector<Complex> from_velocities;
  };

  /// Nothing for schemes that have none.
  static std::optional<LineRecursion> of(const LineConstants& line, const PartitionedRungeKutta& scheme, double h);

  std::vector<Mode> pairs;    ///< of conjugate eigenvalues
  std::vector<Mode> singles;  ///< real
  double drift = 0.0;
  double impedance = 1.0;  ///< sqrt(lambda M), which makes momenta comparable with displacements

  /// A step of an unbounded line by plain loops.
  void step(std::span<double> w, std::span<double> p) const;
  /// Sites after which every decay^sites is negligible; the largest number there is where one never is.
  std::int64_t decay_length() const;
};

}  // namespace bathline
