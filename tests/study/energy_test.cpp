// Long-time energy: drift against theory, swing, blocks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "rank_subset.hpp"
#include "run_study.hpp"

namespace bathline::energy_test {
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
name = "run"
on = "open"
method = ")" +
         name + "\"\n[study]\nkind = \"energy\"\n" + study;
}

TEST(MpiEnergy, DriftOfRungeKuttaIsThatOfItsStabilityFunction) {
  const RunStudy run(recipe("rk4"));
  // |R(i y)|^2 = 1 - y^6/72 + y^8/576 a step.
  const double y = 0.5, factor = 1.0 - std::pow(y, 6) / 72.0 + std::pow(y, 8) / 576.0;
  const double dissipated = 0.5 * (1.0 - std::pow(factor, 2048));
  // The energy is nearly linear in time, since little is lost; the curvature changes the slope by a few percent.
  const double slope = -dissipated / 1024.0;
  EXPECT_NEAR(run.value("energy/run/drift"), slope, 0.1 * std::abs(slope));
  EXPECT_LT(run.value("energy/run/drift_in_errors"), -20.0);
  EXPECT_NEAR(run.value("energy/run/largest_deviation"), dissipated, 1e-12);
  EXPECT_EQ(run.value("energy/run/initial"), 0.5);
}

TEST(MpiEnergy, SymplecticSchemesSwingWithoutDrift) {
  const RunStudy run(recipe("stoermer-verlet"));
  EXPECT_LT(std::abs(run.value("energy/run/drift_in_errors")), 3.0);
  // The invariant p^2/2 + (1 - h^2/4) q^2/2 leaves the energy between 1/2 and 1/2 (1 - h^2/4).
  EXPECT_NEAR(run.value("energy/run/largest_deviation"), 0.5 * 0.0625, 1e-3);
  EXPECT_NEAR(run.value("energy/run/peak_to_peak_first_half"), 0.5 * 0.0625, 1e-3);
  EXPECT_NEAR(run.value("energy/run/peak_to_peak_second_half"), 0.5 * 0.0625, 1e-3);
}

TEST(MpiEnergy, BlocksAreMeansOfTheRecords) {
  const RunStudy run(recipe("rk4"));
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

/// A dual oscillator away from its equilibrium, closed with a line and a bath, 1024 steps of 0.125 s.
std::string closed(const std::string& method, const std::string& study = "invariants = true\n") {
  return R"(title = "t"
[system]
kind = "dual-oscillator"
m0 = 1.0
k0 = 2.0
M0 = 1.5
K0 = 1.0
q0 = [1.0, -0.5]
v0 = [0.0, 0.25]
[[environments]]
kind = "spring-inerter-line"
attach = [0, 1]
sites = 6
k = 2.0
b = 1.0
[[environments]]
kind = "heat-bath"
oscillators = 4
damping = 0.2
omega_max = 3.0
[time]
step = 0.125
end = 128.0
[[integrators]]
name = "run"
on = "closed"
)" + method +
         "[study]\nkind = \"energy\"\nblocks = 16\n" + study;
}

// One or two roundings of each of 12 momenta and positions in a step, u = 1.1e-16, of an energy of about 1 J: 1024 x 24
// x 2 u = 5e-12 if all have the same sign.
TEST(MpiEnergy, SplittingsKeepTheirInvariantsOnLinearClosedSystems) {
  const std::string verlet = "method = \"stoermer-verlet\"\norder_of_substeps = ";
  RankSubset subset(3);
  for (const std::string& method :
       {std::string("method = \"gamma\"\ngamma = 0.0\n"), std::string("method = \"gamma\"\ngamma = 1.0\n"),
        verlet + "\"kick-drift-kick\"\n", verlet + "\"drift-kick-drift\"\n"}) {
    if (!subset.takes_next()) continue;
    const RunStudy run(closed(method));
    const std::string group = "energy/run/";
    EXPECT_LT(run.value(group + "invariant_largest_deviation"), 5e-12) << method;
    EXPECT_GT(run.value(group + "largest_deviation"), 1e-4) << method;
    EXPECT_NE(run.value(group + "invariant"), run.value(group + "initial")) << method;
    const std::vector<double> deviation = run.values(group + "invariant_deviation");
    EXPECT_EQ(deviation.size(), 16u);
    // The slope is that of the means: least squares over the centres of the blocks, by hand.
    const std::vector<double> time = run.values(group + "block_time");
    double mean = 0.0, products = 0.0, squares = 0.0;
    for (double t : time) mean += t / 16.0;
    for (std::size_t i = 0; i < 16; ++i) {
      products += (time[i] - mean) * deviation[i];
      squares += (time[i] - mean) * (time[i] - mean);
    }
    EXPECT_NEAR(run.value(group + "invariant_drift"), products / squares, 1e-3 * std::abs(products / squares) + 1e-18)
        << method;
  }
}

TEST(MpiEnergy, KnowsNoInvariantOfOtherRuns) {
  const auto has = [](const std::string& text) {
    const RunStudy run(text);
    return run.has("energy/run/invariant");
  };
  EXPECT_FALSE(has(closed("method = \"stoermer-verlet\"\n", "")));
  EXPECT_FALSE(has(closed("method = \"rk4\"\n")));
  EXPECT_FALSE(has(closed("method = \"yoshida4\"\n")));
  std::string damped = recipe("stoermer-verlet", "blocks = 16\ninvariants = true\n");
  EXPECT_TRUE(has(damped));
  damped.replace(damped.find("damping = 0.0"), 13, "damping = 0.1");
  EXPECT_FALSE(has(damped));
}

TEST(MpiEnergy, NeedsBlocksAndRecordsToFillThem) {
  EXPECT_THAT(report_of(recipe("rk4", "blocks = 2\n")),
              testing::AllOf(HasSubstr("r.toml:17:"), HasSubstr("needs at least 3")));
  EXPECT_THAT(report_of(recipe("rk4", "blocks = 5000\n")), HasSubstr("`run` has 2049"));
}

}  // namespace
}  // namespace bathline::energy_test
