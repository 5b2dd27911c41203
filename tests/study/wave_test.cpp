// Speed of the front and time of the echo on a line where both are known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "run_study.hpp"

namespace bathline::wave_test {
namespace {

const std::string grid = "grid = \"characteristic\"\ndamping = 2.0\n";

std::string recipe(const std::string& output, const std::string& on = "closed", const std::string& line = grid) {
  return R"(title = "t"
[system]
kind = "single-oscillator"
m = 1.0
k = 1.0
q0 = [1.0]
v0 = [1.0]
[[environments]]
kind = "spring-mass-line"
sites = 200
)" + line +
         R"([time]
step = 0.05
end = 25.0
[[integrators]]
method = "gamma"
on = ")" +
         on + "\"\nname = \"line\"\n" + output + "[study]\nkind = \"wave\"\nthreshold = 1e-3\n";
}

TEST(MpiWave, FrontMovesASiteAStepOnTheCharacteristicGrid) {
  const RunStudy run(recipe("[output]\nsnapshots = 10\n"));
  EXPECT_NEAR(run.value("wave/front_speed"), 20.0, 0.05);
  EXPECT_NEAR(run.value("wave/front_speed_theory"), 20.0, 1e-12);
  EXPECT_NEAR(run.value("wave/echo_time_theory"), 2.0 * 200 * 0.05, 1e-12);
  // It returns with its steep front first.
  EXPECT_NEAR(run.value("wave/echo_time"), 20.0, 0.5);
  const std::vector<double> front = run.values("wave/front_site");
  EXPECT_EQ(front[0], 0.0);
  // The head moves in the first step, and the front by one site in every further step.
  for (std::size_t i = 1; i <= 20; ++i) EXPECT_EQ(front[i], 10.0 * static_cast<double>(i) - 1.0);
  // The incoming velocity is zero before the echo, after the first step.
  const std::vector<double> incoming = run.values("wave/incoming_velocity");
  for (std::size_t k = 1; k < 390; ++k) ASSERT_NEAR(incoming[k], 0.0, 0.1) << "step " << k;
}

// Off the grid the lattice is dispersive: the front is broadened, and its echo is lower than the signal of the start.
TEST(MpiWave, EchoIsToldFromTheStart) {
  const RunStudy run(
      with(recipe("[output]\nsnapshots = 10\n", "closed", "M = 0.1\nlambda = 40.0\n"), "step = 0.05", "step = 0.01"));
  EXPECT_NEAR(run.value("wave/echo_time_theory"), 20.0, 1e-12);
  EXPECT_NEAR(run.value("wave/echo_time"), 20.0, 0.5);
}

TEST(MpiWave, LeavesOutTheTheoryOfALineOfUnequalSites) {
  const std::string table = testing::TempDir() + "bathline_wave_sites_" + std::to_string(test_world().size());
  if (test_world().is_root()) std::ofstream(table) << "0.1 40.0\n0.1 40.0\n0.1 20.0\n";
  test_world().barrier();
  const RunStudy run(recipe("[output]\nsnapshots = 10\n", "closed", "file = \"" + table + "\"\n"));
  EXPECT_TRUE(run.has("wave/front_speed"));
  EXPECT_FALSE(run.has("wave/front_speed_theory"));
  EXPECT_FALSE(run.has("wave/echo_time_theory"));
}

// The theory is that of a front that begins at the head, on a line at rest.
TEST(MpiWave, LeavesOutTheTheoryOfALineThatMovesFromTheStart) {
  for (const std::string start :
       {"w0 = \"0.1*exp(-(i - 100)^2/50)\"\n", "v0 = \"0.1*exp(-(i - 100)^2/50)\"\n", "kT = 0.1\n"}) {
    const RunStudy run(recipe("[output]\nsnapshots = 10\n", "closed", grid + start));
    EXPECT_TRUE(run.has("wave/front_site"));
    EXPECT_FALSE(run.has("wave/front_speed_theory")) << start;
    EXPECT_FALSE(run.has("wave/echo_time_theory")) << start;
  }
}

TEST(MpiWave, WantsALineAndSnapshots) {
  EXPECT_THAT(report_of(recipe("")), testing::AllOf(testing::HasSubstr("r.toml:"), testing::HasSubstr("`snapshots`")));
  EXPECT_THAT(report_of(recipe("[output]\nsnapshots = 10\n", "open")), testing::HasSubstr("closed"));
}

}  // namespace
}  // namespace bathline::wave_test
