// The catalogue of systems. A new system adds its file, and a line here and in system_catalogue.cpp.
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
  /// Fills in `system` from the validated section. Where keys contradict each other, adds a mistake and leaves the
  /// system incomplete. `potentials` are those that the section can name.
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

/// The systems that are built in.
const Catalogue<SystemKind>& systems();

/// A system's `own` parameters, followed by `q0` and `v0`, which every system has, and `drive`, `parameters` and
/// `uniform_field`, which all have whose forces have a potential.
std::vector<Parameter> with_start(std::vector<Parameter> own);
std::vector<Parameter> with_start_and_forces(std::vector<Parameter> own);
/// The value of `key`, which has the forms of q0, as a vector: zero, and a mistake, where the size is wrong.
Eigen::VectorXd read_positions(const Section& section, const std::string& key, const ParticleSystem& system,
                               Mistakes& mistakes);
/// Reads q0 and v0 (zero where absent) into the system, whose numbers of particles and axes must be set.
void read_start(const Section& section, ParticleSystem& system, Mistakes& mistakes);

}  // namespace bathline
