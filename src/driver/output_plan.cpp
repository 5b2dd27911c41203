// Reading the section [output] of a recipe.
#include "driver/output_plan.hpp"

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

}  // namespace bathline
