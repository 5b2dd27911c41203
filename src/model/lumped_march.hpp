// What advances a lumped environment.
#pragma once

#include <memory>

#include "model/lumped.hpp"

namespace bathline {

std::unique_ptr<ExplicitMarch> make_explicit_march(LumpedEnvironment& environment, const ExplicitScheme& scheme,
                                                   double h);
/// Of a linear one.
std::unique_ptr<ImplicitMarch> make_implicit_march(LumpedEnvironment& environment, const CollocationScheme& scheme,
                                                   double h);

}  // namespace bathline
