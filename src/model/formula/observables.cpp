// Reading observables, and the names that they must not have.
// Tested by tests/model/systems/formula_system_test.cpp.
#include "model/formula/observables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/formula/phase_function.hpp"

namespace bathline {

namespace {

/// Names, and beginnings of names, of the other variables of result files.
constexpr std::array<std::string_view, 15> reserved_names = {"time",        "particle",
                                                             "axis",        "q",
                                                             "p",           "z",
                                                             "hamiltonian", "log_hamiltonian",
                                                             "environment", "environment_force",
                                                             "power",       "dissipated_by_environment",
                                                             "site",        "mode",
                                                             "mode_energy"};
constexpr std::array<std::string_view, 6> reserved_prefixes = {"energy_",   "ledger_", "snapshot",
                                                               "poincare_", "site_",   "displacement"};

}  // namespace

bool is_reserved_name(std::string_view name) {
  return std::find(reserved_names.begin(), reserved_names.end(), name) != reserved_names.end() ||
         std::any_of(reserved_prefixes.begin(), reserved_prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

Parameter observables_parameter() {
  Parameter observable = {.name = wildcard_key,
                          .type = ValueType::table,
                          .doc = "a formula, or a table of a formula and its units",
                          .members = {required("formula", ValueType::text, "", "in coordinates, velocities and t"),
                                      defaulted("units", ValueType::text, "", "\"1\"", "its units")}};
  observable.alternative_types = {ValueType::text};
  return {.name = "observables",
          .type = ValueType::table,
          .doc = "formulas to be recorded, such as { Lz = { formula = \"x*y_dot - y*x_dot\", units = \"m^2/s\" } }",
          .members = {std::move(observable)}};
}

void read_observables(const Section& section, FormulaScope& scope, ParticleSystem& system, Mistakes& mistakes) {
  if (!section.has("observables")) return;
  const Section& table = section.table("observables");
  Eigen::VectorXd start = Eigen::VectorXd::Zero(std::max(scope.variables, 2 * system.size() + 1));
  start.head(2 * system.size()) << system.q0, system.v0;
  for (const std::string& name : table.keys()) {
    if (is_reserved_name(name)) {
      mistakes.add(table.where(name), fmt::format("`{}` is recorded already; choose another name", name));
      continue;
    }
    const bool has_units = table.holds<std::vector<Section>>(name);
    const Section& holder = has_units ? table.table(name) : table;
    const std::string key = has_units ? "formula" : name;
    const std::optional<Expression> formula = read_formula(holder, key, scope, mistakes);
    if (!formula) continue;
    if (scope.variables > 2 * system.size() + 1 && scope.graph.depends(*formula, 2 * system.size() + 1)) {
      mistakes.add(holder.where(key),
                   fmt::format("{} depends on the action `z`, but observables are formulas in coordinates, velocities "
                               "and t; `z` and the energy `hamiltonian` are recorded without one",
                               name));
      continue;
    }
    const std::span<const double> values(start.data(), static_cast<std::size_t>(start.size()));
    check_finite(holder, key, "the formula", scope, {*formula}, values, mistakes);
    PhaseFunction value;
    try {
      value = phase_function(scope, *formula);
    } catch (const FormulaTooLarge& error) {
      mistakes.add(holder.where(key), fmt::format("{}: {}", name, error.what()));
      continue;
    }
    system.observables.push_back(
        {.name = name,
         .units = has_units ? holder.text("units") : "1",
         .long_name = holder.text(key),
         .value = [value](const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                          double t) { return Eigen::VectorXd::Constant(1, value(q, v, t)).eval(); },
         .integrand = {}});
  }
}

}  // namespace bathline
