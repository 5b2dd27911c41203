// The catalogue of potentials of a separation.
#include "model/potentials/catalogue.hpp"

#include <stdexcept>

namespace bathline {

const std::vector<PotentialKind>& potential_kinds() {
  static const std::vector<PotentialKind> all = {harmonic_potential_kind(), quartic_potential_kind(),
                                                 double_well_potential_kind(), morse_potential_kind(),
                                                 lennard_jones_potential_kind()};
  return all;
}

const std::vector<Entry>& potential_entries() {
  static const std::vector<Entry> all = [] {
    std::vector<Entry> entries;
    for (const PotentialKind& kind : potential_kinds()) entries.push_back(kind.entry);
    return entries;
  }();
  return all;
}

std::shared_ptr<const SeparationPotential> build_potential(const Section& section) {
  for (const PotentialKind& kind : potential_kinds()) {
    if (kind.entry.name == section.text("kind")) return kind.build(section);
  }
  throw std::logic_error("no potential is called " + section.text("kind"));
}

}  // namespace bathline
