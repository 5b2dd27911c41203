// Long-time energy: drift against theory, swing, blocks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "run_study.hpp"

namespace bathline {
namespace {

using testing::HasSubstr;

/// An undamped oscillator, omega = 1, h = 0.5, 2048 steps of `name`.
std::string recipe(const std::string& name, const std::string& study = "blocks = 16\n") {
  return R"(title = "t"
[system]
kind = "single-oscillator"
m = 1.0
k = 1.0
damping = 0.0
q0 = [1.0]
[time]
step = 0.5
end = 1024.0
[[integrators]]
label = "run"
on = "open"
name = ")" +
         name + "\"\n[study]\nkind = \"energy\"\n" + study;
}

TEST(MpiEnergy, DriftOfRungeKuttaIsThatOfItsStabilityFunction) {
  const RunStudy run(recipe("rk4"));
  ASSERT_EQ(run.report, "");
  // |R(i y)|^2 = 1 - y^6/72 + y^8/576 a step.
  const double y = 0.5, factor = 1.0 - std::pow(y, 6) / 72.0 + std::pow(y, 8) / 576.0;
  const double lost = 0.5 * (1.0 - std::pow(factor, 2048));
  // A straight line through what is nearly one, since little is lost: within the curvature, a few percent.
  const double slope = -lost / 1024.0;
  EXPECT_NEAR(run.value("energy/run/drift"), slope, 0.1 * std::abs(slope));
  EXPECT_LT(run.value("energy/run/drift_in_errors"), -20.0);
  EXPECT_NEAR(run.value("energy/run/largest_deviation"), lost, 1e-12);
  EXPECT_EQ(run.value("energy/run/initial"), 0.5);
}

TEST(MpiEnergy, SymplecticSchemesSwingWithoutDrift) {
  const RunStudy run(recipe("stoermer-verlet"));
  ASSERT_EQ(run.report, "");
  EXPECT_LT(std::abs(run.value("energy/run/drift_in_errors")), 3.0);
  // The invariant p^2/2 + (1 - h^2/4) q^2/2 leaves the energy between 1/2 and 1/2 (1 - h^2/4).
  EXPECT_NEAR(run.value("energy/run/largest_deviation"), 0.5 * 0.0625, 1e-3);
  EXPECT_NEAR(run.value("energy/run/swing_first_half"), 0.5 * 0.0625, 1e-3);
  EXPECT_NEAR(run.value("energy/run/swing_second_half"), 0.5 * 0.0625, 1e-3);
}

TEST(MpiEnergy, BlocksAreMeansOfTheRecords) {
  const RunStudy run(recipe("rk4"));
  ASSERT_EQ(run.report, "");
  const std::vector<double> total = run.values("run/energy_total"), time = run.values("run/time");
  const std::vector<double> means = run.values("energy/run/block_mean"), middles = run.values("energy/run/block_time");
  ASSERT_EQ(total.size(), 2049u);
  ASSERT_EQ(means.size(), 16u);
  for (std::size_t block = 0; block < 16; ++block) {
    const auto begin = static_cast<std::ptrdiff_t>(2049 * block / 16),
               end = static_cast<std::ptrdiff_t>(2049 * (block + 1) / 16);
    const auto mean = [&](const std::vector<double>& values) {
      return std::accumulate(values.begin() + begin, values.begin() + end, 0.0) / static_cast<double>(end - begin);
    };
    EXPECT_NEAR(means[block], mean(total), 1e-13);
    EXPECT_NEAR(middles[block], mean(time), 1e-9);
  }
}

TEST(MpiEnergy, NeedsBlocksAndRecordsToFillThem) {
  EXPECT_THAT(RunStudy(recipe("rk4", "blocks = 2\n")).report,
              testing::AllOf(HasSubstr("r.toml:17:"), HasSubstr("needs 3")));
  EXPECT_THAT(RunStudy(recipe("rk4", "blocks = 5000\n")).report, HasSubstr("`run` has 2049"));
}

}  // namespace
}  // namespace bathline
