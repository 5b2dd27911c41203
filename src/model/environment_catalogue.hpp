// Every environment, one function a line; a new environment adds its file and its line here and in
// environment_catalogue.cpp.
#pragma once  // Public: programs of others may include this header.

#include <filesystem>
#include <memory>
#include <string>

#include "model/environment.hpp"
#include "model/particle_system.hpp"
#include "parallel/communicator.hpp"
#include "recipe/catalogue.hpp"
#include "recipe/mistakes.hpp"
#include "recipe/section.hpp"

namespace bathline {

/// When a run looks at its environments, s.
struct RunTimes {
  double step;
  double end;
};

struct EnvironmentKind {
  CatalogueEntry entry;
  /// Builds, without allocating any sites, from the validated section. What does not make sense together is added to
  /// the mistakes, whatever the step, and then nothing is returned; nor is it where a value cannot be read. A system
  /// with no particles is one that could not be read. @note Collective.
  std::unique_ptr<Environment> (*build)(const Section& section, const ParticleSystem& system, const RunTimes& run,
                                        const Communicator& communicator, Mistakes& mistakes);
  /// Whether what a section describes has noise of its own where particles are closed with it; empty where none does.
  bool (*is_noisy)(const Section& section) = nullptr;
  /// Why no white noise belongs to its damper in open runs, in a sentence that goes on behind its name; empty where it
  /// does.
  std::string (*why_no_white_noise)(const Section& section) = nullptr;
  /// Takes out of a section what makes noise at the temperature 0; empty where nothing does.
  void (*disable_noise)(Section& section) = nullptr;
};

/// The number of particles; asks for what is not known where the system could not be read.
int particles_of(const ParticleSystem& system);
/// Whether the number of sites `key` is one that memory can be counted for; adds a mistake if not.
bool check_size(const Section& section, const char* key, Mistakes& mistakes);
/// Where the file that `key` names lies: seen from the recipe's folder, also where `key` comes from the command line.
std::filesystem::path path_beside_recipe(const Section& section, const std::string& key);
/// Whether `attach` names a particle that exists; adds a mistake if not.
bool check_particle(const Section& section, long particle, const ParticleSystem& system, Mistakes& mistakes);

/// The key `attach` of an environment on one particle, and what it says; nothing, and a mistake, where there is no such
/// particle.
Parameter attach_parameter(std::string doc);
std::optional<Attachment> attachment_to_particle(const Section& section, const ParticleSystem& system,
                                                 Mistakes& mistakes);

EnvironmentKind spring_mass_line_kind();
EnvironmentKind spring_inerter_line_kind();
EnvironmentKind heat_bath_kind();
EnvironmentKind memory_environment_kind();

/// Those of this program.
const Catalogue<EnvironmentKind>& environments();

}  // namespace bathline
