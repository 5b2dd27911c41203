// Potentials of springs and sites of lines.
#pragma once

#include <memory>

#include "model/potentials/catalogue.hpp"

namespace bathline {

PotentialKind hertz_potential_kind();

/// The potential of the place x of a site that moves along one axis, whose formula may use x for r. Adds a mistake and
/// throws `InvalidValue` where the table is invalid.
std::shared_ptr<const PairPotential> build_site_potential(const Section& section, Mistakes& mistakes);

}  // namespace bathline
