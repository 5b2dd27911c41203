// Explicit steps of a few particles and their environments.
#pragma once

#include <memory>

#include "steppers/stepper.hpp"
#include "steppers/transposed/recorded_path.hpp"

namespace bathline {

/// The stepper of a splitting on at most eight degrees of freedom, whose forces are those of potential, damping matrix,
/// cold dampers on nonlinear couplings, and either environments or noise only: their number is known at compile time,
/// nothing is allocated, and the force is not evaluated again at unchanged positions. It has the bits of the general
/// stepper, but for the elimination of those dampers. Null for other problems. `problem` must outlive it, as `path`
/// must, to which all kicks are added; nullptr where they are not.
std::unique_ptr<Stepper> make_small_splitting_stepper(const ExplicitScheme& scheme, Problem& problem, double h,
                                                      RecordedPath* path = nullptr);

}  // namespace bathline
