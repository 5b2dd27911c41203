// Symmetric kick-and-drift schemes built from tables of weights, and their stability limits.
#pragma once  // Public: programs of others may include this header.

#include <span>

#include "methods/scheme.hpp"

namespace bathline {

/// Weights of a palindrome of `length` numbers with the sum 1: `half` holds the first length / 2 of them, without the
/// one or two in the middle, which follow from the sum.
std::vector<double> palindrome(std::span<const double> half, int length);

/// Stoermer-Verlet steps of h times the weights one after the other, each drift, kick, kick, drift, so that it is
/// symmetric on damped systems too; adjacent drifts are merged.
ExplicitScheme composition(std::span<const double> weights);

/// Alternating substeps, the first and the last of the kind `outer`: outer[0], inner[0], outer[1], ...
ExplicitScheme alternating_splitting(Substep::Kind outer_kind, std::span<const double> outer,
                                     std::span<const double> inner);

/// The lowest h omega at which a symmetric splitting makes a harmonic oscillation grow, and the lowest h rate at which
/// it makes a decaying motion p' = -rate p grow; from the step's own matrix and factor. Some methods are stable again
/// beyond a narrow gap of instability, which counts as the limit.
double imaginary_axis_limit(const ExplicitScheme& scheme);
double real_axis_limit(const ExplicitScheme& scheme);

}  // namespace bathline
