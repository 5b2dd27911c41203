// The catalogue of pair potentials.
// Tested by tests/properties/potentials_test.cpp.
#include "model/potentials/catalogue.hpp"

#include <stdexcept>

#include "model/potentials/line_potentials.hpp"

namespace bathline {

const Catalogue<PotentialKind>& potentials() {
  static const Catalogue<PotentialKind> all = {
      harmonic_potential_kind(), quartic_potential_kind(),       double_well_potential_kind(),
      morse_potential_kind(),    lennard_jones_potential_kind(), toda_potential_kind(),
      fput_potential_kind(),     hertz_potential_kind(),         formula_potential_kind()};
  return all;
}

std::shared_ptr<const PairPotential> build_potential(const Catalogue<PotentialKind>& potentials, const Section& section,
                                                     Mistakes& mistakes) {
  const PotentialKind* kind = potentials.find(section.text("kind"));
  if (kind == nullptr) throw std::logic_error("the catalogue has no potential " + section.text("kind"));
  return kind->build(section, mistakes);
}

}  // namespace bathline
