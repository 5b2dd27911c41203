// Explicit steps of a few particles and their environments.
#pragma once

#include <memory>

#include "steppers/stepper.hpp"

namespace bathline {

/// The stepper of a splitting on at most eight degrees of freedom, on which no force acts but environments, potential
/// and damping matrix: their number is known at compile time, nothing is allocated, and a force at a place
/// that has not changed is not asked for again. The same bits as any stepper's. Nothing for other problems. `problem`
/// must outlive it.
std::unique_ptr<Stepper> make_small_splitting_stepper(const ExplicitScheme& scheme, Problem& problem, double h);

}  // namespace bathline
