// The catalogue of environments. A new environment adds its file, and a line here and in environment_catalogue.cpp.
#pragma once  // Public: programs of others may include this header.

#include <memory>
#include <string>

#include "model/environment.hpp"
#include "model/particle_system.hpp"
#include "parallel/communicator.hpp"
#include "recipe/catalogue.hpp"
#include "recipe/mistakes.hpp"
#include "recipe/section.hpp"

namespace bathline {

/// Step and end of a run, s.
struct RunTimes {
  double step;
  double end;
};

struct EnvironmentKind {
  CatalogueEntry entry;
  /// Builds the environment of the validated section without allocating sites. Returns nullptr, and adds the mistakes,
  /// where keys contradict each other, or where a value cannot be read. A system that could not be read has no
  /// particles. @note Collective.
  std::unique_ptr<Environment> (*build)(const Section& section, const ParticleSystem& system, const RunTimes& run,
                                        const Communicator& communicator, Mistakes& mistakes);
  /// Whether the environment of the section has noise in closed runs; nullptr: never.
  bool (*is_noisy)(const Section& section) = nullptr;
  /// Why its damper has no white noise in open runs, as a predicate to its name; empty where it has. nullptr: it has.
  std::string (*why_no_white_noise)(const Section& section) = nullptr;
  /// Removes from the section what makes noise even at temperature 0; nullptr: nothing does.
  void (*disable_noise)(Section& section) = nullptr;
  /// Whether the environment of the section contains white friction; nullptr: never.
  bool (*has_white_part)(const Section& section) = nullptr;
  /// Whether its environments are white (EnvironmentProperties).
  bool is_white = false;
};

/// Whether the number of sites `key` is small enough for byte counts not to overflow; adds a mistake if not.
bool check_size(const Section& section, const char* key, Mistakes& mistakes);
/// The index of a particle that `attach` names, where -1 is the last one; nothing, and a mistake, where it does not
/// exist.
std::optional<int> read_particle(const Section& section, long particle, const ParticleSystem& system,
                                 Mistakes& mistakes);

/// The parameter `attach` of an environment on one particle.
Parameter attach_parameter(std::string doc);
/// The parameter `kT` of an environment with a temperature at the start alone; a formula in `t` is read, to be refused
/// with the reason.
Parameter start_temperature_parameter(const std::string& doc);
/// That of an environment whose noise may change with the time.
Parameter temperature_parameter(const std::string& doc);
/// The attachment that `attach` or `couple` states; nothing, and a mistake, where there is no such particle or the
/// formulas are wrong.
std::optional<Attachment> read_attachment(const Section& section, const ParticleSystem& system, Mistakes& mistakes);
/// That of `couple`, likewise.
std::optional<Attachment> read_couple(const Section& section, const ParticleSystem& system, Mistakes& mistakes);

EnvironmentKind spring_mass_line_kind();
EnvironmentKind spring_inerter_line_kind();
EnvironmentKind heat_bath_kind();
EnvironmentKind memory_environment_kind();
EnvironmentKind damper_kind();

/// The environments that are built in.
const Catalogue<EnvironmentKind>& environments();

}  // namespace bathline
