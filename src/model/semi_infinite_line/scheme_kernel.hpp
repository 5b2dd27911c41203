// The kind of kernel of a semi-infinite line that a scheme needs.
#pragma once

#include <string>
#include <variant>

#include "methods/scheme.hpp"

namespace bathline {

/// Alternating kicks and drifts of a whole step: the kernel with g = 0 from kick to kick, wherever a step begins.
struct LeapfrogKernel {};
/// One stage of the gamma family, by its g.
struct GammaKernel {
  double gamma;
};
/// An algebraically stable Runge-Kutta method, which integrates the exponentials.
struct RungeKuttaKernel {};

using SchemeKernel = std::variant<LeapfrogKernel, GammaKernel, RungeKuttaKernel>;

/// The kernel, or the reason why there is none, as Environment::unsupported_reason states it.
std::variant<SchemeKernel, std::string> kernel_of(const Scheme& scheme);
/// Whether `scheme` is the midpoint rule, to which the gamma kernel with g = 1/2 also applies.
bool is_midpoint(const Scheme& scheme);

}  // namespace bathline
