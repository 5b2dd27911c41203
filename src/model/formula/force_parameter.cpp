// Reading forces and deciding whether they are a drive.
// Tested by tests/model/systems/formula_system_test.cpp.
#include "model/formula/force_parameter.hpp"

#include <fmt/format.h>

#include "model/formula/force.hpp"
#include "text/printable_text.hpp"

namespace bathline {

namespace {

/// The number of controls, which are the last variables of the scope of forces.
int controls_of(const Section& section) {
  return section.has("controls") ? static_cast<int>(section.tables("controls").size()) : 0;
}

/// Whether forces without controls are finite at the start; adds a mistake if not.
bool is_defined_at_start(const Section& section, const FormulaScope& scope, std::span<const Expression> values,
                         const ParticleSystem& system, Mistakes& mistakes) {
  std::vector<double> start(static_cast<std::size_t>(scope.variables), 0.0);
  std::copy(system.q0.begin(), system.q0.end(), start.begin());
  std::copy(system.v0.begin(), system.v0.end(), start.begin() + system.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    bool has_controls = false;
    for (int variable = scope.variables - controls_of(section); variable < scope.variables; ++variable) {
      has_controls = has_controls || scope.graph.depends(values[i], variable);
    }
    if (has_controls) continue;
    if (!check_finite(section, "force", "the formula", scope, {values[i]}, start, mistakes, i)) return false;
  }
  return true;
}

/// Whether the force depends on positions, velocities, time and controls alone; adds a mistake if not.
bool is_force(const Section& section, const FormulaScope& scope, Expression value, std::size_t index,
              const ParticleSystem& system, Mistakes& mistakes) {
  const int end = scope.variables - controls_of(section);
  for (int variable = 2 * system.size() + 1; variable < end; ++variable) {
    if (!scope.graph.depends(value, variable)) continue;
    mistakes.add(section.where_in_text("force", 0, index),
                 fmt::format("force[{}] depends on the action `z`, on which only L may depend", index));
    return false;
  }
  return true;
}

}  // namespace

Parameter force_parameter(const std::string& beside) {
  return optional(
      "force", ValueType::texts, "N",
      "a force on each coordinate in addition to that of " + beside +
          ", in closed and open runs: formulas in coordinates, velocities, `t` and the names of [[controls]], such as "
          "[\"-0.1*x_dot\", \"F0*cos(omega*t)\"]");
}

std::vector<Expression> read_force(const Section& section, FormulaScope& scope, const ParticleSystem& system,
                                   Mistakes& mistakes) {
  std::vector<Expression> values;
  if (!section.has("force")) return values;
  const std::size_t given = section.texts("force").size();
  if (static_cast<int>(given) != system.size()) {
    mistakes.add(section.where("force"),
                 fmt::format("`force` has {} formula(s) for {} coordinates", given, system.size()));
    return values;
  }
  std::vector<std::string> controls;
  for (int i = 0; i < controls_of(section); ++i) {
    const Section& control = section.tables("controls")[static_cast<std::size_t>(i)];
    if (!check_formula_name(control, "name", control.text("name"), scope, mistakes)) return values;
    controls.push_back(control.text("name"));
    scope.add_variable(controls.back());
  }
  for (std::size_t i = 0; i < given; ++i) {
    const std::optional<Expression> value = read_formula(section, "force", scope, mistakes, i);
    if (value && is_force(section, scope, *value, i, system, mistakes)) values.push_back(*value);
  }
  for (const std::string& control : controls) scope.names.erase(control);  // other formulas have none
  if (values.size() < given) values.clear();
  return values;
}

void add_force(const Section& section, FormulaScope& scope, std::span<const Expression> values, ParticleSystem& system,
               Mistakes& mistakes) {
  if (values.empty() || !is_defined_at_start(section, scope, values, system, mistakes)) return;
  for (std::size_t i = 0; i < values.size(); ++i) {
    system.formulas += fmt::format("; force[{}] = {}", i, printable(section.texts("force")[i]));
  }
  const int time = 2 * system.size();
  bool is_drive = !section.has("drive") && !section.has("drive_file");
  for (const Expression value : values) {
    for (int variable = 0; variable < scope.variables; ++variable) {
      is_drive = is_drive && (variable == time || !scope.graph.depends(value, variable));
    }
  }
  try {
    if (is_drive) {
      system.drive =
          std::make_shared<FormulaDrive>(scope.graph, values, derivatives_of(scope.graph, values, time, 1), time);
    } else {
      system.applied = std::make_shared<FormulaForce>(scope.graph, values, scope.variables, controls_of(section));
    }
  } catch (const FormulaTooLarge& error) {
    mistakes.add(section.where("force"), fmt::format("force: {}", error.what()));
  }
}

}  // namespace bathline
