// Reading the section [output].
#include "driver/output_plan.hpp"

#include <gtest/gtest.h>

#include "recipe_text.hpp"

namespace bathline::output_plan_test {
namespace {

OutputPlan plan_of(const std::string& output) {
  const ReadRecipe read = valid_recipe(R"(title = "t"
[system]
kind = "single-oscillator"
m = 2.0
k = 8.0
damping = 0.1
q0 = [1.5]
[time]
step = 0.1
steps = 3
[[integrators]]
method = "gamma"
on = "open"
[output]
)" + output);
  return read.experiment->output();
}

TEST(MpiOutputPlan, HasDefaults) {
  const OutputPlan plan = plan_of("");
  EXPECT_EQ(plan.every, 1);
  EXPECT_EQ(plan.snapshots, 0);
  EXPECT_EQ(plan.site_stride, 1);
  EXPECT_FALSE(plan.particles_only);
  EXPECT_FALSE(plan.work_rules);
  EXPECT_EQ(plan.checkpoint_every, 0);
  EXPECT_EQ(plan.checkpoint_interval, 0.0);
  EXPECT_FALSE(plan.keep_checkpoints.has_value());
}

TEST(MpiOutputPlan, HasTheGivenValues) {
  const OutputPlan plan = plan_of(
      "every = 2\nsnapshots = 3\nsite_stride = 4\nwork_rules = true\ncheckpoint_every = 6\n"
      "checkpoint_interval = 7.5\nkeep_checkpoints = 8\n");
  EXPECT_EQ(plan.every, 2);
  EXPECT_EQ(plan.snapshots, 3);
  EXPECT_EQ(plan.site_stride, 4);
  EXPECT_TRUE(plan.work_rules);
  EXPECT_EQ(plan.checkpoint_every, 6);
  EXPECT_EQ(plan.checkpoint_interval, 7.5);
  EXPECT_EQ(plan.keep_checkpoints, 8);
  EXPECT_TRUE(plan_of("particles_only = true\n").particles_only);
}

}  // namespace
}  // namespace bathline::output_plan_test
