// A system of particles for every entry of the catalogue, from its description.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "catalogue_sections.hpp"
#include "model/system_catalogue.hpp"

namespace bathline {

/// The system with the first start that it accepts.
inline ParticleSystem build(const SystemKind& kind) {
  std::vector<std::string> optional_keys;
  for (const Parameter& parameter : kind.entry.parameters) {
    // A list of tables describes each particle, one table all of them. Tables with names of the user's choice may be
    // empty, and lists determine the number of particles.
    const bool is_free_table = parameter.type == ValueType::table && parameter.catalogue_name.empty();
    const bool is_determined_otherwise = parameter.name == "v0" || parameter.name == "particles";
    // Formulas for every coordinate, such as a drive.
    if (parameter.type == ValueType::texts && !parameter.required) continue;
    // The example of an L does not depend on an action.
    if (parameter.name == "z0" && kind.entry.name == "lagrangian") continue;
    if (!is_determined_otherwise && !is_free_table && parameter.type != ValueType::tables)
      optional_keys.push_back(parameter.name);
  }
  Section section = example_section(kind.entry, optional_keys);
  std::string report;
  for (std::size_t particles = 1; particles <= 4; ++particles) {
    for (std::size_t axes = 1; axes <= 3; ++axes) {
      section.set("q0", Section::Rows(particles, std::vector<double>(axes, 0.8)), {});
      // Lists whose form the type does not determine: a constant per particle, two different particles.
      for (const Parameter& parameter : kind.entry.parameters) {
        // Not every pair of particles is a chain.
        if (parameter.name == "mode_energies") section.set("mode_energies", false, {});
        if (parameter.type != ValueType::rows) continue;
        if (parameter.name == "damping") section.set("damping", Section::Rows(particles, {0.6}), {});
        if (parameter.name == "pairs") section.set("pairs", Section::Rows{{0.0, 1.0}}, {});
      }
      Mistakes mistakes;
      ParticleSystem system;
      completes([&] { kind.build(section, potentials(), system, mistakes); });
      if (mistakes.empty()) return system;
      if (particles == 2) report += mistakes.report() + "\n";
    }
  }
  ADD_FAILURE() << "no start fits " << kind.entry.name << ":\n" << report;
  return {};
}

}  // namespace bathline
