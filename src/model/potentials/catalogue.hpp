// Every potential of a separation, one function a line; a new one adds its file and its line here and in catalogue.cpp.
#pragma once

#include <memory>

#include "model/potentials/separation_potential.hpp"
#include "recipe/catalogue.hpp"
#include "recipe/section.hpp"

namespace bathline {

struct PotentialKind {
  Entry entry;
  /// Builds from the validated table `{ kind = "...", ... }`.
  std::shared_ptr<const SeparationPotential> (*build)(const Section& section);
};

PotentialKind harmonic_potential_kind();
PotentialKind quartic_potential_kind();
PotentialKind double_well_potential_kind();
PotentialKind morse_potential_kind();
PotentialKind lennard_jones_potential_kind();

/// Those of this program.
const Catalogue<PotentialKind>& potentials();
/// The potential that a table of a recipe describes.
std::shared_ptr<const SeparationPotential> build_potential(const Catalogue<PotentialKind>& potentials,
                                                           const Section& section);

}  // namespace bathline
