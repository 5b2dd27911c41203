// Which kernel a scheme sees of a line.
#pragma once

#include <string>
#include <variant>

#include "methods/scheme.hpp"
#include "model/semi_infinite_line/multistage_kernel.hpp"

namespace bathline {

/// Kicks and drifts by turns: the kernel with g = 0 from kick to kick, wherever a step begins.
struct LeapfrogKernel {};
/// One stage of the gamma family, by its g.
struct GammaKernel {
  double gamma;
};
/// An algebraically stable Runge-Kutta method, which takes the exponentials along.
struct RungeKuttaKernel {};

/// A composition is known by its `KickDriftSequence`.
using SchemeKernel = std::variant<LeapfrogKernel, GammaKernel, RungeKuttaKernel, KickDriftSequence>;

/// That, or why there is none, as Environment::obstacle says it.
std::variant<SchemeKernel, std::string> kernel_of(const Scheme& scheme);
/// Whether it is the midpoint rule, whose kernel over steps is that of the gamma family with 1/2 as well.
bool is_midpoint(const Scheme& scheme);

}  // namespace bathline
