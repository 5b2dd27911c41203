// One implicit step inside a uniform line as first-order recursions along it: for every eigenvalue of the stage matrix
// one from either side.
//
//   D + X G D = -X (a^ 1 w + G 1 u),   G = a^ a,   X = h^2 lambda/M K,   K = -(second difference),   u = h/M p
//   w+ = w + u + b.D,   u+ = u - X (w + b.(a (1 u + D)))
//
// for the change D of the stage momenta, in units of M/h. With G = sum_i mu_i R_i L_i and
//
//   y_i = w + g_i u,   g_i = (L_i.G 1)/(L_i.a^ 1),   z_i = K/(1 + mu_i X) y_i
//
// we have D = -h^2 lambda/M sum_i R_i (L_i.a^ 1) z_i, and X/(1 + mu X) = (1 - 1/(1 + mu X))/mu gives
//
//   w+ = w + u - h^2 lambda/M sum_i (b.R_i) (L_i.a^ 1) z_i
//   u+ = u - h^2 lambda/M sum_i (b.a R_i)/mu_i (L_i.a^ 1) z_i
//
// where the terms without a pole are w + b.a 1 u - b.a G^-1 (a^ 1 w + G 1 u) = 0 because b.1 = 1. So G must be
// invertible with well-conditioned eigenvectors, as for Gauss (G = a^2), but not for the pair Lobatto IIIA-IIIB, whose
// G is singular.
//
// With S the shift by a site, K = (1 - S)(1 - S^-1) in units of lambda, and with c = mu h^2 lambda/M each matrix
// splits, 1 + c K = (c/r) (1 - r S)(1 - r S^-1), so
//
//   K/(1 + c K) = (r/c) (1 - S)/(1 - r S) (1 - S^-1)/(1 - r S^-1),   r = ((1 + 2c) - sqrt(1 + 4c)) / 2c
//
// Complex eigenvalues come in conjugate pairs, of which one is used with twice its real part. The recursions act on
// differences of w and u between sites, which are small for small steps, so that there is no cancellation. Invariants
// of the scheme are conserved to round-off.
// Source: hairer2006, section II.2, for the scheme; partial fractions and a spectral factorisation of its matrix.
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "methods/scheme.hpp"
#include "model/line/sites.hpp"

namespace bathline {

/// A sum of relative influences below this is negligible compared with the round-off of a step.
inline constexpr double negligible_influence = 0x1p-60;

/// The coefficients of such a step.
struct LineRecursion {
  using Complex = std::complex<double>;

  /// One eigenvalue, or a pair of conjugates:
  ///
  ///   p+ = p - sum Re(k_p z),   w+ = w + drift p - sum Re(k_w z),
  ///   z = (1 - S)/(1 - r S) (1 - S^-1)/(1 - r S^-1) (w + l p)
  struct Mode {
    Complex pole;                   ///< r
    Complex input_momentum_weight;  ///< l
    Complex momentum_weight;        ///< k_p
    Complex displacement_weight;    ///< k_w
    /// The changes of the stage momenta are the sum of all Re(stage_weights z).
    std::vector<Complex> stage_weights;
    /// A site with given stage velocities V, such as the head, has z = velocity_weights.V.
    std::vector<Complex> velocity_weights;
  };

  /// Nothing for schemes without such recursions.
  static std::optional<LineRecursion> of(const LineConstants& line, const PartitionedRungeKutta& scheme, double h);

  std::vector<Mode> pairs;    ///< of conjugate eigenvalues
  std::vector<Mode> singles;  ///< real
  double drift = 0.0;
  double impedance = 1.0;  ///< sqrt(lambda M), the ratio of momenta to displacements in a wave

  /// A step of an unbounded line, in plain loops.
  void step(std::span<double> w, std::span<double> p) const;
  /// The number of sites after which every |r|^sites is negligible; the maximum integer if there is none.
  std::int64_t decay_length() const;
};

}  // namespace bathline
