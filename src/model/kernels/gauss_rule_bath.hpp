// Representation of a spectral density by few oscillators: the Gauss rule with the same kernel until a horizon.
//
//   gamma(t) = (2/pi) integral_0^inf J(w)/w cos(w t) dw
//
// A rule of n nodes in w^2 is exact for polynomials in w^2 of degree 2 n - 1, and a cosine is a polynomial of degree d
// up to an error of 2 sum_{k > d} |J_2k(w_max t)|. With n slightly above w_max T/4 the kernels therefore agree until T.
// Source: farshi2018, eq. (36) for the kernel; abramowitz1964, 9.1.44 and 9.1.63 for cosines in Bessel functions and
// their bound (Kapteyn); gautschi2004 for the rules.
#pragma once

#include <functional>
#include <vector>

#include "model/line/sites.hpp"
#include "model/kernels/spectral_density.hpp"
#include "model/kernels/adaptive_quadrature.hpp"
#include "model/discrete_spectrum.hpp"

namespace bathline {

/// A bath as a star and as a chain with the same kernel.
struct GaussRuleBath {
  std::vector<BathOscillator> star;
  std::vector<LineSite> chain;           ///< with a free last site
  std::function<double(double)> kernel;  ///< the kernel that it represents, N/m
  double highest;                        ///< highest represented frequency, rad/s
  double damping;                        ///< J(w)/w at 0, kg/s, which may be 0 or infinite

  // Integrals until the horizon, divided by `norm`.
  double norm;              ///< integral of the kernel's absolute values, kg/s
  double measured;          ///< error of the kernel, by its maxima on intervals
  double bound;             ///< bound of the error of the rule, for any density
  double truncation_error;  ///< part above `highest`, if the density decreases there
  double error() const { return measured + bound + truncation_error; }
};

/// sum of stiffness cos(frequency t), N/m.
double kernel_at(const std::vector<BathOscillator>& star, double t);

/// Thrown where the bath of a density would be too large.
class TooManyOscillators : public UnsuitableFunction {
 public:
  using UnsuitableFunction::UnsuitableFunction;
};

/// The number of oscillators needed. Throws UnsuitableFunction if there is no bath, or it is too large.
double oscillators_for(const SpectralDensity& density, const BathAccuracy& accuracy);
/// The bath of a density. Throws UnsuitableFunction if there is none.
GaussRuleBath make_bath(const SpectralDensity& density, const BathAccuracy& accuracy);

/// The density of a decaying kernel, up to the highest frequency that matters: J(w) = w integral_0^inf gamma(t) cos(w
/// t) dt. `kinks` as in SpectralDensity, in s. Throws UnsuitableFunction.
SpectralDensity density_of_kernel(const std::function<double(double)>& kernel, const std::vector<double>& kinks,
                                  const BathAccuracy& accuracy);

}  // namespace bathline
