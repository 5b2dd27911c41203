// The catalogue of environments.
// Tested by tests/properties/environments_test.cpp.
#include "model/environment_catalogue.hpp"

#include <fmt/format.h>

namespace bathline {

const Catalogue<EnvironmentKind>& environments() {
  static const Catalogue<EnvironmentKind> all = {spring_mass_line_kind(), spring_inerter_line_kind(), heat_bath_kind(),
                                                 memory_environment_kind(), damper_kind()};
  return all;
}

int particles_of(const ParticleSystem& system) {
  if (system.particles == 0) throw UnreadableValue();
  return system.particles;
}

bool check_size(const Section& section, const char* key, Mistakes& mistakes) {
  constexpr long max = 1'000'000'000'000'000;
  if (section.integer(key) <= max) return true;
  mistakes.add(section.where(key), fmt::format("{} = {}: must be at most {}", key, section.integer(key), max));
  return false;
}

std::filesystem::path path_beside_recipe(const Section& section, const std::string& key) {
  return std::filesystem::path(section.where().file).parent_path() / section.text(key);
}

bool check_particle(const Section& section, long particle, const ParticleSystem& system, Mistakes& mistakes) {
  const int particles = particles_of(system);
  if (particle >= 0 && particle < particles) return true;
  mistakes.add(
      section.where("attach"),
      fmt::format("`attach` names particle {}, but the system has {}, which are numbered from 0", particle, particles));
  return false;
}

Parameter attach_parameter(std::string doc) {
  return {.name = "attach",
          .type = ValueType::integer,
          .doc = std::move(doc),
          .default_value = "0",
          .bound = Bound::nonnegative};
}

std::optional<Attachment> attachment_to_particle(const Section& section, const ParticleSystem& system,
                                                 Mistakes& mistakes) {
  const long particle = section.integer("attach");
  if (!check_particle(section, particle, system, mistakes)) return std::nullopt;
  return Attachment({{static_cast<int>(particle), 1.0}}, system.axes);
}

}  // namespace bathline
