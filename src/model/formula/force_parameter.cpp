// Reading forces and deciding whether they are a drive.
// Tested by tests/model/systems/formula_system_test.cpp.
#include "model/formula/force_parameter.hpp"

#include <fmt/format.h>

#include "model/formula/force.hpp"
#include "text/printable_text.hpp"

namespace bathline {

namespace {

/// Whether forces are finite at the start; adds a mistake if not.
bool is_defined_at_start(const Section& section, const FormulaScope& scope, std::span<const Expression> values,
                         const ParticleSystem& system, Mistakes& mistakes) {
  std::vector<double> start(static_cast<std::size_t>(scope.variables), 0.0);
  std::copy(system.q0.begin(), system.q0.end(), start.begin());
  std::copy(system.v0.begin(), system.v0.end(), start.begin() + system.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!check_finite(section, "force", "the formula", scope, {values[i]}, start, mistakes, i)) return false;
  }
  return true;
}

/// Whether the force depends on positions, velocities and time alone; adds a mistake if not.
bool is_force(const Section& section, const FormulaScope& scope, Expression value, std::size_t index,
              const ParticleSystem& system, Mistakes& mistakes) {
  for (int variable = 2 * system.size() + 1; variable < scope.variables; ++variable) {
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
          ", in closed and open runs: formulas in coordinates, velocities and `t`, such as [\"-0.1*x_dot\", "
          "\"F0*cos(omega*t)\"]");
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
  for (std::size_t i = 0; i < given; ++i) {
    const std::optional<Expression> value = read_formula(section, "force", scope, mistakes, i);
    if (value && is_force(section, scope, *value, i, system, mistakes)) values.push_back(*value);
  }
  if (values.size() < given) values.clear();
  return values;
}

void add_force(const Section& section, FormulaScope& scope, std::span<const Expression> values, ParticleSystem& system,
               Mistakes& mistakes) {
  if (values.empty() || !is_defined_at_start(section, scope, values, system, mistakes)) return;
  for (std::size_t i = 0; i < values.size(); ++i) {
    system.formulas += fmt::format("; force[{}] = {}", i, printable(section.texts("force")[i]));
  }
  bool is_drive = !section.has("drive") && !section.has("drive_file");
  for (const Expression value : values) {
    for (int variable = 0; variable < 2 * system.size(); ++variable) {
      is_drive = is_drive && !scope.graph.depends(value, variable);
    }
  }
  try {
    if (is_drive) {
      const int time = 2 * system.size();
      system.drive =
          std::make_shared<FormulaDrive>(scope.graph, values, derivatives_of(scope.graph, values, time, 1), time);
    } else {
      system.applied = std::make_shared<FormulaForce>(scope.graph, values);
    }
  } catch (const FormulaTooLarge& error) {
    mistakes.add(section.where("force"), fmt::format("force: {}", error.what()));
  }
}

}  // namespace bathline
