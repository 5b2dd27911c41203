// Every potential of a separation, one function a line; a new one adds its file and its line here and in catalogue.cpp.
#pragma once  // Public: programs of others may include this header.

#include <memory>

#include "model/potential.hpp"
#include "model/potentials/pair_potential.hpp"
#include "recipe/catalogue.hpp"
#include "recipe/mistakes.hpp"
#include "recipe/section.hpp"

namespace bathline {

struct PotentialKind {
  CatalogueEntry entry;
  /// Builds from the validated table `{ kind = "...", ... }`. Where what it says makes no sense a mistake is added and
  /// `UnreadableValue` thrown.
  std::shared_ptr<const PairPotential> (*build)(const Section& section, Mistakes& mistakes);
};

PotentialKind harmonic_potential_kind();
PotentialKind quartic_potential_kind();
PotentialKind double_well_potential_kind();
PotentialKind morse_potential_kind();
PotentialKind lennard_jones_potential_kind();
PotentialKind toda_potential_kind();
PotentialKind fput_potential_kind();
PotentialKind formula_potential_kind();

/// Those of this program.
const Catalogue<PotentialKind>& potentials();
/// The potential that a table of a recipe describes; mistakes as above.
std::shared_ptr<const PairPotential> build_potential(const Catalogue<PotentialKind>& potentials, const Section& section,
                                                     Mistakes& mistakes);

/// Whether a table is a formula in the coordinates x, y, z of a particle, which no separation gives.
bool is_position_formula(const Section& section);
/// The potential of one particle with so many axes that such a table describes.
std::shared_ptr<const Potential> build_position_formula(const Section& section, int axes, Mistakes& mistakes);

}  // namespace bathline
