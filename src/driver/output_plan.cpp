// Reading the section [output] of a recipe.
#include "driver/output_plan.hpp"

#include <fmt/format.h>

#include "text/printable_text.hpp"

namespace bathline {

OutputPlan read_output(const Section& output) {
  OutputPlan plan{.every = output.integer("every"),
                  .site_stride = output.integer("site_stride"),
                  .particles_only = output.boolean("particles_only"),
                  .work_rules = output.boolean("work_rules")};
  if (output.has("snapshots")) plan.snapshots = output.integer("snapshots");
  if (output.has("checkpoint_every")) plan.checkpoint_every = output.integer("checkpoint_every");
  if (output.has("checkpoint_interval")) plan.checkpoint_interval = output.number("checkpoint_interval");
  if (output.has("keep_checkpoints")) plan.keep_checkpoints = output.integer("keep_checkpoints");
  return plan;
}

PoincarePlan read_poincare_plan(const Section& table, const ParticleSystem& system, Mistakes& mistakes) {
  PoincarePlan plan;
  if (table.has("of") == table.has("period")) {
    mistakes.add(table.where(), "section needs either `of`, a formula, or `period`, in seconds");
    throw InvalidValue();
  }
  if (table.has("period")) {
    plan.period = table.number("period");
    plan.title = fmt::format("every {} s", plan.period);
    return plan;
  }
  const std::optional<PhaseFunction> function = read_phase_function(table, "of", system, mistakes);
  if (!function) throw InvalidValue();
  plan.function = *function;
  plan.value = table.number("at");
  const std::string& direction = table.text("direction");
  plan.direction = direction == "up" ? 1 : direction == "down" ? -1 : 0;
  plan.title = fmt::format("{} = {}, {}", printable(table.text("of")), plan.value,
                           plan.direction == 0  ? "both directions"
                           : plan.direction > 0 ? "upwards"
                                                : "downwards");
  return plan;
}

}  // namespace bathline
