// The catalogue of open systems and what all of them read from a recipe.
#include "model/system_catalogue.hpp"

#include <fmt/format.h>

namespace bathline {

const Catalogue<SystemKind>& systems() {
  static const Catalogue<SystemKind> all = {single_oscillator_kind(),
                                            dual_oscillator_kind(),
                                            binary_oscillator_kind(),
                                            kepler_kind(),
                                            pair_potential_kind(),
                                            coupled_van_der_pol_kind(),
                                            linear_kind(),
                                            contact_kind()};
  return all;
}

std::vector<Parameter> start_parameters() {
  return {{.name = "q0",
           .type = ValueType::rows,
           .units = "m",
           .doc = "positions at the start: one entry per particle, a list per particle when it has several axes",
           .required = true},
          {.name = "v0",
           .type = ValueType::rows,
           .units = "m/s",
           .doc = "velocities at the start, like q0; at rest where absent"}};
}

Eigen::VectorXd read_positions(const Section& section, const std::string& key, const OpenSystem& system,
                               Mistakes& mistakes) {
  Eigen::VectorXd values = Eigen::VectorXd::Zero(system.size());
  const Section::Rows& rows = section.rows(key);
  bool fits = static_cast<int>(rows.size()) == system.particles;
  for (const std::vector<double>& row : rows) fits = fits && static_cast<int>(row.size()) == system.axes;
  if (!fits) {
    const std::string wanted =
        system.axes == 1 ? fmt::format("{} number(s), one per particle", system.particles)
                         : fmt::format("{} list(s) of {} numbers, one list per particle, such as [[1.0, 0.0]]",
                                       system.particles, system.axes);
    mistakes.add(section.where(key), fmt::format("`{}` has the wrong size: this system needs {}", key, wanted));
    return values;
  }
  for (int particle = 0; particle < system.particles; ++particle) {
    for (int axis = 0; axis < system.axes; ++axis) values[particle * system.axes + axis] = rows[particle][axis];
  }
  return values;
}

void read_start(const Section& section, OpenSystem& system, Mistakes& mistakes) {
  // The one is judged also where the other cannot be read.
  const bool has_q0 = where_readable([&] { system.q0 = read_positions(section, "q0", system, mistakes); });
  system.v0 = Eigen::VectorXd::Zero(system.size());
  if (section.has("v0")) system.v0 = read_positions(section, "v0", system, mistakes);
  if (!has_q0) throw UnreadableValue();
}

}  // namespace bathline
