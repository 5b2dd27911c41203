// The catalogue of pair potentials. A new one adds its file, and a line here and in catalogue.cpp.
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
  /// Builds the potential of the validated table `{ kind = "...", ... }`. Adds a mistake and throws `InvalidValue`
  /// where it is invalid.
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

/// The pair potentials that are built in.
const Catalogue<PotentialKind>& potentials();
/// The potential that a table of a recipe describes, with mistakes as above.
std::shared_ptr<const PairPotential> build_potential(const Catalogue<PotentialKind>& potentials, const Section& section,
                                                     Mistakes& mistakes);

/// Whether a table is a formula in the coordinates x, y, z of a particle, and so no function of a separation.
bool is_position_formula(const Section& section);
/// The potential of one particle with this number of axes that such a table describes.
std::shared_ptr<const Potential> build_position_formula(const Section& section, int axes, Mistakes& mistakes);

}  // namespace bathline
