// Every open system, one function a line; a new system adds its file and its line here and in system_catalogue.cpp.
#pragma once  // Public: programs of others may include this header.

#include <vector>

#include "model/particle_system.hpp"
#include "model/potentials/catalogue.hpp"
#include "recipe/catalogue.hpp"
#include "recipe/mistakes.hpp"
#include "recipe/section.hpp"

namespace bathline {

struct SystemKind {
  CatalogueEntry entry;
  /// Fills in `system` from the validated section; what does not make sense together is added to the mistakes. The
  /// numbers of particles and axes come first, and are known even where a value turns out not to be readable.
  /// `potentials` are what the section can name.
  void (*build)(const Section& section, const Catalogue<PotentialKind>& potentials, ParticleSystem& system,
                Mistakes& mistakes);
};

SystemKind single_oscillator_kind();
SystemKind dual_oscillator_kind();
SystemKind binary_oscillator_kind();
SystemKind kepler_kind();
SystemKind pair_potential_kind();
SystemKind coupled_van_der_pol_kind();
SystemKind linear_kind();
SystemKind contact_kind();
SystemKind formula_kind();
SystemKind lagrangian_kind();

/// Those of this program.
const Catalogue<SystemKind>& systems();

/// The parameters `q0` and `v0` that every system with `particles` particles and `axes` axes has.
std::vector<Parameter> start_parameters();
/// The value of `key`, given like q0, as one vector: zero, and a mistake, where it has the wrong size.
Eigen::VectorXd read_positions(const Section& section, const std::string& key, const ParticleSystem& system,
                               Mistakes& mistakes);
/// Reads q0 and v0 (zero where absent) into the system, whose numbers of particles and axes are set.
void read_start(const Section& section, ParticleSystem& system, Mistakes& mistakes);

}  // namespace bathline
