// The catalogue of systems and the parameters that all of them have.
// Tested by tests/properties/systems_test.cpp.
#include "model/system_catalogue.hpp"

#include <fmt/format.h>

#include "model/formula/index_formula.hpp"
#include "model/systems/external_forces.hpp"

namespace bathline {

const Catalogue<SystemKind>& systems() {
  static const Catalogue<SystemKind> all = {single_oscillator_kind(),
                                            dual_oscillator_kind(),
                                            binary_oscillator_kind(),
                                            kepler_kind(),
                                            pair_potential_kind(),
                                            coupled_van_der_pol_kind(),
                                            linear_kind(),
                                            contact_kind(),
                                            formula_kind(),
                                            lagrangian_kind()};
  return all;
}

std::vector<Parameter> with_start(std::vector<Parameter> own) {
  const auto add = [&](Parameter parameter) {
    parameter.alternative_types = {ValueType::number, ValueType::text, ValueType::texts};
    own.push_back(std::move(parameter));
  };
  add(required("q0", ValueType::rows, "m",
               "initial positions: one number per particle, or one list per particle where there are several axes; one "
               "number for all; or one formula per axis in the particle's index `i`, from 0, and the number `n` of "
               "particles"));
  add(optional("v0", ValueType::rows, "m/s", "initial velocities, in the forms of q0; zero where absent"));
  return own;
}

std::vector<Parameter> with_start_and_forces(std::vector<Parameter> own) {
  own = with_start(std::move(own));
  for (Parameter& parameter : external_force_parameters()) own.push_back(std::move(parameter));
  return own;
}

namespace {

/// Evaluates formulas of the particle's index, one for each axis.
void fill_from_formulas(const Section& section, const std::string& key, const ParticleSystem& system,
                        Eigen::VectorXd& values, Mistakes& mistakes) {
  const bool is_one = section.holds<std::string>(key);
  const std::size_t given = is_one ? 1 : section.texts(key).size();
  if (static_cast<int>(given) != system.axes) {
    mistakes.add(section.where(key), fmt::format("`{}` has {} formula(s): this system needs {}, one for each axis", key,
                                                 given, system.axes));
    return;
  }
  for (int axis = 0; axis < system.axes; ++axis) {
    values(Eigen::seq(axis, Eigen::last, system.axes)) =
        evaluate_by_index(section, key, system.particles, Bound::any, mistakes, static_cast<std::size_t>(axis));
  }
}

}  // namespace

Eigen::VectorXd read_positions(const Section& section, const std::string& key, const ParticleSystem& system,
                               Mistakes& mistakes) {
  Eigen::VectorXd values = Eigen::VectorXd::Zero(system.size());
  if (section.holds<double>(key)) return Eigen::VectorXd::Constant(system.size(), section.number(key));
  if (section.holds<std::string>(key) || section.holds<std::vector<std::string>>(key)) {
    fill_from_formulas(section, key, system, values, mistakes);
    return values;
  }
  const Section::Rows& rows = section.rows(key);
  bool fits = static_cast<int>(rows.size()) == system.particles;
  for (const std::vector<double>& row : rows) fits = fits && static_cast<int>(row.size()) == system.axes;
  if (!fits) {
    const std::string expected =
        system.axes == 1 ? fmt::format("{} number(s), one per particle", system.particles)
                         : fmt::format("{} list(s) of {} numbers, one list per particle, such as [[1.0, 0.0]]",
                                       system.particles, system.axes);
    mistakes.add(section.where(key), fmt::format("`{}` has the wrong size: this system needs {}", key, expected));
    return values;
  }
  for (int particle = 0; particle < system.particles; ++particle) {
    for (int axis = 0; axis < system.axes; ++axis) values[particle * system.axes + axis] = rows[particle][axis];
  }
  return values;
}

void read_start(const Section& section, ParticleSystem& system, Mistakes& mistakes) {
  system.q0 = read_positions(section, "q0", system, mistakes);
  system.v0 = Eigen::VectorXd::Zero(system.size());
  if (section.has("v0")) system.v0 = read_positions(section, "v0", system, mistakes);
}

}  // namespace bathline
