// A bath of few oscillators in the place of a spectral density: the Gauss rule that keeps its kernel for a time.
//
//   gamma(t) = (2/pi) integral_0^inf J(w)/w cos(w t) dw
//
// A rule of n nodes in w^2 is exact for polynomials in w^2 of degree 2 n - 1, and a cosine is one of degree d up to
// 2 sum_{k > d} |J_2k(w_max t)|, so that with n = w_max T/4 and a little more the kernels are the same until T. Source:
// farshi2018, eq. (36) for the kernel; abramowitz1964, 9.1.44 and 9.1.63 for cosines in Bessel functions and their
// bound (of Kapteyn); gautschi2004 for the rules.
#pragma once

#include <functional>
#include <vector>

#include "model/line/sites.hpp"
#include "model/kernels/spectral_density.hpp"
#include "model/kernels/adaptive_quadrature.hpp"
#include "model/discrete_spectrum.hpp"

namespace bathline {

/// Both faces of it, which have one kernel.
struct GaussRuleBath {
  std::vector<BathOscillator> star;
  std::vector<LineSite> chain;           ///< its last site is free
  std::function<double(double)> kernel;  ///< that it stands for, N/m
  double highest;                        ///< above this nothing was left to stand for, rad/s
  double damping;                        ///< J(w)/w at 0, kg/s, which may be 0 or infinite

  // Integrals until then, over `norm`.
  double norm;              ///< integral of the kernel's absolute values, kg/s
  double measured;          ///< of the star's distance from the kernel, by its largest values on parts of the time
  double bound;             ///< of what the rule leaves out, for any density
  double truncation_error;  ///< of what lies above `highest`, where the density falls from there on
  double error() const { return measured + bound + truncation_error; }
};

/// sum of stiffness cos(frequency t), N/m.
double kernel_at(const std::vector<BathOscillator>& star, double t);

/// Why a density that is one is no bath of reasonable size.
class TooManyOscillators : public UnsuitableFunction {
 public:
  using UnsuitableFunction::UnsuitableFunction;
};

/// How many oscillators it takes. Throws UnsuitableFunction where there is no bath, or one that is too large.
double oscillators_for(const SpectralDensity& density, const BathAccuracy& accuracy);
/// Throws UnsuitableFunction where there is none.
GaussRuleBath make_bath(const SpectralDensity& density, const BathAccuracy& accuracy);

/// The density of a kernel that dies down, up to where it has to be known: J(w) = w integral_0^inf gamma(t) cos(w t)
/// dt. `kinks` as above, in s. Throws UnsuitableFunction.
SpectralDensity density_of_kernel(const std::function<double(double)>& kernel, const std::vector<double>& kinks,
                                  const BathAccuracy& accuracy);

}  // namespace bathline
